#include "rule_score.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <vector>

#include <re2/re2.h>

#include "knowledge_tables.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kStemSize = 5;  // The front of a longer word counts alone.
constexpr std::size_t kFirstWords = 3;

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
      int weight = 0;
      std::from_chars(line.data() + blank + 1, line.data() + line.size(), weight);
      return weight;
    }
    rest = order < 0 ? rest.substr(0, begin) : rest.substr(std::min(end + 1, rest.size()));
  }
  return 0;
}

/// The words of `plain`, each sign of Chinese and Japanese one; names and numbers are all alike.
std::vector<std::string> words_of(std::string_view plain) {
  static const RE2 kWord(
      "([\\x{3040}-\\x{30ff}\\x{4e00}-\\x{9fff}々〇])|"
      "([^ \\x{3040}-\\x{30ff}\\x{4e00}-\\x{9fff}々〇]+)");
  static const RE2 kKept("[a-z'\\x{80}-\\x{2fff}-]+|[,:?\"]");
  static const RE2 kLetter("[a-z]");
  static const RE2 kLatin("[a-z'-]+");
  std::vector<std::string> words;
  std::size_t wide = 0;
  re2::StringPiece rest(plain.data(), plain.size());
  for (std::string sign, word; RE2::FindAndConsume(&rest, kWord, &sign, &word);) {
    wide += sign.empty() ? 0 : 2;
    words.push_back(!sign.empty()                      ? sign
                    : RE2::FullMatch(word, kKept)      ? word
                    : RE2::PartialMatch(word, kLetter) ? "_"
                                                       : "9");
  }
  while (!words.empty() && words.back() == ",") {
    words.pop_back();
  }
  words.emplace_back("$");
  if (wide > words.size()) {
    for (std::string& word : words) {
      word = RE2::FullMatch(word, kLatin) ? "_" : word;
    }
    words.emplace_back();  // Signs in a row count, not two words apart.
  }
  return words;
}

}  // namespace

int rule_score(std::string_view plain) {
  std::vector<std::string> words = words_of(plain);
  const bool is_wide = words.back().empty();
  const std::size_t count = words.size() - (is_wide ? 1 : 0);
  words.resize(count + 3);
  std::set<std::string> features;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& word = words[i];
    const std::string pair = word + " " + words[i + 1];
    const std::string three = (is_wide ? pair : word + " *") + " " + words[i + 2];
    features.insert({word, pair, three});
    if (is_wide) {
      features.insert(three + " " + words[i + 3]);
    } else if (word.size() > kStemSize) {
      features.insert(word.substr(0, kStemSize) + "-");
    }
    if (i < kFirstWords) {
      features.insert("^" + word);
    }
  }
  int score = 0;
  for (const std::string& feature : features) {
    score += weight_of(feature);
  }
  return score / 2;
}

}  // namespace bmad_mem
