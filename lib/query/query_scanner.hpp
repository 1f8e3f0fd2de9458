// query_scanner.hpp - the text of a query to items, one after the other; no item knows its
// neighbours. See query/query_parser.hpp for the grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "query/query_parser.hpp"

namespace bmad_mem {

/// What an item may stand for besides a clause.
enum class QueryOperator : std::uint8_t { kNone, kAnd, kOr, kNot };

/// A clause, a filter, or a word that is an operator when its neighbours allow.
struct QueryItem {
  QueryOperator op = QueryOperator::kNone;
  QueryClause clause;                 ///< Also for an operator: the word it is otherwise.
  std::optional<QueryFilter> filter;  ///< If set, there is no clause.

  [[nodiscard]] std::size_t offset() const { return filter ? filter->offset : clause.offset; }
  [[nodiscard]] std::size_t size() const { return filter ? filter->size : clause.size; }
  [[nodiscard]] bool excluded() const { return filter ? filter->excluded : clause.excluded; }
};

class QueryScanner {
 public:
  /// `text` is valid UTF-8 and outlives the scanner.
  explicit QueryScanner(std::string_view text) : text_(text) {}

  /// Whether another item follows; skips the blanks in front of it.
  bool has_next();

  /// The next item. Errors: as parse_query_text() has them for a single item.
  Result<QueryItem> next();

 private:
  enum class Sign : std::uint8_t { kNone, kRequired, kExcluded };

  /// Text without quotes and escapes, and what it ended in.
  struct Decoded {
    std::string text;
    char tail = '\0';  // The last character, if nothing took its meaning from it.
  };

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool at_end() const;

  Result<Sign> read_sign();
  Result<QueryItem> read_filter(FilterField field, std::size_t value_offset, Sign sign);
  Result<QueryItem> read_phrase(Sign sign);
  Result<QueryItem> read_word(Sign sign);
  Result<std::string> read_quoted();
  Result<std::string> read_value();
  void read_character(Decoded& out);
  Status finish_value(QueryFilter& filter, std::size_t value_offset) const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;  // Of the item that is being read.
};

}  // namespace bmad_mem
