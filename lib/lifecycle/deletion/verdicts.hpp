// verdicts.hpp - which entries go: the last version decides for all.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/json_parser.hpp"
#include "lifecycle/log_lines.hpp"
#include "model/entry.hpp"
#include "model/validate.hpp"

namespace bmad_mem {

/// By type and id, whether the version that was noted last goes.
class Verdicts {
 public:
  using Goes = std::function<bool(EntryType type, const EntryHead& head)>;
  explicit Verdicts(Goes goes) : goes_(std::move(goes)) {}

  void note(EntryType type, JsonValue entry) {
    const EntryHead head = entry_head(type, entry);
    of(type)[std::string(head.id)] = goes_(type, head);
  }
  /// As note(), of a line; what is no entry is passed over.
  void note_line(EntryType type, std::string_view line) {
    const Result<JsonValue> value = parser_.parse(line);
    if (value && !check_entry(type, *value)) {
      note(type, *value);
    }
  }
  void set(EntryType type, const std::string& id, bool goes) { of(type)[id] = goes; }
  [[nodiscard]] bool goes(EntryType type, const std::string& id) const {
    const auto& ids = verdicts_[static_cast<std::size_t>(type)];
    const auto found = ids.find(id);
    return found != ids.end() && found->second;
  }
  /// The id of the entry in `line` if it goes.
  [[nodiscard]] std::optional<std::string> id_if_it_goes(EntryType type, std::string_view line) {
    const Result<JsonValue> value = parser_.parse(line);
    std::string id(value ? entry_id(*value) : std::string_view());
    return value && goes(type, id) ? std::optional(std::move(id)) : std::nullopt;
  }
  /// Whether everything goes that was noted.
  [[nodiscard]] bool all_go() const {
    return std::ranges::all_of(verdicts_, [](const auto& ids) {
      return std::ranges::all_of(ids, [](const auto& each) { return each.second; });
    });
  }

 private:
  std::unordered_map<std::string, bool>& of(EntryType type) {
    return verdicts_[static_cast<std::size_t>(type)];
  }

  Goes goes_;
  JsonParser parser_;
  std::array<std::unordered_map<std::string, bool>, kEntryTypeCount> verdicts_;
};

/// All versions of the entries in the logs of `folder` that go, by type and line.
Result<std::vector<LogLine>> look_into_logs(FileSystem& files, const std::string& folder,
                                            Verdicts& verdicts);

}  // namespace bmad_mem
