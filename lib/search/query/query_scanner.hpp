// query_scanner.hpp - the text of a query to items, one after the other; no item knows its
// neighbours. And what is said about a query that is refused.
//
//   postgres "connection pool" -hikari conn* serch~ type:decision since:7d
//   word     phrase            not     prefix fuzzy  filters
//
//   query    = { blank | item }
//   item     = [ "+" | "-" ] ( filter | phrase | word ) | "AND" | "OR" | "NOT"
//   filter   = name ":" value       name: kFilterNames, or a field of model/field.hpp
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

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "search/edit_matcher.hpp"

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
  kFuzzy,   ///< `text` without its '~'; see EditMatcher for how far off.
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
  kField,     ///< A field of the entry, see model/field.hpp.
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

/// What an item may stand for besides a clause.
enum class QueryOperator : std::uint8_t { kNone, kAnd, kOr, kNot };

/// A clause, a filter, or a word that is an operator when its neighbours allow.
struct QueryItem {
  QueryOperator op = QueryOperator::kNone;
  QueryClause clause;                 ///< Also for an operator: the word it is otherwise.
  std::optional<QueryFilter> filter;  ///< If set, there is no clause.
  std::string_view why;               ///< Why it is read as words, where it looks like more.
  std::string_view unknown_field;     ///< Of what looks like a filter, but on no field there is.

  [[nodiscard]] std::size_t offset() const { return filter ? filter->offset : clause.offset; }
  [[nodiscard]] std::size_t size() const { return filter ? filter->size : clause.size; }
  [[nodiscard]] bool excluded() const { return filter ? filter->excluded : clause.excluded; }
  [[nodiscard]] bool is_operand() const { return op == QueryOperator::kNone; }
};

// Reasons why an item is read as words.
inline constexpr std::string_view kReadsLikeSentence = "the text reads like a sentence";
inline constexpr std::string_view kLooksLikeOption = "it looks like an option";
inline constexpr std::string_view kLooksLikePattern = "it looks like a pattern of names";

/// Whether `text` asks or tells, and so means no signs: a word ends in '?', or at least three words
/// outside of quotes are stop words.
bool reads_like_sentence(std::string_view text);

/// Makes `item` of `text` the words as they were written.
void read_as_words(QueryItem& item, std::string_view text, std::string_view why);

class QueryScanner {
 public:
  /// `text` is valid UTF-8 and outlives the scanner and its items.
  QueryScanner(std::string_view text, bool is_sentence) : text_(text), is_sentence_(is_sentence) {}

  /// Whether another item follows; skips the blanks in front of it.
  bool has_next();

  /// The next item. Errors: a filter with a value that its field does not take.
  Result<QueryItem> next();

 private:
  enum class Sign : std::uint8_t { kNone, kRequired, kExcluded };

  /// Text without quotes and escapes, and what is known of it.
  struct Decoded {
    std::string text;
    char tail = '\0';       // The last character, if nothing took its meaning from it.
    bool has_star = false;  // One that means what it is.
  };

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool at_end() const;

  Sign read_sign();
  /// Nothing, with `why` set, when it is no filter but words.
  Result<std::optional<QueryFilter>> read_filter(std::string_view name, Sign sign,
                                                 std::string_view& why);
  QueryItem read_phrase(Sign sign);
  QueryItem read_word(Sign sign);
  /// From the beginning of the item to the next blank, or to where it was read already.
  QueryItem read_plain(std::string_view why);
  /// Nothing when the quote is not closed.
  std::optional<std::string> read_quoted();
  std::optional<std::string> read_value();
  void read_character(Decoded& out);
  [[nodiscard]] std::string_view unknown_field_at(std::string_view name) const;
  Status finish_value(QueryFilter& filter, std::size_t value_offset) const;

  std::string_view text_;
  bool is_sentence_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;  // Of the item that is being read.
};

/// Size of the blank at `offset` of `text`, or 0 when there is none: ASCII blanks and line breaks,
/// and the blanks of Unicode. Any bytes will do; `offset` may be at the end.
std::size_t blank_size(std::string_view text, std::size_t offset);

// What the parsers say about a query that they refuse.

/// E_INVALID_QUERY about the byte at `offset` of a query's text.
Error query_error(std::size_t offset, std::string message);

/// `text` with a blank for each character that breaks a line, steers a terminal or turns the
/// writing direction around, and U+FFFD for what is not UTF-8.
std::string printable_text(std::string_view text);

/// As much of printable_text() as a message quotes: at most 40 characters, and "…" when there was
/// more.
std::string quoted_part(std::string_view text);

/// "; did you mean X?" for the one of `known` that is nearest to `word`, or nothing.
template <typename Words>
std::string did_you_mean(std::string_view word, const Words& known) {
  const EditMatcher matcher(word);
  std::size_t nearest_distance = kEditBoundMax + 1;
  std::string_view nearest;
  for (const std::string_view each : known) {
    const std::size_t distance = matcher.distance(each);
    if (distance <= matcher.bound() && distance < nearest_distance) {
      nearest_distance = distance;
      nearest = each;
    }
  }
  return nearest.empty() ? std::string() : "; did you mean " + std::string(nearest) + "?";
}

}  // namespace bmad_mem
