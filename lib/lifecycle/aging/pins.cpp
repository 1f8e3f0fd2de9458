// pins.cpp - entries that are kept whatever their age.
#include <algorithm>
#include <map>
#include <utility>

#include "base/object_text.hpp"
#include "bmad_mem/json_parser.hpp"
#include "lifecycle/maintenance.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// The entry's line, pinned or not. updated_at stays: what it says is as old as before.
Result<std::string> line_with_pin(const Entry& entry, bool pinned) {
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
  ObjectText object(value, entry.json);
  if (pinned) {
    object.set("pinned", "true");
  } else {
    object.remove("pinned");
  }
  return object.to_line();
}

}  // namespace

Result<PinReport> pin_entries(Store& store, std::span<const std::string> ids, bool pinned,
                              std::span<const std::string> sessions) {
  BMAD_TRY_ASSIGN(std::vector<Entry> all, find_entries(store, ids, sessions, false));
  PinReport report;
  std::map<std::pair<std::string, EntryType>, std::vector<std::string>> lines;
  for (const std::string& id : ids) {
    bool is_known = false;
    for (Entry& entry : all) {
      if (entry.id != id) {
        continue;
      }
      is_known = true;
      BMAD_TRY(check_write(store, entry.type));  // Before anything is said of it, or written.
      if (entry.pinned == pinned) {
        report.unchanged.push_back(entry);
        continue;
      }
      BMAD_TRY_ASSIGN(entry.json, line_with_pin(entry, pinned));
      entry.pinned = pinned;
      lines[{entry.session_id, entry.type}].push_back(entry.json);
      report.changed.push_back(entry);
    }
    if (!is_known) {
      report.unknown_ids.push_back(id);
    }
  }
  for (const auto& [place, texts] : lines) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    BMAD_TRY(add_lines(store, place.first, place.second, views, {}));
  }
  return report;
}

}  // namespace bmad_mem
