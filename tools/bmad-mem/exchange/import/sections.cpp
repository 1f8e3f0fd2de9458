// sections.cpp - Markdown with headings: rules, notes, and what Codex itself remembers
// (~/.codex/memories/*.md).
//
//   # Boats           key "notes.md > Boats"
//   text              content
//   ## Night boat     key "notes.md > Boats > Night boat"
//   text              content
//
// A group of what Codex remembers names its folders: "applies_to: cwd=/home/ann/ferry;
// reuse_rule=…". Those of other projects are left out.
//
// Text above the first heading has the file's name as its key. A text that changed becomes another
// fact under its key: the newer one holds.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/text.hpp"
#include "bmad_mem/utf8.hpp"
#include "cli/json_text.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/import/notes.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kLevels = 6;
constexpr std::size_t kHeadingSizeMax = 120;
constexpr std::size_t kSectionSizeMax = std::size_t{512} * 1024;

/// The level of a heading, from 1; 0 for other lines.
std::size_t heading_level(std::string_view line) {
  const std::size_t level = line.find_first_not_of('#');
  return level != std::string_view::npos && level <= kLevels && line[level] == ' ' ? level : 0;
}

std::string_view next_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
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

class SectionImport final : public RecordImporter {
 public:
  SectionImport(const ImportContext& context, std::string_view format, Timestamp changed_at)
      : RecordImporter(context),
        format_(format),
        timestamp_(format_rfc3339(changed_at)),
        only_(context.only) {}

  Status all(std::string_view text) {
    BMAD_TRY(need_session_called(format_));
    bool in_code = false;
    std::uint64_t number = 0;
    while (!text.empty()) {
      const std::string_view line = next_line(text);
      ++number;
      in_code = in_code != stripped(line).starts_with("```");
      const std::size_t level = in_code ? 0 : heading_level(line);
      if (level == 0) {
        elsewhere_ = line.starts_with("applies") ? is_elsewhere(line, only_) : elsewhere_;
        text_ += line;
        text_ += '\n';
        continue;
      }
      BMAD_TRY(put());
      line_ = number;
      elsewhere_ = elsewhere_ && level > 1;
      headings_[level - 1] = utf8_prefix(stripped(line.substr(level)), kHeadingSizeMax);
      std::fill(headings_.begin() + static_cast<std::ptrdiff_t>(level), headings_.end(), "");
    }
    return put();
  }

 private:
  Status take(JsonValue /*record*/, std::string_view /*text*/, std::uint64_t /*line*/) override {
    return {};  // Markdown has no records.
  }

  Status put() {
    const std::string whole = std::exchange(text_, {});
    const std::string_view text = utf8_prefix(stripped(whole), kSectionSizeMax);
    if (elsewhere_ && !only_.empty()) {
      sink_.skip("facts of other projects");
      return {};
    }
    if (text.empty()) {
      return {};
    }
    std::string key(base_name(file_));
    for (const std::string& heading : headings_) {
      append_part(key, heading, " > ");
    }
    JsonWriter json;
    json.begin_object();
    json.member("id", content_id("fact-", fmt::format("{}\n{}", key, text)));
    json.member("timestamp", timestamp_).member("category", "project_fact");
    json.member("key", key).member("content", text);
    return sink_.add(session_, EntryType::kFact,
                     fmt::format("{},{}}}", json.take(), memory_origin(format_, file_, line_)),
                     KnownEntries::kSkipId, {.file = file_, .line = line_});
  }

  std::string format_;
  std::string timestamp_;
  std::vector<std::string> only_;  ///< Folders of the project; empty: those of all.
  bool elsewhere_ = false;         ///< What comes is of other folders.
  std::array<std::string, kLevels> headings_;
  std::string text_;  ///< Below the last heading.
  std::uint64_t line_ = 1;
};

}  // namespace

bool has_only_headings(std::string_view text) {
  bool has_heading = false;
  if (text.starts_with("---")) {
    return false;
  }
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    has_heading = has_heading || heading_level(line) != 0;
    if (read_note_observation(line) || !read_note_links(line).empty()) {
      return false;
    }
  }
  return has_heading;
}

Status import_sections(const ImportContext& context, std::string_view format, std::string_view text,
                       Timestamp changed_at) {
  SectionImport importer(context, format, changed_at);
  return importer.all(utf8_repaired(text));
}

}  // namespace bmad_mem::cli
