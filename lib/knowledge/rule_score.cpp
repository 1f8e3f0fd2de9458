#include "rule_score.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include <re2/re2.h>

#include "knowledge_tables.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kStemSize = 5;  // The front of a longer word counts alone.
constexpr std::size_t kFirstWords = 3;
constexpr std::size_t kClassWords = 4;

/// Twenty times the weight of `feature`. A line of a table is "FEATURE WEIGHT", in the order of the
/// bytes of the features.
int weight_of(std::string_view feature) {
  const auto blanks = std::ranges::count(feature, ' ');
  std::string_view rest = blanks == 0 ? kWordsTable : blanks == 1 ? kPairsTable : kRowsTable;
  while (!rest.empty()) {
    const std::size_t half = rest.size() / 2;
    const std::size_t begin = half == 0 ? 0 : rest.rfind('\n', half - 1) + 1;
    const std::size_t end = std::min(rest.find('\n', half), rest.size());
    const std::string_view line = rest.substr(begin, end - begin);
    const std::size_t blank = std::min(line.rfind(' '), line.size());
    const auto order = feature <=> line.substr(0, blank);
    if (order == 0) {
      return std::atoi(line.data() + blank + 1);  // A newline ends it.
    }
    rest = order < 0 ? rest.substr(0, begin) : rest.substr(std::min(end + 1, rest.size()));
  }
  return 0;
}

/// The words of `plain`, each sign of Chinese and Japanese one; names and numbers are all alike.
std::vector<std::string> words_of(std::string_view plain) {
  static const RE2 kWord(
      "([\\x{3040}-\\x{30ff}\\x{4e00}-\\x{9fff}々〇]|"
      "[^ \\x{3040}-\\x{30ff}\\x{4e00}-\\x{9fff}々〇]+)");
  static const RE2 kKept("[a-z'\\x{80}-\\x{2fff}-]+|[々〇\\x{3040}-\\x{9fff},:?\"]");
  static const RE2 kLetter("[a-z]");
  std::vector<std::string> words;
  re2::StringPiece rest(plain.data(), plain.size());
  for (std::string word; RE2::FindAndConsume(&rest, kWord, &word);) {
    words.push_back(RE2::FullMatch(word, kKept)        ? word
                    : RE2::PartialMatch(word, kLetter) ? "_"
                                                       : "9");
  }
  return words;
}

/// The class of each of `words`, or of up to four in a row: words of a class mean the same for a
/// rule, in any language. Those without one, however many, are of class 0.
std::vector<std::string> classes_of(const std::vector<std::string>& words) {
  std::vector<std::string> classes;
  for (std::size_t i = 0, count = 0; i < words.size(); i += count) {
    int number = 0;
    for (count = kClassWords + 1; number == 0 && count > 1;) {
      const auto row = words | std::views::drop(i) | std::views::take(--count);
      number = weight_of(std::accumulate(row.begin(), row.end(), std::string("@")));
    }
    if (number != 0 || classes.empty() || classes.back() != "=0") {
      classes.push_back("=" + std::to_string(number));
    }
  }
  return classes;
}

/// Of each word, alone and with those after it, what the tables may have.
void add_features(std::vector<std::string> words, std::set<std::string>& features) {
  const std::size_t count = words.size();
  words.resize(count + 2);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& word = words[i];
    const std::string pair = word + " " + words[i + 1];
    features.insert({word, pair, pair + " " + words[i + 2]});
    if (word.size() > kStemSize) {
      features.insert(word.substr(0, kStemSize) + "-");
    }
    if (i < kFirstWords) {
      features.insert("^" + word);
    }
  }
}

}  // namespace

int rule_score(std::string_view plain) {
  const std::vector<std::string> words = words_of(plain);
  const std::vector<std::string> classes = classes_of(words);
  std::set<std::string> features;
  add_features(words, features);
  add_features(classes, features);
  const std::set<std::string> different(classes.begin(), classes.end());
  for (auto a = different.begin(); a != different.end(); ++a) {
    for (auto b = std::next(a); b != different.end(); ++b) {
      features.insert(*a + "&" + *b);
    }
  }
  int score = 0;
  for (const std::string& feature : features) {
    score += weight_of(feature);
  }
  return score / 2;
}

}  // namespace bmad_mem
