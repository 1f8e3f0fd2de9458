// search.hpp - from a question to the entries that answer it; and what there is, counted.
//
//   clauses --analyze--> terms, names, dates --> postings of each session     (all cores)
//           --sum up--> weights --> text score of each entry --> relevance --> top k
//
//   relevance = text (0.75 + 0.25 time) (0.80 + 0.20 importance) (0.95 + 0.05 access)
//             = 0.4 text + 0.3 time + 0.2 importance + 0.1 access     without words, and on request
//
// text: ranker.hpp. time: effective_decay() as if nothing was pinned, but 1 for all when the
// question names a time: who asks about last June must not get this week. importance:
// importance_of(). access: exp(-0.05 x hours since the last access), at least 0.5. A statement that
// does not hold (validity.hpp) counts half.
//
// Found is: with words, what holds one of them or stands beside an entry that does; and what lies
// in a time that the question names. Ordered by time, only what holds a word itself. Without words,
// what passes the filters. A question that names somebody and holds no word that is known finds
// what they said last. A phrase narrows what is found to entries that hold it themselves or in
// their window, if there are any. The same entry in two sessions is found once.
//
// Ties go to the longer entry (in terms), then to the newer one, then by session, type and place in
// the log.
#pragma once

#include <cassert>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/result.hpp"
#include "encoder/text_encoder.hpp"
#include "model/decay.hpp"
#include "search/indexed_session.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Whose a memory is that a question is asked of.
enum class MemoryKind : std::uint8_t {
  kProject,
  kUser,   ///< The user's own: what the project states under a key holds against what it does.
  kOther,  ///< Of another project: no statement there replaces one here, nor the other way.
};

/// A memory whose sessions are searched.
struct SearchedRoot {
  std::size_t first = 0;  ///< The number of its first session.
  MemoryKind kind = MemoryKind::kProject;
  const RootOrigins* origins =
      nullptr;  ///< Who wrote its lines. Null: they are taken at their word.
};

struct SearchSettings {
  Timestamp now{};
  DecaySettings decay;
  RelevanceCombine combine = RelevanceCombine::kFactors;  ///< When the query names none.
  RelevanceWeights weights;                               ///< So too.
  std::string language = "english";
  /// Only what the query says: no word with a slip stands for another one, and nothing is left out
  /// of the query because there is no such entry.
  bool literal = false;
  /// When Query::timeout is over; counted from when the query came in.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// Whose the sessions are, by their numbers.
  std::vector<SearchedRoot> roots = std::vector<SearchedRoot>(1);
  /// Asked where entries have vectors; empty: words alone.
  std::function<Result<std::shared_ptr<TextEncoder>>(TextEncoder::Deadline)> encoder;
  bool stating_only = false;       ///< Messages that state nothing are not found.
  bool encodes_sensitive = false;  ///< What is encoded: sensitive entries, too.
  /// When the encoder's time is over: from then on words alone count. Otherwise at `deadline`.
  std::optional<std::chrono::steady_clock::time_point> encoder_deadline;
  /// The least cosine of an entry that is found although no word leads to it: short texts that have
  /// nothing to do with each other are as near as 0.45.
  double near_min = 0.45;

  /// The number of the root that session `session` is of.
  [[nodiscard]] std::size_t root_of(std::size_t session) const {
    assert(!roots.empty());
    std::size_t root = roots.size() - 1;
    while (root > 0 && session < roots[root].first) {
      --root;
    }
    return root;
  }
  [[nodiscard]] MemoryKind kind_of(std::size_t session) const {
    return roots[root_of(session)].kind;
  }

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
  double relevance = 0;  ///< Not cut off at 1, so that hits beyond it keep their order.
  RelevanceComponents components;
  double words = 0;          ///< Where meaning took part, the text component of the words alone.
  bool evicted = false;      ///< It comes after all that is not.
  std::uint32_t length = 0;  ///< In terms.
  bool outdated = false;     ///< As in Hit.
  bool states_nothing =
      false;                 ///< A request, a question, an announcement: see kStatesNothingFactor.
  bool said_before = false;  ///< As in Hit.
  Nearness nearness;         ///< As in Hit: of the first kNearnessCount.
  /// Where it had to be read anyway.
  std::shared_ptr<const IndexedSession::LoadedLine> line = nullptr;
};

/// The number of hits, best first, of which the nearness is measured.
inline constexpr std::size_t kNearnessCount = 24;

/// What a text wants of the memory.
enum class AskedAs : std::uint8_t {
  kTask,      ///< Words chosen for a search.
  kQuestion,  ///< See asks_question().
  kRequest,   ///< Any other prompt: it may be about something that no memory has.
};

/// The score of what is near enough to be told. `gate`: memory_config.context.gate.
double needed_score(AskedAs asked_as, std::size_t words, double gate);

/// What the best of several answers says of itself.
Certainty certainty_of(std::span<const Hit> hits);

struct SearchResult {
  std::vector<Found> found;                   ///< Best first, or in the order asked for.
  std::vector<TextExplanation> explanations;  ///< As `found`, when Query::explain asks for them.
  RelevanceCombine combine = RelevanceCombine::kFactors;  ///< That was used; so for the next one.
  RelevanceWeights weights;
  bool weak = false;                         ///< As in Hit, of all that was found.
  std::set<std::string, std::less<>> terms;  ///< What to mark in snippets.
  std::vector<AskedWord> asked;              ///< The words of the question that count.
  std::vector<std::string> instead;          ///< As in QueryAnswer; so is the next.
  EncoderUse encoder;
};

/// Searches `sessions`, which the caller has refreshed and locked.
/// Errors: E_INVALID_QUERY; E_QUERY_TIMEOUT; E_STORAGE_CORRUPT or E_CONCURRENT_MOD with the id of
/// the session in Error::field: rebuild that index and search again.
Result<SearchResult> search_sessions(std::span<IndexedSession* const> sessions, const Query& query,
                                     const SearchSettings& settings);

/// What was found, each entry with its line, a snippet, and Query::context entries before and after
/// it in its conversation, of those that may be read. Errors: E_QUERY_TIMEOUT; as
/// IndexedSession::line(), with the session in Error::field.
Result<std::vector<Hit>> load_hits(const Store& store, std::span<IndexedSession* const> sessions,
                                   const SearchResult& result, const Query& query,
                                   const SearchSettings& settings);

/// An entry as a report has it. Errors: as IndexedSession::line().
Result<Entry> load_entry(const IndexedSession& session, Ordinal ordinal);

/// The entries with this id that are not hidden, in the order of the sessions. Errors: as
/// IndexedSession::line(), with the session in Error::field.
Result<std::vector<Entry>> entries_with_id(std::span<IndexedSession* const> sessions,
                                           std::string_view id);
/// The entries that name `id`, as a reference or in a link. Errors: as entries_with_id().
Result<std::vector<Entry>> naming_entries(std::span<IndexedSession* const> sessions,
                                          std::string_view id);

/// What the config and the clock say to a search.

SearchSettings search_settings(const Store& store);

// What there is, by topic and by time, counted from the indexes alone.

// The sessions are refreshed and locked. filter.sessions is not looked at: they are `sessions`.
// Errors: E_STORAGE_CORRUPT with the session's id in Error::field.

/// The topics of the entries that pass `filter` and are valid at `now`: most entries first, then by
/// name.
Result<std::vector<TopicCount>> count_topics(std::span<IndexedSession* const> sessions,
                                             const EntryFilter& filter, Timestamp now);

/// The entries that pass `filter` and are valid at `now`, by their time; stretches without any are
/// left out. Oldest first; with a limit, the newest ones.
Result<std::vector<TimelineBucket>> count_by_time(std::span<IndexedSession* const> sessions,
                                                  const EntryFilter& filter, Timestamp now,
                                                  TimelineUnit unit);

/// When the stretch of `unit` that holds `time` begins, UTC; weeks begin on Monday.
Timestamp begin_of(TimelineUnit unit, Timestamp time);

/// An entry, by its place in what is searched.
struct Newest {
  std::size_t session = 0;
  Ordinal ordinal = 0;
  Timestamp timestamp{};
};

/// Of the entries that pass `filter` and are valid at `now`, those that are among the newest
/// `filter.limit`, and those as old as the last of them; all without a limit. In no order. Evicted
/// ones count behind all others. Only sessions that may hold one of them are looked at. `origins`:
/// as in SearchSettings. Errors: as search_sessions()'s.
Result<std::vector<Newest>> find_newest(std::span<IndexedSession* const> sessions,
                                        const EntryFilter& filter, Timestamp now,
                                        const RootOrigins* origins);

}  // namespace bmad_mem
