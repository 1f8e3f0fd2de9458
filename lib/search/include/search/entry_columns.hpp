// entry_columns.hpp - what ranking and loading ask of the entries of a session, column by column.
//
//   ordinal     0    1    2    3        log by log, line by line; later lines come behind
//   length     12    7    0   31        terms
//   flags      type, role, live?, asks?, pinned?, follows its predecessor?
//   previous    0    1    0    2        how many ordinals before the entry before it in its
//                                       conversation stands; 0: it is the first
//   timestamp  milliseconds since 1970
//   id_hash    finds an entry by its id
//   id         the id itself, where it is one that the engine makes
//   row        where its line lies: offset, size, number, hash of the line
//
// What few entries have (a second version, a decay factor below 1, a time of access) stands apart
// in `odd`.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "model/statement.hpp"

namespace bmad_mem {

/// An entry's position in the index of its session. Valid as long as that is not made anew.
using Ordinal = std::uint32_t;
inline constexpr Ordinal kNoOrdinal = ~Ordinal{0};

/// One entry that holds a key, and how often.
struct Posting {
  Ordinal ordinal = 0;
  std::uint32_t frequency = 1;

  bool operator==(const Posting&) const = default;
};

/// The bits of a flags column. Stored: never renumber.
enum EntryFlag : std::uint32_t {
  kFlagTypeMask = 0x7,        ///< EntryType, see flag_type().
  kFlagTombstone = 1U << 3U,  ///< Superseded by a newer line.
  kFlagAsks = 1U << 4U,       ///< A message that ends with a question mark.
  kFlagPinned = 1U << 5U,     ///<
  kFlagSensitive = 1U << 6U,  ///<
  kFlagSevere = 1U << 7U,     ///< Importance times 1.3, see importance_of().
  kFlagApproved = 1U << 8U,   ///< Importance times 1.2.
  kFlagOdd = 1U << 9U,        ///< It has a line in EntryColumns::odd.
  kFlagRoleShift = 10,        ///< Two bits: EntryRole.
  kFlagRoleMask = 3U << 10U,
  kFlagFollows = 1U << 12U,     ///< `previous` is 1: its predecessor is the ordinal before.
  kFlagKeyed = 1U << 13U,       ///< A statement that others may contradict, see statement_key().
  kFlagUnreviewed = 1U << 14U,  ///< A statement that nobody has accepted, or somebody dropped.
  kFlagExpires = 1U << 15U,     ///< It has a time in OddEntry::expires_at. The last bit on disk.
  /// Both at once, which no statement has for itself: a link says that another entry replaces it.
  kFlagsSuperseded = kFlagKeyed | kFlagUnreviewed,
  /// Alone, on a message, which has no key: see states_nothing().
  kFlagStatesNothing = kFlagKeyed,
};

/// Who speaks, where a conversation says so.
enum class EntryRole : std::uint8_t { kNone = 0, kUser = 1, kAssistant = 2 };

inline EntryType flag_type(std::uint32_t flags) {
  return static_cast<EntryType>(flags & kFlagTypeMask);
}
inline EntryRole flag_role(std::uint32_t flags) {
  return static_cast<EntryRole>((flags & kFlagRoleMask) >> kFlagRoleShift);
}

/// Whether it is a message that states nothing.
inline bool flag_states_nothing(std::uint32_t flags) {
  return flag_type(flags) == EntryType::kConversation &&
         (flags & kFlagsSuperseded) == kFlagStatesNothing;
}

/// What only few entries have.
struct OddEntry {
  std::uint32_t versions = 1;
  double decay_factor = 1;
  std::optional<Timestamp> last_accessed;
  std::optional<Timestamp> expires_at;
};

/// Where an entry's line lies in its log.
struct EntryRow {
  std::uint64_t offset = 0;
  std::uint32_t size = 0;       ///< Without '\n'.
  std::uint32_t line = 0;       ///< 1-based.
  std::uint32_t line_hash = 0;  ///< Low 30 bits of the line's XXH3.

  bool operator==(const EntryRow&) const = default;
};

/// What finds the line of an entry, and tells its id without it.
struct IndexRow {
  EntryRow row;
  std::uint32_t id_hash = 0;  ///< Of entry_id_hash().
  PackedId id;

  /// The id of an entry of `type`; empty where only the line tells.
  [[nodiscard]] std::string id_of(EntryType type) const;
};

struct EntryColumns {
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint32_t> flags;
  std::vector<std::uint32_t> previous;
  std::vector<std::int64_t> timestamps;
  std::vector<std::uint32_t> id_hashes;
  std::vector<PackedId> ids;
  std::vector<EntryRow> rows;
  std::map<Ordinal, OddEntry> odd;

  [[nodiscard]] std::size_t size() const { return flags.size(); }
  /// Takes the memory of the first three for `count` entries now.
  void reserve(std::size_t count);
  /// Gives back the room for more entries.
  void shrink();
};

/// What ranking wants to know of a session as a whole. It counts all versions, live or not.
struct SessionFacts {
  std::vector<std::string> participants = {};  ///< Who spoke in its conversations; sorted.
  bool has_user = false;                       ///< Messages with role user; so for the next.
  bool has_assistant = false;
  Timestamp newest{};  ///< Latest timestamp; 1970 without entries.
  Timestamp oldest = Timestamp::max();
};

/// What the live entries of a session come to.
struct SessionSums {
  using PerType = std::array<std::uint64_t, kEntryTypeCount>;

  PerType lines{};                                ///< Theirs, those of their older versions too.
  bool expires = false;                           ///< Whether one has a time when it expires.
  std::map<std::chrono::sys_days, PerType> days;  ///< How many there are, by their time.

  void add(EntryType type, Timestamp time, const OddEntry* odd) {
    const auto i = static_cast<std::size_t>(type);
    lines[i] += odd == nullptr ? 1 : odd->versions;
    expires = expires || (odd != nullptr && odd->expires_at);
    ++days[std::chrono::floor<std::chrono::days>(time)][i];
  }
  /// How many entries of a type there are.
  [[nodiscard]] std::uint64_t entries(EntryType type) const {
    std::uint64_t count = 0;
    for (const auto& [day, counts] : days) {
      count += counts[static_cast<std::size_t>(type)];
    }
    return count;
  }

  bool operator==(const SessionSums&) const = default;
};

/// Longest length a column holds; longer entries count as this long.
inline constexpr std::uint32_t kLengthMax = (1U << 16U) - 1;
/// Farthest predecessor a column can name; one farther away begins a conversation anew.
inline constexpr std::uint32_t kPreviousMax = (1U << 24U) - 1;

/// 30 bits of XXH3: of an entry's type and id.
std::uint32_t entry_id_hash(EntryType type, std::string_view id);
/// 30 bits of XXH3: of a line.
std::uint32_t entry_line_hash(std::string_view line);

/// importance_of() from the flags.
double flag_importance(std::uint32_t flags);

/// A line of a fact or a preference as an index knows it: what decides which statement holds, and
/// where the line lies. All versions have one, superseded ones too: items of knowledge have their
/// history.
struct StatementRow {
  StatementOutline outline;
  EntryRow row;

  bool operator==(const StatementRow&) const = default;
};

}  // namespace bmad_mem
