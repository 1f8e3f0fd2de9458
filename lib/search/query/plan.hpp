// plan.hpp - a query as it is run: its text taken apart, its filters put together, its words as
// terms of the index.
//
//   Query --read_query--> clauses, filters, prose --add_terms--> terms, requirements --> search
//
//   'why postgres -mysql type:decision since:7d'
//        clauses: why postgres -mysql       filter: types {decision}, since …     prose: for dates
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "query_scanner.hpp"
#include "ranker.hpp"
#include "search/analyzer.hpp"
#include "search/indexed_session.hpp"
#include "search/search.hpp"

namespace bmad_mem {

/// What an entry must hold, or must not.
struct Requirement {
  std::vector<std::vector<std::string>> terms;  ///< All of these; of each, any one.
  std::vector<std::string> phrase;  ///< Tokens that must stand side by side; empty for a word.
  bool excluded = false;
  bool soft = false;  ///< If there is no such entry, others do.
};

/// A word that may have a slip in it.
struct DoubtfulWord {
  std::string token;
  std::size_t term = 0;  ///< Its place in RankQuery::terms.
};

struct Plan {
  /// As asked, with the filters and topics of the text joined to its own.
  Query query;

  // Of the text.
  std::vector<QueryClause> clauses;  ///< In the order of the text; so for the next.
  /// Once the query is read, those that exclude: -type:x and its like, but not those of fields.
  std::vector<QueryFilter> filters;
  /// The text with filters, excluded clauses and the words AND, OR, NOT blanked out: what dates and
  /// names are looked for in. Same size as the text, so offsets agree.
  std::string prose;
  std::vector<ProseReading> as_prose;  ///< What looked like more than words, in that order.
  std::vector<std::string> notes;      ///< A sentence for each, and for bytes that are no text.

  // Of the text and the indexes.
  RankQuery rank;
  std::vector<Requirement> requirements;
  std::vector<Requirement> phrases;  ///< What is found should hold, itself or around it.
  std::vector<DoubtfulWord> doubtful;
  std::string
      statement;  ///< What is asked about, without what makes it a question, and nobody's name.
  std::set<std::string, std::less<>> marked;  ///< Terms to mark in snippets.
  bool has_expansion = false;                 ///< It has a prefix or a fuzzy word.
  bool names_time = false;                    ///< The query says when: age must not count.

  /// Whether only the text tells which entries hold what is asked for.
  [[nodiscard]] bool needs_text() const;
};

/// What a search has at hand.
struct SearchScope {
  std::span<IndexedSession* const> sessions;
  Plan plan;
  const SearchSettings& settings;
  RankOptions options;
  std::vector<SlotTotals> sizes = {};    ///< By session; so for the next.
  std::vector<SessionTerms> terms = {};  ///< The postings of the terms in `plan`.

  /// How many entries hold the term that is number `term`.
  [[nodiscard]] std::uint64_t count_holders(std::size_t term) const;
};

/// Whether something but the text says what to look for.
bool says_filters(const Query& query);
/// Whether the filter chooses among the entries of a session, other than by whether they are
/// sensitive.
bool chooses_entries(const EntryFilter& filter);

/// Takes `text` apart. Empty and blank texts give a plan without clauses, which finds by filters
/// only or not at all: whether that makes sense is for the caller to say. NUL and bytes that are no
/// UTF-8 count as blanks. `is_filtered`: the caller has filters besides, so that `-word` alone
/// excludes from what they leave.
/// Errors: E_INVALID_QUERY with field "text", a 1-based column and a remedy: more than
/// kQuerySizeMax bytes; and, unless the text reads like a sentence, a filter whose value its field
/// does not take or whose field there isn't, an excluded time, and a `since:` after the `until:`,
/// where both are fixed.
Result<Plan> parse_query_text(std::string_view text, bool is_filtered = false);

/// Takes `query` apart; `now` is what its relative times count from.
/// Errors: E_INVALID_QUERY, as parse_query_text() and check_fields(); for a time range that ends
/// before it begins; for a query that says nothing at all.
Result<Plan> read_query(const Query& query, Timestamp now);

/// Adds what the indexes tell to a plan that was read. `analyzer` is one of `language`; the stop
/// words of another language that the query is written in are dropped as well.
/// Errors: E_STORAGE_CORRUPT, as IndexPart::part_keys().
Status add_terms(Plan& plan, std::span<IndexedSession* const> sessions, Analyzer& analyzer,
                 std::string_view language, Timestamp now);

/// Why a quoted phrase has found nothing: `is_excluded` by a -word, filtered out, or nowhere.
std::string phrase_note(const Plan& plan, bool is_excluded);

/// Searches as search_sessions() does for a query, by a plan that was read of it.
Result<SearchResult> search_sessions(std::span<IndexedSession* const> sessions, const Plan& plan,
                                     const SearchSettings& settings);

/// What a term counts that stands in for a word nobody knows.
inline constexpr double kSlipWeight = 0.5;

/// Puts beside `word` the known terms one slip away from it. A note for people is what it returns;
/// empty when there are none. Errors: as add_terms().
Result<std::string> add_slip_terms(std::span<IndexedSession* const> sessions, Analyzer& analyzer,
                                   const DoubtfulWord& word, Plan& plan);

struct ReadingTools;

/// Of `found`, from the best on, each entry once, and only those that hold the phrases asked for,
/// until there are `limit` (0: all). Errors: E_QUERY_TIMEOUT; as IndexedSession::line(), with the
/// session in Error::field.
Result<std::vector<Found>> choose_first(const SearchScope& scope, ReadingTools& tools,
                                        std::vector<Found> found, std::size_t limit);

// Words of a question that only ask: "how many", "what kind of", "tell me".

/// What such a word weighs in the ranking, where others weigh 1: it may be meant.
inline constexpr double kAskingWeight = 0.3;

/// Whether word `index` of a query only asks. The words are in lower case, stop words among them,
/// in the order of the text. `asks`: it is a question.
bool only_asks(std::span<const std::string> words, std::size_t index, bool asks);

// Words that stand for several terms: conn*, serch~, and words with a slip.

/// Most terms that one word may stand for; of more, those in the most entries.
inline constexpr std::size_t kExpansionsMax = 32;

/// The terms that start with `prefix`, in lower case; sorted.
/// Errors here and below: E_STORAGE_CORRUPT, as IndexPart::part_keys().
Result<std::vector<std::string>> terms_with_prefix(std::span<IndexedSession* const> sessions,
                                                   std::string_view prefix);

/// The terms that differ from `word`, or from its stem, by few letters but not by the first one:
/// that one is seldom mistyped, and without it all terms would have to be looked at. Sorted.
Result<std::vector<std::string>> terms_like(std::span<IndexedSession* const> sessions,
                                            Analyzer& analyzer, std::string_view word);

/// Most known terms that a word nobody knows may stand for.
inline constexpr std::size_t kSlipTermsMax = 3;

/// The terms of words that differ from `word` by one letter put in, left out, replaced or swapped,
/// but not by the first one; at most kSlipTermsMax, those in the most entries first. What the
/// dictionary holds are stems, so all that a slip in `word` can have made of another word is
/// stemmed and looked for: 400 words, 0.1 ms.
Result<std::vector<std::string>> terms_one_slip_from(std::span<IndexedSession* const> sessions,
                                                     Analyzer& analyzer, std::string_view word);

/// The stems of all words one letter from `word`, which is ASCII and in lower case; but not by the
/// first letter. Sorted, each once; empty for other words.
std::vector<std::string> stems_one_slip_from(Analyzer& analyzer, std::string_view word);

/// Finds whom a question names, in its words: "What did Caroline decide?", "What did I say?"
///
/// In a store of up to a dozen participants a participant's name is no word to look for but chooses
/// who speaks; in a larger one it is a word, and chooses only when it is capitalised and not the
/// first word. "I" and "you" stand for the roles user and assistant. Two people named: nobody is
/// chosen. (The measurements are in docs/how-it-works.md.)
class SpeakerFinder {
 public:
  explicit SpeakerFinder(std::span<IndexedSession* const> sessions);

  /// Looks at the next word of the question: its token, how it begins in the text, and whether it
  /// is the question's first. Returns whether the word is a name and nothing else.
  bool take(std::string_view token, bool capitalised, bool is_first);

  /// Whether a word, in lower case, is part of a participant's name.
  [[nodiscard]] bool is_name(std::string_view token) const { return parts_.contains(token); }

  /// Who was named by all words taken.
  [[nodiscard]] Speaker speaker() const;

 private:
  // By name, or first name, in lower case; empty where two share it.
  std::map<std::string, std::string, std::less<>> names_;
  std::set<std::string, std::less<>> parts_;  // Of all names, in lower case.
  std::size_t participant_count_ = 0;
  std::set<std::string> named_;
  bool has_roles_ = false;
  bool names_user_ = false;
  bool names_assistant_ = false;
};

// The postings of a question's terms, in all sessions.

/// Threads: one.
class TermPostings {
 public:
  /// Fills in `scope`, which must outlive it.
  explicit TermPostings(SearchScope& scope) : scope_(scope) {
    scope_.terms.resize(scope_.sessions.size());
  }

  /// The postings of the terms that came since the last call. Errors: E_QUERY_TIMEOUT; as
  /// IndexPart::part_postings().
  Status collect();
  /// Puts known terms beside words that nobody knows, with a note for each; in long prose there are
  /// enough words that somebody knows. Errors: as collect().
  Status add_slips(Analyzer& analyzer, std::vector<std::string>& notes);
  /// Leaves out the most frequent terms of long prose.
  void keep_rarest();

  /// Whether any entry holds any term.
  [[nodiscard]] bool any() const;

 private:
  SearchScope& scope_;
  std::size_t collected_ = 0;                        // Of the plan's terms.
  std::vector<std::shared_ptr<const void>> owners_;  // Of what was collected.
};

}  // namespace bmad_mem
