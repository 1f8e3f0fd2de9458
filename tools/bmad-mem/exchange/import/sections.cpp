// sections.cpp - Markdown with headings: rules, notes, and what Codex itself remembers
// (~/.codex/memories/*.md).
//
//   # Boats           key "notes.md > Boats"
//   text              content
//   ## Night boat     key "notes.md > Boats > Night boat"
//   text              content
//
// Text above the first heading has the file's name as its key. A text that changed becomes another
// fact under its key: the newer one holds.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/text.hpp"
#include "bmad_mem/utf8.hpp"
#include "cli/json_text.hpp"
#include "exchange/ids.hpp"
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

class SectionImport final : public RecordImporter {
 public:
  SectionImport(const ImportContext& context, std::string_view format, Timestamp changed_at)
      : RecordImporter(context), format_(format), timestamp_(format_rfc3339(changed_at)) {}

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
        text_ += line;
        text_ += '\n';
        continue;
      }
      BMAD_TRY(put());
      line_ = number;
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
