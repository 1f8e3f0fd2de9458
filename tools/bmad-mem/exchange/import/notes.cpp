#include "exchange/import/notes.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "exchange/graph/graph_entries.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/front_matter.hpp"
#include "exchange/import/note_lines.hpp"
#include "exchange/transcript_text.hpp"
#include "json_members.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kProseSizeMax = std::size_t{512} * 1024;

/// Imports one note.
class NoteImport {
 public:
  NoteImport(ImportSink& sink, const std::string& file, const FrontMatter& note,
             std::string session, Timestamp changed_at)
      : sink_(sink), file_(file), note_(note), session_(std::move(session)) {
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
      title_ = base_name(file).substr(0, base_name(file).rfind('.'));
    }
  }

  Status basic_memory() {
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
    return put_prose(stripped(prose));
  }

  Status claude_memory() {
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
    std::string text_so_far = json.end_object().take();
    text_so_far.pop_back();
    return put(is_preference ? EntryType::kPreference : EntryType::kFact,
               fmt::format("{},{}}}", text_so_far, origin("claude-memory", 0)),
               KnownEntries::kSkipIdentical);
  }

 private:
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
    const std::vector<NoteRelation> links = read_note_links(line);
    for (const NoteRelation& link : links) {
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

  Status put_prose(std::string_view prose) {
    const std::string_view text = utf8_prefix(prose, kProseSizeMax);
    if (text.empty()) {
      return {};
    }
    const std::string_view permalink = note_.text("permalink");
    JsonWriter json;
    json.begin_object();
    json.member("id",
                content_id("note-", permalink.empty() ? std::string_view(title_) : permalink));
    json.member("category", "project_fact").member("content", fmt::format("{}: {}", title_, text));
    std::string text_so_far = json.end_object().take();
    text_so_far.pop_back();
    return put(EntryType::kFact, fmt::format("{},{}}}", text_so_far, members(0, {})),
               KnownEntries::kSkipIdentical);
  }

  /// What every entry has: time, tags, where it came from.
  [[nodiscard]] std::string members(std::uint64_t line, std::vector<std::string> tags) const {
    if (const auto found = note_.values.find("tags"); found != note_.values.end()) {
      tags.insert(tags.end(), found->second.begin(), found->second.end());
    }
    JsonWriter list;
    add_list(list, "tags", tags);
    return fmt::format("\"timestamp\":\"{}\",{}{}{}", timestamp_, tags.empty() ? "" : list.text(),
                       tags.empty() ? "" : ",", origin("basic-memory", line));
  }

  [[nodiscard]] std::string origin(std::string_view format, std::uint64_t line) const {
    JsonWriter json;
    json.begin_object().member("format", format).member("file", base_name(file_));
    if (line != 0) {
      json.member("line", line);
    }
    json.end_object();
    return fmt::format("\"source\":{},\"imported_from\":{}", kImportSource, json.text());
  }

  Status put(EntryType type, std::string json, KnownEntries known = KnownEntries::kSkipId) {
    return sink_.add(session_, type, std::move(json), known, {.file = file_});
  }

  ImportSink& sink_;
  const std::string& file_;
  const FrontMatter& note_;
  std::string session_;
  std::string timestamp_;
  std::string title_;
};

}  // namespace

Status import_note(ImportSink& sink, const std::string& file, std::string_view text,
                   const std::string& session_id, std::string_view project, Timestamp changed_at) {
  const std::string valid = utf8_repaired(text);
  const FrontMatter note = read_front_matter(valid);
  const bool is_claude =
      !note.text("name").empty() && note.text("title").empty() &&
      (note.values.contains("metadata.type") || note.values.contains("description"));
  if (note.values.empty() && base_name(file) == "MEMORY.md") {
    sink.skip("indexes of notes");
    return {};
  }
  const std::string format = is_claude ? "claude-memory" : "basic-memory";
  const SessionParams params{.session_id = session_id.empty() ? format : session_id,
                             .project_name = std::string(project),
                             .session_type = format,
                             .tags = {"imported"}};
  std::string session = session_id;
  if (session.empty()) {
    BMAD_TRY_ASSIGN(session, sink.need_shared_session(params));
  } else {
    BMAD_TRY(sink.need_session(params));
  }
  NoteImport importer(sink, file, note, session, changed_at);
  return is_claude ? importer.claude_memory() : importer.basic_memory();
}

}  // namespace bmad_mem::cli
