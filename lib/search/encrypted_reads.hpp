// encrypted_reads.hpp - what is encrypted, as a search sees it: no index has it, so that each
// question opens the lines, and makes an index of those that may answer it.
//
//   log      {"id":"f1",…"sealed":"1.…"}\n {"id":"f2","content":…}\n {"id":"f3",…"sealed":"1.…"}\n
//   opened   \n                            \n                        {"id":"f3","content":…}\n
//
// Lines keep their numbers. Nothing of it is written down, and all of it goes with the question.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "search/cached_indexes.hpp"
#include "search/indexed_session.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Which encrypted entries are wanted; of what says nothing, all.
struct EncryptedWish {
  std::span<const EntryType> types = {};
  std::span<const std::string> ids = {};
  /// Lower-case ASCII. An entry without any of them holds no word of the question.
  std::vector<std::string> needles = {};
  /// Most bytes of encrypted lines that are opened.
  std::uint64_t bytes_max = std::numeric_limits<std::uint64_t>::max();
  bool counts_only = false;  ///< Nothing is opened; `closed` alone is asked for.
};

/// Threads: as IndexedSession, once it is open.
class EncryptedSessions {
 public:
  /// Adds the encrypted entries of the sessions that `indexes` hold. Costs nothing where nothing is
  /// encrypted. Errors: as the file system's; a key that can't be used is none: `key_problem`.
  Status add(const Store& store, const CachedIndexes& indexes, const EncryptedWish& wish);

  /// Refreshed, and nobody else's.
  [[nodiscard]] std::span<IndexedSession* const> sessions() const { return sessions_; }
  /// Whether the latest version of an entry is encrypted, and an earlier one is not: the indexes of
  /// its session know that one.
  [[nodiscard]] bool replace(const Entry& entry) const {
    return !replaced_.empty() && replaced_.contains({entry.session_id, entry.type, entry.id});
  }

  std::uint64_t closed = 0;          ///< Lines whose key is not here.
  std::uint64_t damaged = 0;         ///< Lines that do not open with it.
  std::uint64_t unread = 0;          ///< Lines that were too many to look at.
  std::optional<Error> key_problem;  ///< Why the key that was named can't be used.

 private:
  std::vector<std::shared_ptr<SessionIndex>> opened_;
  std::vector<IndexedSession*> sessions_;
  std::set<std::tuple<std::string, EntryType, std::string>> replaced_;
  std::uint64_t bytes_ = 0;  // Of the lines that were opened.
};

}  // namespace bmad_mem
