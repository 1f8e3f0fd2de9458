// validity.hpp - which of several statements about the same still holds.
//
//   s1  prefer deploy "never on friday"      replaced        KNOW:hash --> s1, s7 --> read both
//   s7  prefer deploy "friday until noon"    holds
//
// Asked only of entries that could still be among the best, and only for those the index marks. The
// first few subjects are looked up, and the lines about them read; where more are asked for, what
// the index knows of all statements tells.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "search/holding.hpp"
#include "search/indexed_session.hpp"
#include "search/search.hpp"

namespace bmad_mem {

/// Threads: any, at the same time.
class Validity {
 public:
  /// The sessions are locked, and outlive it; so does `settings`. Of these the time, whose sessions
  /// they are, and who wrote their lines count.
  Validity(std::span<IndexedSession* const> sessions, const SearchSettings& settings)
      : sessions_(sessions), now_(settings.now), settings_(settings) {}

  /// Whether the entry is a statement that another one has replaced, or that nobody has accepted;
  /// or any entry that a link says is superseded. `flags` are the entry's. Errors: as
  /// IndexedSession::line(), with the session in Error::field.
  Result<bool> is_outdated(std::size_t session, Ordinal ordinal, std::uint32_t flags);

 private:
  /// A statement, by the number of its session.
  struct Place {
    std::size_t session = 0;
    Ordinal ordinal = 0;

    bool operator==(const Place&) const = default;
  };
  Result<std::optional<Place>> holder_of(std::size_t scope, const std::string& subject);
  bool have_gathered();
  /// Only statements of one scope replace each other: those of the project and of the user have
  /// one, and each other memory has its own.
  [[nodiscard]] std::size_t scope_of(std::size_t session) const {
    const std::size_t root = settings_.root_of(session);
    return settings_.roots[root].kind == MemoryKind::kOther ? root : 0;
  }
  /// Of a session of this number: not judged yet.
  [[nodiscard]] Rival rival_of(std::size_t session) const;
  bool is_too_much(std::size_t lines);

  /// Which statements hold, of all.
  Status gather();

  std::span<IndexedSession* const> sessions_;
  Timestamp now_;  // What has expired by then replaces nothing.
  const SearchSettings& settings_;
  std::mutex mutex_;                                              // Guards what follows.
  std::map<std::pair<std::size_t, std::string>, Place> holders_;  // By scope_of() and subject.
  std::uint64_t lines_ = 0;  // That were read, or might as well have been.
  std::uint64_t most_lines_ = 0;
  /// By session, type and number of line.
  using LinePlace = std::tuple<std::size_t, EntryType, std::uint32_t>;
  std::optional<std::set<LinePlace>> holding_;
};

}  // namespace bmad_mem
