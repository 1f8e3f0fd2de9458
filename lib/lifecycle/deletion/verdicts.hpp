// verdicts.hpp - which entries go: the last version decides for all.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cassert>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/json.hpp"
#include "lifecycle/log_lines.hpp"
#include "model/entry.hpp"
#include "store/deletion_record.hpp"
#include "store/retention.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// By type and id, whether the version that was noted last goes.
class Verdicts {
 public:
  /// `text` is what `entry` was parsed from.
  using Goes = std::function<bool(EntryType type, JsonValue entry, std::string_view text)>;
  /// With `any_version`, one version that goes takes the others along.
  explicit Verdicts(Goes goes, bool any_version = false)
      : goes_(std::move(goes)), any_version_(any_version) {}

  void note(EntryType type, JsonValue entry, std::string_view text) {
    bool& verdict = of(type)[std::string(entry_id(entry))];
    verdict = goes_(type, entry, text) || (any_version_ && verdict);
  }
  /// As note(), of a line; what is no entry is passed over.
  void note_line(EntryType type, std::string_view line) {
    const Result<JsonValue> value = parser_.parse(line);
    if (value && (!check_entry(type, *value) || is_sealed(*value))) {
      note(type, *value, line);
    }
  }
  void set(EntryType type, const std::string& id, bool goes) { of(type)[id] = goes; }
  [[nodiscard]] bool goes(EntryType type, const std::string& id) const {
    const auto& ids = verdicts_[static_cast<std::size_t>(type)];
    const auto found = ids.find(id);
    return found != ids.end() && found->second;
  }
  /// Whether the version that was noted last does not go; false for what was not noted.
  [[nodiscard]] bool stays(EntryType type, const std::string& id) const {
    const auto& ids = verdicts_[static_cast<std::size_t>(type)];
    const auto found = ids.find(id);
    return found != ids.end() && !found->second;
  }
  /// The id of the entry in `line` if it goes.
  [[nodiscard]] std::optional<std::string> id_if_it_goes(EntryType type, std::string_view line) {
    const Result<JsonValue> value = parser_.parse(line);
    std::string id(value ? entry_id(*value) : std::string_view());
    return value && goes(type, id) ? std::optional(std::move(id)) : std::nullopt;
  }
  /// Whether anything goes that was noted.
  [[nodiscard]] bool any_goes() const {
    return std::ranges::any_of(verdicts_, [](const auto& ids) {
      return std::ranges::any_of(ids, [](const auto& each) { return each.second; });
    });
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
  bool any_version_;
  JsonParser parser_;
  std::array<std::unordered_map<std::string, bool>, kEntryTypeCount> verdicts_;
};

/// Until when the entries of one session are kept.
struct RetentionRule {
  RetentionRule(const Config& config, const Manifest& manifest, Timestamp at, bool whole)
      : begin(retention_start(manifest)),
        days(&retention_of(config, manifest)),
        now(at),
        whole_files(whole) {}

  [[nodiscard]] bool may_end_any() const { return has_expired(first_expiry(begin, *days), now); }
  /// What was imported is as old as it says, and new here: see docs/decisions/0029.
  [[nodiscard]] bool ends(EntryType type, Timestamp timestamp, bool pinned) const {
    return has_expired(expires_at(type, std::max(timestamp, begin), pinned, *days), now);
  }

  [[nodiscard]] Verdicts::Goes verdict() const {
    return [rule = *this](EntryType type, JsonValue entry, std::string_view /*text*/) {
      const EntryHead head = entry_head(type, entry);
      return rule.types[static_cast<std::size_t>(type)] &&
             rule.goes(type, head.timestamp, head.pinned, head.expires_at);
    };
  }
  /// With whole files also what is past its own expires_at, which otherwise is purged.
  [[nodiscard]] bool goes(EntryType type, Timestamp timestamp, bool pinned,
                          const std::optional<Timestamp>& valid_until) const {
    return ends(type, timestamp, pinned) || (whole_files && has_expired(valid_until, now));
  }

  Timestamp begin;
  const RetentionDays* days;
  Timestamp now;
  bool whole_files;
  std::bitset<kEntryTypeCount> types = std::bitset<kEntryTypeCount>().set();  ///< That may go.
};

/// Lines on their way to deleted/, and of which entries they are.
struct Leaving {
  std::vector<DeletedLine> lines;
  std::vector<LogLine> ids;
  std::optional<Timestamp> expires_at = {};  ///< Of the deletion, once it is made.

  void add(EntryType type, std::string id, std::string line) {
    assert(ids.size() == lines.size());
    ids.push_back({.type = type, .id = std::move(id), .size = line.size() + 1});
    lines.push_back({.type = type, .line = std::move(line)});
  }
};

/// Moves what was evicted of a live session and goes under deleted/, with the older versions of
/// what is `gone` from its logs; only looks with `dry_run`. Returns what goes. `detail`: for the
/// audit. `deletion_id`: as in keep_deleted(). `first`: as in delete_softly().
Result<Leaving> delete_evicted(Store& store, const std::string& session_id, Verdicts verdicts,
                               const std::vector<LogLine>& gone, std::string detail,
                               const std::string& deletion_id, bool dry_run = false,
                               const UnderLock& first = {});

/// All versions of the entries in the logs of `folder` that go, by type and line.
Result<std::vector<LogLine>> look_into_logs(FileSystem& files, const std::string& folder,
                                            Verdicts& verdicts);

}  // namespace bmad_mem
