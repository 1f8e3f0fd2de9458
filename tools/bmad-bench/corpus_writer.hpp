// corpus_writer.hpp - a corpus written into sessions through the library, as agents would write it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"
#include "corpus.hpp"

namespace bmad_mem::bench {

struct CorpusReport {
  std::vector<std::string> sessions;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;   ///< Of all logs.
  std::uint64_t tokens = 0;  ///< See count_tokens().
  /// FNV-1a over all lines in the order they were made: the same for the same seed and size.
  std::uint64_t hash = 0xCBF29CE484222325U;
};

struct CorpusPlan {
  std::uint64_t bytes = 0;             ///< Stops with the entry that would go beyond.
  std::uint64_t session_bytes = 0;     ///< A new session whenever one has as many.
  std::string label = "corpus";        ///< Stands in the names of the sessions.
  std::optional<EntryType> only = {};  ///< Entries of one type, instead of all.
};

/// Called now and then with the bytes made.
using CorpusProgress = std::function<void(std::uint64_t bytes)>;

/// A new root at `root` whose sessions may grow as large as there is room, and stay where they are
/// however old they get. Otherwise a full session would be compacted while it is filled, and those
/// of the months before archived: what is measured would be another memory. Maintenance is due
/// once, since the corpus's days would pass in a second each.
Status init_roomy_root(const std::string& root);

/// Writes into new sessions of the existing root `root`. The clock that the manifests are written
/// by is the corpus's own, so that every byte that is tracked is the same on every machine.
Result<CorpusReport> write_corpus(Corpus& corpus, const std::string& root, const CorpusPlan& plan,
                                  const CorpusProgress& on_progress = {});

}  // namespace bmad_mem::bench
