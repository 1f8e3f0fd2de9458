// query_parser.hpp - the text of a query to clauses and filters, with the places they came from;
// and a question made of them and of the filters beside it.
//
//   postgres "connection pool" -hikari conn* serch~ type:decision since:7d
//   word     phrase            not     prefix fuzzy  filters
//
//   query    = { blank | item }
//   item     = [ "+" | "-" ] ( filter | phrase | word ) | "AND" | "OR" | "NOT"
//   filter   = name ":" value       name: kFilterNames, or a field of model/filter_fields.hpp
//   value    = { character | quoted }                                    up to the next blank
//   phrase   = quoted
//   quoted   = '"' { any character but '"' and '\' | '\"' | '\\' } '"'
//   word     = character { character } [ "*" | "~" ]                     up to the next blank
//
// - Words are alternatives: the more of them an entry holds, the better. A phrase is wanted more
//   than its words. `+word` and `+"phrase"` must be there, `-word` and `-"phrase"` must not.
//   Filters must all hold; of several types, agents, tags, topics, sessions, or values of one
//   field, any one.
// - AND between two items requires both. OR is the default and passed over. NOT counts only behind
//   AND or OR (`a AND NOT b`), since "do NOT use x" is a sentence. At the edges all three are
//   words.
// - Whatever else the signs are in is words, and told as such: signs that stand alone, patterns of
//   names (*.tmp), options (-O2), quotes that aren't closed, `type:` without a value, exclusions
//   from nothing, and the signs + and - in a text that reads like a sentence. A sign in front of
//   '-', '+', '=' or '>' belongs to the word: --force, ->, +=.
// - A colon makes a filter behind known names only: std::string and http://x are words. A name
//   that is nearly a known one is refused, and so is an unknown one where all items are filters.
// - A backslash takes the meaning from a blank and from \ " - + * ~ : and is itself in front of
//   anything else (C:\Users). So do quotes.
// - Words are kept as written: the planner makes terms of them and finds out whether any are left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/query_time.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Longest text of a query, in bytes.
inline constexpr std::size_t kQuerySizeMax = std::size_t{1} << 20U;
/// Longest JSON query, in bytes: thousands of sessions can be named.
inline constexpr std::size_t kJsonQuerySizeMax = std::size_t{1} << 20U;

/// A longer text is prose, in bytes: nobody writes such a query by hand.
inline constexpr std::size_t kQueryLanguageSizeMax = 4096;

/// Of a text with more clauses, all are words.
inline constexpr std::size_t kQueryClausesMax = 64;

enum class ClauseKind : std::uint8_t {
  kWord,
  kPhrase,  ///< Neither required nor excluded: what holds it is preferred.
  kPrefix,  ///< `text` without its '*'.
  kFuzzy,   ///< `text` without its '~'; see fuzzy_bound() for how far off.
};

struct QueryClause {
  ClauseKind kind = ClauseKind::kWord;
  std::string text;        ///< Without sign, quotes and escapes; case kept; never empty.
  std::size_t offset = 0;  ///< Of the whole clause in the query, sign and quotes included.
  std::size_t size = 0;    ///< In bytes.
  bool required = false;   ///< Never together with `excluded`.
  bool excluded = false;
  bool by_operator = false;  ///< AND requires it: in prose that may not be meant.

  bool operator==(const QueryClause&) const = default;
};

enum class FilterField : std::uint8_t {
  kType,
  kAgent,
  kTag,
  kTopic,
  kSession,
  kSince,
  kUntil,
  kPinned,    ///< is:pinned
  kArchived,  ///< archived:no, archived:only, archived:yes
  kField,     ///< A field of the entry, see model/filter_fields.hpp.
};

/// What `archived:` takes, with the choice that it stands for.
std::optional<ArchivedSessions> try_parse_archived(std::string_view value);

/// What the fields but kField are called in a query, in the order of the enum.
inline constexpr std::array<std::string_view, 9> kFilterNames = {
    "type", "agent", "tag", "topic", "session", "since", "until", "is", "archived"};

struct QueryFilter {
  FilterField field = FilterField::kType;
  std::string name;               ///< As written in front of the colon.
  std::string value;              ///< As written, without quotes and escapes; never empty.
  std::optional<EntryType> type;  ///< For kType.
  std::optional<QueryTime> time;  ///< For kSince and kUntil; inclusive.
  std::size_t offset = 0;         ///< Of the whole filter in the query, sign included.
  std::size_t size = 0;           ///< In bytes.
  bool excluded = false;          ///< `-tag:x`; never for kSince and kUntil.

  bool operator==(const QueryFilter&) const = default;
};

struct ParsedQuery {
  std::vector<QueryClause> clauses;  ///< In the order of the text.
  std::vector<QueryFilter> filters;  ///< In the order of the text.
  /// The text with filters, excluded clauses and the words AND, OR, NOT blanked out: what dates and
  /// names are looked for in. Same size as the text, so offsets agree.
  std::string prose;
  std::vector<ProseReading> as_prose;  ///< What looked like more than words, in that order.
  std::vector<std::string> notes;      ///< A sentence for each, and for bytes that are no text.
};

/// Takes `text` apart. Empty and blank texts give a query without clauses, which finds by filters
/// only or not at all: whether that makes sense is for the caller to say. NUL and bytes that are no
/// UTF-8 count as blanks. `is_filtered`: the caller has filters besides, so that `-word` alone
/// excludes from what they leave.
/// Errors: E_INVALID_QUERY with field "text", a 1-based column and a remedy: more than
/// kQuerySizeMax bytes; and, unless the text reads like a sentence, a filter whose value its field
/// does not take or whose field there isn't, an excluded time, and a `since:` after the `until:`,
/// where both are fixed.
Result<ParsedQuery> parse_query_text(std::string_view text, bool is_filtered = false);

// A query as the engine works with it: text taken apart, filters put together.
//
//   'why postgres -mysql type:decision since:7d'  +  Query::filter
//        clauses: why postgres -mysql       filter: types {decision}, since …     prose: for dates

struct Question {
  std::vector<QueryClause> clauses;
  std::string prose;                    ///< What dates and names are looked for in.
  EntryFilter filter;                   ///< Of the query and of its text.
  std::vector<std::string> topics;      ///< Any of them; empty: all.
  std::vector<QueryFilter> exclusions;  ///< -type:x and its like; those of fields are in `filter`.
  std::vector<ProseReading> as_prose;   ///< As ParsedQuery has them; so for the next.
  std::vector<std::string> notes;
};

/// E_INVALID_QUERY for a time range that ends before it begins.
Status check_time_range(const EntryFilter& filter);

/// Takes `query` apart; `now` is what its relative times count from.
/// Errors: E_INVALID_QUERY, as parse_query_text() and check_fields(); for a time range that ends
/// before it begins; for a query that says nothing at all.
Result<Question> read_question(const Query& query, Timestamp now);

}  // namespace bmad_mem
