#include "sentence_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

/// `text` with the apostrophes, quotation marks and dashes that typewriters had.
std::string plain(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFancy = {
      {{"\u2019", "'"},
       {"\u2018", "'"},
       {"\u201c", "\""},
       {"\u201d", "\""},
       {"\u2014", " - "},
       {"\u2013", " - "}}};
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto* const found = std::ranges::find_if(
        kFancy, [&](const auto& each) { return text.substr(at).starts_with(each.first); });
    if (found != kFancy.end()) {
      out += found->second;
      at += found->first.size();
    } else {
      out += to_lower(text[at++]);
    }
  }
  return out;
}

/// Tells for one word after the other whether it is quoted.
class QuoteTracker {
 public:
  explicit QuoteTracker(std::string_view sentence)
      : double_quotes_pair_(std::ranges::count(sentence, '"') % 2 == 0) {}

  bool is_quoted(std::string_view word, std::string_view rest) {
    const bool was_in = in_double_ || in_code_ || in_single_;
    const bool opens_single = !in_single_ && word.size() > 1 && word.front() == '\'' &&
                              (ends_single(word.substr(1)) || closes_single(rest));
    in_single_ = in_single_ || opens_single;
    const bool quoted = was_in || opens_single || word.starts_with('`') ||
                        (double_quotes_pair_ && word.starts_with('"'));
    in_code_ = in_code_ != (std::ranges::count(word, '`') % 2 == 1);
    in_double_ = in_double_ != (double_quotes_pair_ && std::ranges::count(word, '"') % 2 == 1);
    in_single_ = in_single_ && !ends_single(opens_single ? word.substr(1) : word);
    return quoted;
  }

 private:
  static bool ends_single(std::string_view word) {
    const std::size_t last = word.find_last_not_of(".,;:!?)");
    return last != std::string_view::npos && word[last] == '\'';
  }
  static bool closes_single(std::string_view rest) {
    for (const std::string_view end : {"' ", "'.", "',", "'!", "'?", "')"}) {
      if (rest.contains(end)) {
        return true;
      }
    }
    return rest.ends_with('\'');
  }

  bool double_quotes_pair_;
  bool in_double_ = false;
  bool in_single_ = false;
  bool in_code_ = false;
};

}  // namespace

std::vector<SentenceWord> sentence_words(std::string_view sentence) {
  const std::string text = plain(sentence);
  std::vector<SentenceWord> words;
  QuoteTracker quotes(text);
  bool begins_clause = true;
  for (std::size_t at = 0; at < text.size() && words.size() < kSentenceWordsMax;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view raw = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (raw.empty()) {
      continue;
    }
    const std::string_view rest = at < text.size() ? std::string_view(text).substr(at) : "";
    const bool quoted = quotes.is_quoted(raw, rest);
    const std::size_t first = raw.find_first_not_of("([{*_\"'`-.,;:!?)}]>~");
    if (first == std::string_view::npos) {  // A dash, an arrow, a row of dots.
      begins_clause = true;
      if (!words.empty()) {
        words.back().ends_clause = true;
      }
      continue;
    }
    const std::size_t last = raw.find_last_not_of(")]}*_\"'`-.,;:!?>~");
    const std::string_view around = raw.substr(last + 1);
    const bool ends = around.find_first_of(",;:!?)].") != std::string_view::npos;
    words.push_back(
        {.text = quoted ? std::string() : std::string(raw.substr(first, last + 1 - first)),
         .begins_clause =
             begins_clause || raw.substr(0, first).find_first_of("([") != std::string_view::npos,
         .ends_clause = ends});
    begins_clause = ends;
  }
  return words;
}

}  // namespace bmad_mem
