// search.hpp - from a question to the entries that answer it.
//
//   clauses --analyze--> terms, names, dates --> postings of each session     (all cores)
//           --sum up--> weights --> text score of each entry --> relevance --> top k
//
//   relevance = 0.4 text + 0.3 time + 0.2 importance + 0.1 access      (weights: config, query)
//
// text: ranker.hpp. time: effective_decay(), but 1 for all when the question names a time: who asks
// about last June must not get this week. importance: importance_of(). access: exp(-0.05 x hours
// since the last access), 0.5 for what was never accessed (specification 5.3).
//
// Found is: with words, what holds one of them or stands beside an entry that does; and what lies
// in a time that the question names. Ordered by time, only what holds a word itself. Without words,
// what passes the filters. Ties go to the newer entry, then by session, type and place in the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "index/session_index.hpp"
#include "model/decay.hpp"
#include "query/question.hpp"

namespace bmad_mem {

struct SearchSettings {
  Timestamp now{};
  DecaySettings decay;
  RelevanceWeights weights;  ///< When the query names none.
  std::string language = "english";
  /// When Query::timeout is over; counted from when the query came in.
  std::optional<std::chrono::steady_clock::time_point> deadline;

  [[nodiscard]] bool is_late() const {
    return deadline && std::chrono::steady_clock::now() > *deadline;
  }
};

/// What a query that took too long gets. E_QUERY_TIMEOUT.
Error query_timeout(const Query& query);

/// One entry found, by its place in the index.
struct Found {
  std::size_t session = 0;  ///< Index in the sessions searched.
  EntryType type = EntryType::kConversation;
  Ordinal ordinal = 0;
  Timestamp timestamp{};
  double relevance = 0;
  RelevanceComponents components;
  bool evicted = false;  ///< It comes after all that is not.
};

struct SearchResult {
  std::vector<Found> found;                   ///< Best first, or in the order asked for.
  std::vector<TextExplanation> explanations;  ///< As `found`, when Query::explain asks for them.
  RelevanceWeights weights;                   ///< That were used.
  std::set<std::string, std::less<>> terms;   ///< What to mark in snippets.
};

/// Searches `sessions`, which the caller has refreshed and locked.
/// Errors: E_INVALID_QUERY; E_QUERY_TIMEOUT; E_STORAGE_CORRUPT or E_CONCURRENT_MOD with the id of
/// the session in Error::field: rebuild that index and search again.
Result<SearchResult> search(std::span<SessionIndex* const> sessions, const Query& query,
                            const Question& question, const SearchSettings& settings);

}  // namespace bmad_mem
