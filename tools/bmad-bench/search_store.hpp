// search_store.hpp - made-up memory, and the same texts in the indexes of others.
//
//   FOLDER/memory/     a memory root           FOLDER/fts5.db     FOLDER/xapian/
//   FOLDER/complete    what it was made from; written last
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "peer_engine.hpp"
#include "search_queries.hpp"

namespace bmad_mem::bench {

struct SearchPlan {
  std::uint64_t seed = 1;
  std::uint64_t bytes = 10'000'000;          ///< Of all logs.
  std::uint64_t session_bytes = 10'000'000;  ///< A new session after so many.
  std::size_t queries = 200;
  bool alone = false;       ///< Build no indexes of others.
  bool keep_texts = false;  ///< In memory, for SearchStore::texts.
  /// Nothing was asked or rebuilt since it was written; there are no sessions, numbers or bytes of
  /// the index then, but ids.
  bool as_left = false;
};

/// Says what goes on, for somebody who waits.
using SearchProgress = std::function<void(const std::string& what)>;

struct SearchStore {
  /// Makes what is not in `folder` yet; a folder that is complete is used as it is.
  /// Errors: the folder holds something else, or another seed or size.
  static Result<SearchStore> prepare(const std::string& folder, const SearchPlan& plan,
                                     const SearchProgress& progress);

  [[nodiscard]] Result<MemoryManager> open() const;
  [[nodiscard]] std::string peer_path(PeerKind kind) const;
  /// Whether the peer is built in and has an index of this memory.
  [[nodiscard]] bool has(PeerKind kind) const;
  /// The number by which the peers know an entry; 0 for one that they don't.
  [[nodiscard]] std::uint32_t number_of(const Entry& entry) const;

  std::string folder;
  std::string root;
  std::vector<std::string> sessions;  ///< Oldest first.
  std::uint64_t entries = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t index_bytes = 0;   ///< Of index/.
  std::vector<std::string> texts;  ///< As the peers get them, by number.
  std::vector<SearchWords> queries;
  std::vector<std::string> ids;  ///< Of a store as it was left: all, oldest first.
  std::unordered_map<std::string, std::uint32_t> numbers;  ///< "session/id" -> number.
};

/// Of the files in a folder, without those of folders in it.
std::uint64_t bytes_in(const std::string& folder);

/// Words as ours takes them: by text alone, the 20 best.
Query text_query(const SearchWords& words, TextRanking ranking);

inline constexpr std::size_t kSearchDepth = 20;

}  // namespace bmad_mem::bench
