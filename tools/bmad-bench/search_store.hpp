// search_store.hpp - made-up memory, and the same texts in the indexes of others.
//
//   FOLDER/memory/     a memory root           FOLDER/fts5.db     FOLDER/xapian/
//   FOLDER/complete    what it was made from; written last
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "peer.hpp"
#include "search_queries.hpp"

namespace bmad_mem::bench {

struct SearchPlan {
  std::uint64_t seed = 1;
  std::uint64_t bytes = 10'000'000;          ///< Of all logs.
  std::uint64_t session_bytes = 10'000'000;  ///< A new session after so many.
  std::size_t queries = 200;
  bool alone = false;       ///< Build no indexes of others.
  bool keep_texts = false;  ///< In memory, for SearchStore::texts.
  bool as_left = false;     ///< Nothing is rebuilt once it was written, nor asked.
};

struct SearchStore {
  /// Makes what is not in `folder` yet; a folder that is complete is used as it is.
  /// Errors: the folder holds something else, or another seed or size.
  static SearchStore prepare(const std::string& folder, const SearchPlan& plan);

  [[nodiscard]] MemoryManager open() const;
  [[nodiscard]] std::string peer_path(PeerKind kind) const;
  /// Whether the peer is built in and has an index of this memory.
  [[nodiscard]] bool has(PeerKind kind) const;
  [[nodiscard]] std::string session_file(const std::string& session, std::string_view name) const {
    return root + "/sessions/" + session + '/' + std::string(name);
  }
  /// The words of round `i`, and an entry from anywhere in the memory.
  [[nodiscard]] const SearchWords& words(std::size_t i) const {
    return queries[i % queries.size()];
  }
  [[nodiscard]] const std::string& id(std::size_t i) const { return ids[i * 7919 % ids.size()]; }

  std::string folder;
  std::string root;
  std::vector<std::string> sessions;  ///< Oldest first.
  std::uint64_t log_bytes = 0;
  std::vector<SearchWords> queries;
  std::vector<std::string> ids;  ///< Of all entries, by the number that peers know them by, less 1.
  std::vector<std::string> texts;  ///< As the peers get them, in the same order.
};

/// A copy of a store's memory, which goes when this does. What is done to it changes nothing else,
/// so each repetition begins alike.
class StoreCopy : public SearchStore {
 public:
  /// Into the new folder `place`.
  StoreCopy(const SearchStore& store, const std::string& place);
  StoreCopy(const StoreCopy&) = delete;
  StoreCopy& operator=(const StoreCopy&) = delete;
  ~StoreCopy();
  /// Once all that was written to the file system is on its disk: no sync of another one has to
  /// wait for it.
  [[nodiscard]] MemoryManager open() const;
};

inline constexpr std::size_t kSearchDepth = 20;

/// Words as ours takes them: by text alone, the 20 best.
Query text_query(const SearchWords& words, TextRanking ranking);

}  // namespace bmad_mem::bench
