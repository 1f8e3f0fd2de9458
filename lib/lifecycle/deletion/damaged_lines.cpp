#include "damaged_lines.hpp"

#include <algorithm>
#include <string_view>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/text.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kQuarantineSizeMax = 256U << 20U;

/// Whether it asks for ids and for nothing that only entries have.
bool is_ids_alone(const DeletionCriteria& criteria) {
  DeletionCriteria rest = criteria;
  rest.ids.clear();
  return !criteria.ids.empty() && rest.is_empty();
}

/// Those of `ids` that `text` has as "id":"f1", also within the string of another JSON.
std::vector<std::string> ids_in(std::string text, const std::vector<std::string>& ids) {
  constexpr std::string_view kKey = "\"id\"";
  std::vector<std::string> found;
  std::erase(text, '\\');
  const std::string_view in = text;
  for (std::size_t at = in.find(kKey); at != std::string_view::npos; at = in.find(kKey, at)) {
    at += kKey.size();
    const std::size_t colon = in.find_first_not_of(kWhiteSpace, at);
    if (colon == std::string_view::npos || in[colon] != ':') {
      continue;
    }
    const std::size_t begin = in.find_first_not_of(kWhiteSpace, colon + 1);
    if (begin == std::string_view::npos || in[begin] != '"') {
      continue;
    }
    const std::string_view rest = in.substr(begin + 1);
    const auto id =
        std::ranges::find(ids, rest.substr(0, rest.find('"')));  // At a torn end as well.
    if (id != ids.end()) {
      found.push_back(*id);
    }
  }
  return found;
}

/// Whether `text` is in a line that is too long to be read as a whole.
Result<bool> holds_text(FileSystem& files, const std::string& session_id, const LogLine& line,
                        std::string_view text) {
  const std::string path = session_file(session_id, entry_type_info(line.type).log_file);
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> log, files.open(path, OpenMode::kRead));
  BMAD_TRY_ASSIGN(const std::uint64_t at,
                  find_bytes(*log, line.offset, line.offset + line.size, text));
  return at < line.offset + line.size;
}

}  // namespace

Result<DamagedFinds> find_damaged_lines(FileSystem& files, const std::string& session_id,
                                        const DeletionCriteria& criteria) {
  DamagedFinds finds;
  const bool has_ids = is_ids_alone(criteria);
  if (criteria.match.empty() && !has_ids) {
    return finds;
  }
  std::vector<LogLine> damaged;
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    const auto take = [&](const DamagedLine& line) {
      damaged.push_back(
          {.type = type, .line = line.line, .offset = line.offset, .size = line.size + 1});
    };
    BMAD_TRY(scan_log(files, log_path(session_id, type), type, parser,
                      {.on_entry = [](const ScannedEntry&) {}, .on_damage = take}));
  }
  std::vector<LogLine> heads = damaged;
  for (LogLine& head : heads) {
    head.size = std::min(head.size, kTextLineMax);
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> texts, read_lines(files, session_id, heads));
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    std::vector<std::string> ids =
        has_ids ? ids_in(texts[i], criteria.ids) : std::vector<std::string>();
    const bool has_more = heads[i].size < damaged[i].size && !criteria.match.empty();
    BMAD_TRY_ASSIGN(
        const bool holds,
        has_more ? holds_text(files, session_id, damaged[i], criteria.match)
                 : Result<bool>(!criteria.match.empty() && texts[i].contains(criteria.match)));
    if (!ids.empty() || holds) {
      finds.lines.push_back(damaged[i]);
    }
    std::ranges::move(ids, std::back_inserter(finds.ids));
  }
  if (has_ids) {
    BMAD_TRY_ASSIGN(const std::string kept,
                    read_if_there(files, quarantine_path(session_id), kQuarantineSizeMax));
    std::ranges::move(ids_in(kept, criteria.ids), std::back_inserter(finds.ids));
  }
  return finds;
}

}  // namespace bmad_mem
