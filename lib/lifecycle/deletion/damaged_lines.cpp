#include "damaged_lines.hpp"

#include <algorithm>
#include <string_view>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/text.hpp"
#include "store/atomic_file.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"

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
  BMAD_TRY_ASSIGN(const std::vector<std::string> texts, read_lines(files, session_id, damaged));
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    std::vector<std::string> ids =
        has_ids ? ids_in(texts[i], criteria.ids) : std::vector<std::string>();
    if (!ids.empty() || (!criteria.match.empty() && texts[i].contains(criteria.match))) {
      finds.lines.push_back(damaged[i]);
    }
    std::ranges::move(ids, std::back_inserter(finds.ids));
  }
  if (has_ids) {
    const Result<std::string> kept =
        read_file(files, quarantine_path(session_id), kQuarantineSizeMax);
    BMAD_TRY(kept || is_not_found(kept.error()) ? Status() : Status(kept.error()));
    std::ranges::move(ids_in(kept.value_or(std::string()), criteria.ids),
                      std::back_inserter(finds.ids));
  }
  return finds;
}

}  // namespace bmad_mem
