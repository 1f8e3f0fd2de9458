// ids.hpp - names of entries and sessions: which are allowed, and how new ones are made.
//
//   dec-01kaxx8v0 4q7m2s        entry: prefix, 9 characters of milliseconds, 6 random ones
//   sess-2026-01-11-4q7m2s      session: day of creation, 6 random characters
//
// The alphabet is Crockford's base 32 in lower case, whose characters stand in ASCII order: ids of
// one type sort by time. The random part is drawn anew each millisecond and counts up within it,
// so that a batch keeps its order and neither two processes nor two git branches collide.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Longest session id in bytes.
inline constexpr std::size_t kSessionIdSizeMax = 64;
/// Longest entry id in bytes.
inline constexpr std::size_t kEntryIdSizeMax = 128;

/// Whether `id` matches [a-z0-9][a-z0-9._-]{0,63}: safe as the name of a folder.
bool is_session_id(std::string_view id);

/// Whether `id` matches [A-Za-z0-9_][A-Za-z0-9_.:@+=~-]{0,127}: no separator, no blank, no control.
bool is_entry_id(std::string_view id);

/// Nothing when is_session_id(id). Errors: E_INVALID_FORMAT, saying what is allowed.
Status check_session_id(std::string_view id);

/// Whether a folder of that name is possible on every system: no "con", no "a.". New sessions have
/// such ids; old ones are read as they are.
bool is_portable_session_id(std::string_view id);

/// An id of IdGenerator in ten bytes, without its prefix.
struct PackedId {
  static constexpr std::uint64_t kNone = (std::uint64_t{1} << 48U) - 1;

  std::uint64_t time = kNone;  ///< 45 bits of milliseconds; kNone: another program made the id.
  std::uint32_t random = 0;    ///< 30 bits.

  [[nodiscard]] bool is_there() const { return time != kNone; }
  auto operator<=>(const PackedId&) const = default;
};

/// That of `id`, when it is `prefix` and what IdGenerator puts behind it; else one that is not
/// there.
PackedId pack_id(std::string_view prefix, std::string_view id);
/// The first and the last of the ids that begin with `begin`; they are not there where it begins
/// none, or is a whole one.
std::pair<PackedId, PackedId> id_range(std::string_view prefix, std::string_view begin);
/// What pack_id() was given. It must be there.
std::string unpack_id(std::string_view prefix, const PackedId& id);

/// 30 random bits from the operating system.
std::uint32_t system_random();

/// Makes ids. Threads: safe. A forked child draws its own random part.
class IdGenerator {
 public:
  /// `clock` must outlive the generator; `random` yields at least 30 random bits.
  explicit IdGenerator(const Clock& clock, std::function<std::uint32_t()> random = system_random);

  /// `prefix` + 15 characters, greater than every id this generator made before with this prefix.
  std::string entry_id(std::string_view prefix);

  /// "sess-YYYY-MM-DD-xxxxxx" with the clock's UTC day.
  std::string session_id();

 private:
  const Clock& clock_;
  std::function<std::uint32_t()> random_;
  std::mutex mutex_;  // Guards the three below.
  std::int64_t last_ms_ = -1;
  std::uint32_t counter_ = 0;
  int pid_ = 0;
};

}  // namespace bmad_mem
