// query_parser.hpp - the text of a query to clauses and filters, with the places they came from.
//
//   postgres "connection pool" -hikari conn* serch~ type:decision since:7d
//   word     phrase            not     prefix fuzzy  filters
//
//   query    = { blank | item }
//   item     = [ "+" | "-" ] ( filter | phrase | word ) | "AND" | "OR" | "NOT"
//   filter   = name ":" value       name: type agent tag topic session since until is
//   value    = { character | quoted }                                    up to the next blank
//   phrase   = quoted
//   quoted   = '"' { any character but '"' and '\' | '\"' | '\\' } '"'
//   word     = character { character } [ "*" | "~" ]                     up to the next blank
//
// - Words are alternatives: the more of them an entry holds, the better. `+word` and a phrase must
//   be there, `-word` and `-"phrase"` must not. Filters must all hold; of several types, agents,
//   tags, topics or sessions, any one.
// - AND between two items requires both. OR is the default and passed over. NOT counts only behind
//   AND or OR (`a AND NOT b`), since "do NOT use x" is a sentence. At the edges all three are
//   words.
// - A sign in front of '-', '+', '=' or '>' belongs to the word: --force, ->, +=.
// - A colon makes a filter behind the names above only: std::string and http://x are words.
// - A backslash takes the meaning from a blank and from \ " - + * ~ : and is itself in front of
//   anything else (C:\Users). So do quotes.
// - Words are kept as written: the planner makes terms of them and finds out whether any are left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/query_time.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Longest text of a query, in bytes.
inline constexpr std::size_t kQuerySizeMax = 4096;

/// Most clauses and filters together.
inline constexpr std::size_t kQueryClausesMax = 64;

enum class ClauseKind : std::uint8_t {
  kWord,
  kPhrase,  ///< Verified against the text of the entries; always required or excluded.
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
  kPinned,  ///< is:pinned
};

struct QueryFilter {
  FilterField field = FilterField::kType;
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
};

/// Takes `text` apart. Empty and blank texts give a query without clauses, which finds by filters
/// only or not at all: whether that makes sense is for the caller to say.
/// Errors: E_INVALID_QUERY with field "text", a 1-based column and a remedy, for: more than
/// kQuerySizeMax bytes; NUL; invalid UTF-8; a quote that is not closed, quotes around nothing; a
/// sign or '*' without a word, '*' in front of one; a filter without value or with one that its
/// field does not take; an excluded time; more than kQueryClausesMax clauses; exclusions and
/// nothing to exclude them from; a `since:` after the `until:`, where both are fixed.
Result<ParsedQuery> parse_query_text(std::string_view text);

}  // namespace bmad_mem
