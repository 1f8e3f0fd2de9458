// origin_ledger.hpp - who wrote the lines of a root, kept outside it.
//
//   magic, version | count, day | records by their tags ... | records as they came ...
//                                 `count` of them, each once   of a tag the strongest holds, then
//                                                              the first
//
// A record is 16 bytes: the tag of a line or of what it states, the day when it was last seen, the
// origin. Numbers are of the machine: the ledger does not travel.
//
// The tag of a line is a keyed hash of its session and of all members but those that the engine
// itself changes (decay, accesses, pins, links): so it survives compaction, archiving and decay.
// A line without a record came from elsewhere: what can't be recorded is quoted, and nothing fails.
// What an editor changed has none, until lifecycle/repair/hand_edits.cpp decides whose it is.
//
// Threads and processes: any number; records are appended under a lock, a file beside the ledger.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/keyed_hash.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/trust.hpp"
#include "model/statement.hpp"
#include "model/voice.hpp"

namespace bmad_mem {

/// Whether the lines are the same, except members that say nothing about the subject, such as tags:
/// the author of a tag is not the author of the rest.
bool says_the_same(std::string_view old, std::string_view line);

/// A tag, and the origin that find() finds for it.
struct OriginQuery {
  std::uint64_t tag = 0;
  Origin origin = Origin::kElsewhere;
  bool is_known = false;  ///< There is a record, also of one from elsewhere.
};

class OriginLedger {
 public:
  /// `path` need not exist.
  OriginLedger(std::string path, const HashKey& key) : path_(std::move(path)), key_(key) {}

  /// The tag of `line`, which must be a whole entry, where it is seen without parsing it.
  [[nodiscard]] std::optional<std::uint64_t> plain_line_tag(std::string_view session_id,
                                                            std::string_view line) const;
  /// The tag of `line`, which `entry` was parsed from.
  [[nodiscard]] std::uint64_t line_tag(std::string_view session_id, JsonValue entry,
                                       std::string_view line) const;
  /// The tag of what a fact or preference states, for who has not read its line.
  [[nodiscard]] std::uint64_t statement_tag(std::string_view session_id,
                                            const StatementOutline& outline) const;

  /// Records that `lines`, whole entries of `type`, are by `origin`. What can't be recorded is
  /// quoted from then on, see has_lost().
  void note(std::string_view session_id, EntryType type, std::span<const std::string_view> lines,
            Origin origin) const;
  /// Records as accepted those of `lines` that have no record, or one from elsewhere. Their number.
  std::uint64_t accept(std::string_view session_id, EntryType type,
                       std::span<const std::string> lines) const;
  /// Records the lines of `text` that have no record as from elsewhere: no editor wrote them.
  void note_elsewhere(std::string_view session_id, EntryType type, std::string_view text) const;

  /// Fills in the origins. Reads what came since the ledger was sorted, once, and looks up the
  /// rest.
  void find(std::span<OriginQuery> queries) const;
  [[nodiscard]] Origin origin_of(std::string_view session_id, std::string_view line) const;

  /// Whether something could not be recorded, as on a full disk.
  [[nodiscard]] bool has_lost() const { return has_lost_; }

  /// Whether the file is a ledger; an empty one is.
  [[nodiscard]] bool is_whole() const;
  /// Whether it is time to compact() it: as much came since it was sorted as there was. With
  /// `today` also when that was long ago.
  [[nodiscard]] bool is_due(std::optional<std::int64_t> today = {}) const;
  /// Sorts the records, each tag once. With the tags of all lines that there are, `live`, those are
  /// marked as seen `today`, a day since 1970, and what nobody has seen for kKeptDays goes: a line
  /// may come back from another branch, or be undeleted. Atomic. Nothing happens when it fails.
  void compact(const std::vector<std::uint64_t>* live, std::int64_t today) const;
  static constexpr std::int64_t kKeptDays = 90;
  /// Forgets all lines but those of `origin`. Atomic. False, and nothing, when it can't be written.
  [[nodiscard]] bool keep_only(Origin origin) const;
  /// Adds the tags of `line`, a whole entry, to `tags`.
  void add_tags(std::string_view session_id, EntryType type, std::string_view line,
                std::vector<std::uint64_t>& tags) const;

 private:
  std::string path_;
  HashKey key_;
  mutable std::atomic<bool> has_lost_ = false;
};

/// Lines that the engine itself rewrites, as redaction does: their origins go along, looked up in
/// one pass.
class CarriedLines {
 public:
  /// `ledger` may be null, and must outlive it; so must `session_id`.
  CarriedLines(const OriginLedger* ledger, std::string_view session_id)
      : ledger_(ledger), session_id_(session_id) {}

  /// `old` becomes `line`.
  void add(EntryType type, std::string_view old, std::string_view line);
  /// Records the origins of what was added. To be called before the lines are replaced.
  void settle();

 private:
  struct Line {
    EntryType type;
    std::string text;
  };

  const OriginLedger* ledger_;
  std::string_view session_id_;
  std::vector<OriginQuery> old_;
  std::vector<Line> lines_;
};

/// Origins of some lines: all are named first, and found in one pass. Without a ledger all are as
/// the root is: accepted where nobody checks, else from elsewhere.
class LineOrigins {
 public:
  /// `ledger` may be null, and must outlive it.
  LineOrigins(const OriginLedger* ledger, Origin without) : ledger_(ledger), without_(without) {}

  void want(std::string_view session_id, JsonValue entry, std::string_view line);
  void find();
  /// Of a line that was wanted; from elsewhere for any other.
  [[nodiscard]] Origin of(std::string_view session_id, JsonValue entry,
                          std::string_view line) const;

 private:
  const OriginLedger* ledger_;
  Origin without_;
  std::unordered_map<std::uint64_t, Origin> origins_;
};

}  // namespace bmad_mem
