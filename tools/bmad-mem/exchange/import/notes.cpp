// notes.cpp - imports Markdown: notes of basic-memory and Claude Code, and plain text with
// headings.
#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/text.hpp"
#include "cli/results.hpp"
#include "exchange/graph/graph.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kProseSizeMax = std::size_t{512} * 1024;
constexpr std::size_t kLevels = 6;
constexpr std::size_t kHeadingSizeMax = 120;

/// The level of a heading, from 1; 0 for other lines.
std::size_t heading_level(std::string_view line) {
  const std::size_t level = line.find_first_not_of('#');
  return level != std::string_view::npos && level <= kLevels && line[level] == ' ' ? level : 0;
}

/// Whether a line says that what is around it is of other folders than `projects`. A folder around
/// a project has what is of the project, too.
bool is_elsewhere(std::string_view line, const std::vector<std::string>& projects) {
  std::string_view rest = line.substr(0, line.find(';'));
  const std::size_t first = rest.find("cwd=/");
  for (std::size_t at = first; at != std::string_view::npos; at = rest.find('/', 1)) {
    rest.remove_prefix(rest.find('/', at));
    const std::string_view folder =
        stripped(rest.substr(0, std::min(rest.find(" and "), rest.find(','))));
    rest.remove_prefix(folder.size());
    if (std::ranges::any_of(projects, [&](const std::string& project) {
          return lies_in(folder, project) || lies_in(project, folder);
        })) {
      return false;
    }
  }
  return first != std::string_view::npos;
}

/// Imports one note.
class NoteImport final : public RecordImporter {
 public:
  NoteImport(const ImportContext& context, const FrontMatter& note, Timestamp changed_at)
      : RecordImporter(context), note_(note) {
    Timestamp at = changed_at;
    for (const std::string_view name : {"date", "created", "updated", "modified"}) {
      at = try_parse_rfc3339(note.text(name)).value_or(at);
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
                             json_members_of(members(0, {})))));
    std::string prose;
    bool in_code = false;
    std::uint64_t number = note_.body_line - 1;
    for (std::string_view rest = note_.body; !rest.empty();) {
      const std::string_view line = take_line(rest);
      ++number;
      in_code = in_code != stripped(line).starts_with("```");
      if (!in_code) {
        BMAD_TRY_ASSIGN(const bool is_taken, take_statement(line, number));
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
    return put(
        is_preference ? EntryType::kPreference : EntryType::kFact,
        json_object("id", content_id(is_preference ? "pref-" : "fact-", key), "timestamp",
                    timestamp_, "category", is_preference ? "user_preference" : "project_fact",
                    "key", key, is_preference ? "value" : "content", text,
                    is_preference ? "context" : "description", if_some(note_.text("description")),
                    memory_origin("claude-memory", file_, 0)),
        KnownEntries::kSkipIdentical);
  }

  /// The text below each heading, for the project in these folders; of all where there are none.
  Status sections(const std::string& format, const std::vector<std::string>& projects) {
    BMAD_TRY(need_session_called(format));
    std::array<std::string, kLevels> headings;
    Section section{.key = std::string(base_name(file_))};
    bool in_code = false;
    std::uint64_t number = 0;
    for (std::string_view rest = note_.body; !rest.empty();) {
      const std::string_view line = take_line(rest);
      ++number;
      in_code = in_code != stripped(line).starts_with("```");
      const std::size_t level = in_code ? 0 : heading_level(line);
      if (level == 0) {
        if (!projects.empty() && line.starts_with("applies")) {
          section.is_elsewhere = is_elsewhere(line, projects);
        }
        section.text.append(without_line_end(line)) += '\n';
        continue;
      }
      BMAD_TRY(put_section(format, section));
      assert(level <= kLevels);
      headings[level - 1] = utf8_prefix(stripped(line.substr(level)), kHeadingSizeMax);
      std::fill(headings.begin() + static_cast<std::ptrdiff_t>(level), headings.end(), "");
      section = {.key = std::string(base_name(file_)),
                 .line = number,
                 .is_elsewhere = section.is_elsewhere && level > 1};
      for (const std::string& heading : headings) {
        append_part(section.key, heading, " > ");
      }
    }
    return put_section(format, section);
  }

 private:
  struct Section {
    std::string key;
    std::string text = {};
    std::uint64_t line = 1;     ///< Of its heading.
    bool is_elsewhere = false;  ///< It is of other projects.
  };

  Status put_section(const std::string& format, const Section& section) {
    const std::string_view text = utf8_prefix(stripped(section.text), kProseSizeMax);
    if (section.is_elsewhere) {
      sink_.skip("facts of other projects");
      return {};
    }
    if (text.empty()) {
      return {};
    }
    return put(EntryType::kFact,
               json_object("id", content_id("fact-", fmt::format("{}\n{}", section.key, text)),
                           "timestamp", timestamp_, "category", "project_fact", "key", section.key,
                           "content", text, memory_origin(format, file_, section.line)),
               KnownEntries::kSkipId, section.line);
  }

  Status take(JsonValue /*record*/, std::string_view /*text*/, std::uint64_t /*line*/) override {
    return {};  // A note has no records.
  }

  /// Observations and relations. False for prose.
  Result<bool> take_statement(std::string_view line, std::uint64_t number) {
    if (const auto observation = read_note_observation(line)) {
      BMAD_TRY(
          put(EntryType::kFact,
              observation_json({.entity_name = title_, .content = observation->text},
                               json_members_of("note",
                                               object_of("category", observation->category,
                                                         "context", if_some(observation->context)),
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
                      json_members_of(members(number, {}))));
  }

  Status put_prose(std::string_view text) {
    if (text.empty()) {
      return {};
    }
    const std::string_view permalink = note_.text("permalink");
    const std::string_view name = permalink.empty() ? std::string_view(title_) : permalink;
    return put(EntryType::kFact,
               json_object("id", content_id("note-", name), "category", "project_fact", "content",
                           fmt::format("{}: {}", title_, text), members(0, {})),
               KnownEntries::kSkipIdentical);
  }

  /// What every entry has: time, tags, where it came from.
  [[nodiscard]] std::function<void(JsonWriter&)> members(std::uint64_t line,
                                                         std::vector<std::string> tags) const {
    if (const auto found = note_.values.find("tags"); found != note_.values.end()) {
      tags.insert(tags.end(), found->second.begin(), found->second.end());
    }
    return [this, line, tags](JsonWriter& json) {
      put_all(json, "timestamp", timestamp_, "tags", if_some(tags),
              memory_origin("basic-memory", file_, line));
    };
  }

  Status put(EntryType type, std::string json, KnownEntries known = KnownEntries::kSkipId,
             std::uint64_t line = 0) {
    return sink_.add(session_, type, std::move(json), known, {.file = file_, .line = line});
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

bool has_only_headings(std::string_view text) {
  bool has_heading = false;
  if (text.starts_with("---")) {
    return false;
  }
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    has_heading = has_heading || heading_level(line) != 0;
    if (read_note_observation(line) || !read_note_links(line).empty()) {
      return false;
    }
  }
  return has_heading;
}

Status import_sections(const ImportContext& context, std::string_view format, std::string_view text,
                       Timestamp changed_at) {
  const std::string valid = utf8_repaired(text);
  const FrontMatter note{.values = {}, .body = valid};
  return NoteImport(context, note, changed_at).sections(std::string(format), context.only);
}

}  // namespace bmad_mem::cli
