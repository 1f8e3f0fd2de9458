// query_scanner.hpp - the text of a query to items, one after the other; no item knows its
// neighbours. See query_parser.hpp for the grammar. And what is said about a query
// that is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "search/edit_matcher.hpp"
#include "search/query_parser.hpp"

namespace bmad_mem {

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
