#include "exchange/import/notes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "cli/json_text.hpp"
#include "cli/results.hpp"
#include "exchange/graph/graph.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kProseSizeMax = std::size_t{512} * 1024;

/// `json`, an object that was begun, with `members` behind what it has.
std::string with_members(JsonWriter& json, std::string_view members) {
  return fmt::format("{},{}}}", json.take(), members);
}

/// Imports one note.
class NoteImport final : public RecordImporter {
 public:
  NoteImport(const ImportContext& context, const FrontMatter& note, Timestamp changed_at)
      : RecordImporter(context), note_(note) {
    Timestamp at = changed_at;
    for (const std::string_view name : {"modified", "updated", "created", "date"}) {
      if (const auto time = try_parse_rfc3339(note.text(name))) {
        at = *time;
        break;
      }
    }
    timestamp_ = format_rfc3339(at);
    title_ = note.text("title");
    if (title_.empty()) {
      title_ = base_name(file_).substr(0, base_name(file_).rfind('.'));
    }
  }

  Status basic_memory() {
    BMAD_TRY(need_session_called("basic-memory"));
    BMAD_TRY(put(EntryType::kFact,
                 entity_json({.name = title_, .entity_type = std::string(note_.text("type"))},
                             members(0, {}))));
    std::string prose;
    bool in_code = false;
    std::uint64_t number = note_.body_line - 1;
    for (std::string_view rest = note_.body; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      ++number;
      in_code = in_code != stripped(line).starts_with("```");
      if (!in_code) {
        BMAD_TRY_ASSIGN(const bool is_taken, take_line(line, number));
        if (is_taken) {
          continue;
        }
      }
      prose += line;
      prose += '\n';
    }
    return put_prose(utf8_prefix(stripped(prose), kProseSizeMax));
  }

  Status claude_memory() {
    BMAD_TRY(need_session_called("claude-memory"));
    const std::string_view type = note_.text("metadata.type");
    const bool is_preference = type == "user" || type == "feedback";
    const std::string_view text = utf8_prefix(stripped(note_.body), kProseSizeMax);
    if (text.empty()) {
      sink_.skip("notes without text");
      return {};
    }
    const std::string_view key = note_.text("name");
    JsonWriter json;
    json.begin_object().member("id", content_id(is_preference ? "pref-" : "fact-", key));
    json.member("timestamp", timestamp_);
    json.member("category", is_preference ? "user_preference" : "project_fact");
    json.member("key", key).member(is_preference ? "value" : "content", text);
    add_text(json, is_preference ? "context" : "description", note_.text("description"));
    return put(is_preference ? EntryType::kPreference : EntryType::kFact,
               with_members(json, memory_origin("claude-memory", file_, 0)),
               KnownEntries::kSkipIdentical);
  }

 private:
  Status take(JsonValue /*record*/, std::string_view /*text*/, std::uint64_t /*line*/) override {
    return {};  // A note has no records.
  }

  /// Observations and relations. False for prose.
  Result<bool> take_line(std::string_view line, std::uint64_t number) {
    if (const auto observation = read_note_observation(line)) {
      JsonWriter extra;
      extra.begin_object().member("category", observation->category);
      add_text(extra, "context", observation->context);
      extra.end_object();
      BMAD_TRY(put(EntryType::kFact,
                   observation_json({.entity_name = title_, .content = observation->text},
                                    fmt::format("\"note\":{},{}", extra.text(),
                                                members(number, observation->tags)))));
      return true;
    }
    if (const auto relation = read_note_relation(line)) {
      BMAD_TRY(put_relation(*relation, number));
      return true;
    }
    for (const NoteRelation& link : read_note_links(line)) {
      BMAD_TRY(put_relation(link, number));
    }
    return false;
  }

  Status put_relation(const NoteRelation& relation, std::uint64_t number) {
    return put(
        EntryType::kFact,
        relation_json({.from = title_, .to = relation.target, .relation_type = relation.type},
                      members(number, {})));
  }

  Status put_prose(std::string_view text) {
    if (text.empty()) {
      return {};
    }
    const std::string_view permalink = note_.text("permalink");
    JsonWriter json;
    json.begin_object();
    json.member("id",
                content_id("note-", permalink.empty() ? std::string_view(title_) : permalink));
    json.member("category", "project_fact").member("content", fmt::format("{}: {}", title_, text));
    return put(EntryType::kFact, with_members(json, members(0, {})), KnownEntries::kSkipIdentical);
  }

  /// What every entry has: time, tags, where it came from.
  [[nodiscard]] std::string members(std::uint64_t line, std::vector<std::string> tags) const {
    if (const auto found = note_.values.find("tags"); found != note_.values.end()) {
      tags.insert(tags.end(), found->second.begin(), found->second.end());
    }
    JsonWriter list;
    put_all(list, "tags", tags);
    return fmt::format("\"timestamp\":\"{}\",{}{}{}", timestamp_, tags.empty() ? "" : list.text(),
                       tags.empty() ? "" : ",", memory_origin("basic-memory", file_, line));
  }

  Status put(EntryType type, std::string json, KnownEntries known = KnownEntries::kSkipId) {
    return sink_.add(session_, type, std::move(json), known, {.file = file_});
  }

  const FrontMatter& note_;
  std::string timestamp_;
  std::string title_;
};

}  // namespace

Status import_note(const ImportContext& context, std::string_view text, Timestamp changed_at) {
  const std::string valid = utf8_repaired(text);
  const FrontMatter note = read_front_matter(valid);
  if (note.values.empty() && base_name(context.file) == "MEMORY.md") {
    context.sink.skip("indexes of notes");
    return {};
  }
  const bool is_claude =
      !note.text("name").empty() && note.text("title").empty() &&
      (note.values.contains("metadata.type") || note.values.contains("description"));
  NoteImport importer(context, note, changed_at);
  return is_claude ? importer.claude_memory() : importer.basic_memory();
}

}  // namespace bmad_mem::cli
