// text_match.hpp - how well texts match a question, found by reading all of them.
//
// BM25 (Robertson and Zaragoza 2009, k1 0.9, b 0.4) over words. A word of the question also matches
// longer words that start with it, from four letters on ("postgres" finds "PostgreSQL"), at 0.7 of
// the weight. The score is divided by the most that the question's words could reach, so it lies in
// [0,1] and does not depend on the other hits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/reports.hpp"

namespace bmad_mem {

/// A question, taken apart.
struct QueryWords {
  std::vector<std::string> words;  ///< Lower case, each once, in the order of the question.
};

/// The words of `text` that carry meaning; when there are only function words ("who is it"), those.
/// Errors: E_INVALID_QUERY when there is no word at all.
Result<QueryWords> parse_query(std::string_view text);

/// Collects texts, then scores them.
class TextMatcher {
 public:
  explicit TextMatcher(QueryWords query);

  /// Adds the next text; its number is the count of texts before it.
  void add(std::string_view text);

  /// The score of each text, in [0,1].
  [[nodiscard]] std::vector<double> scores() const;

 private:
  struct Counted {
    std::vector<double> frequencies;  // Of each query word.
    std::size_t length = 0;           // In words.
  };
  QueryWords query_;
  std::vector<Counted> texts_;
};

/// About `size_max` bytes of `text` around its first matches, on one line, with the matched words.
struct Snippet {
  std::string text;
  std::vector<Highlight> highlights;
};
Snippet make_snippet(const QueryWords& query, std::string_view text, std::size_t size_max = 200);

}  // namespace bmad_mem
