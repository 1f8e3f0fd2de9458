// naive_search.hpp - the search in its simplest form: every line of every log is read, and all is
// counted by walking over all entries again. What the engine does with indexes must come to the
// same, to the last bit of each score, since both add up in the same order: terms as the question
// has them, then session, question before, speaker, date.
//
// It shares with the engine what takes text apart (analyzer, query parser, dates, edit distance)
// and what is known of a single entry (model room); nothing of the indexes, of the ranker and of
// the planner.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/result.hpp"
#include "search/search.hpp"

namespace bmad_mem::test {

/// One line of a log.
struct NaiveEntry {
  EntryType type = EntryType::kConversation;
  std::string id;
  std::uint64_t line = 0;
  std::string text;  ///< What is searched.
  std::string who;
  std::string topic;
  std::string conversation_id;
  std::string role;
  std::vector<std::string> tags;
  Timestamp timestamp{};
  std::optional<Timestamp> last_accessed;
  double decay_factor = 1;
  double importance = 0;
  bool pinned = false;
  bool sensitive = false;
  bool asks = false;
  bool states_nothing = false;
  std::string subject;  ///< Of a statement that others may contradict.
  bool unreviewed = false;
  bool trusted = true;
  Timestamp stated_at{};
  bool live = true;                           ///< No later line has its type and id.
  std::vector<std::string> words;             ///< Tokens without those that are kept whole.
  std::map<std::string, double> frequencies;  ///< By term.
  double length = 0;
};

struct NaiveSession {
  std::string id;
  std::vector<NaiveEntry> entries;  ///< All lines, by type and line.
};

struct NaiveHit {
  std::string session_id;
  EntryType type = EntryType::kConversation;
  std::string id;
  double relevance = 0;
  RelevanceComponents components;
};

/// The logs as they are at this moment.
class NaiveStore {
 public:
  /// Reads all logs of `session_ids`, which are sorted.
  static Result<NaiveStore> read(FileSystem& files, std::span<const std::string> session_ids,
                                 const std::string& language);

  /// As MemoryManager::query(), without timeouts. Errors: E_INVALID_QUERY.
  [[nodiscard]] Result<std::vector<NaiveHit>> search(const Query& query,
                                                     const SearchSettings& settings) const;

  /// As MemoryManager::topics() without a filter: by name.
  [[nodiscard]] std::map<std::string, std::uint64_t> topics() const;

 private:
  std::vector<NaiveSession> sessions_;
};

}  // namespace bmad_mem::test
