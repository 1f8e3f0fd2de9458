#include "rule_score.hpp"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <re2/re2.h>

#include "rule_tables.hpp"

namespace bmad_mem {
namespace {

using Weights = std::unordered_map<std::string_view, int>;

Weights read_weights() {
  Weights weights;
  for (const auto line : std::views::split(kWeightsTable, '\n')) {
    const std::string_view text(line);
    const std::size_t blank = std::min(text.find(' '), text.size());
    int weight = 0;
    std::from_chars(text.data(), text.data() + blank, weight);
    weights.emplace(text.substr(std::min(blank + 1, text.size())), weight);
  }
  return weights;
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
    words.emplace_back();  // Three signs in a row count, not two words apart.
  }
  return words;
}

}  // namespace

int rule_score(std::string_view plain) {
  static const Weights kWeights = read_weights();
  std::vector<std::string> words = words_of(plain);
  const bool is_wide = words.back().empty();
  words.resize(words.size() + (is_wide ? 1 : 2));
  std::set<std::string> features;
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    const std::string pair = words[i] + " " + words[i + 1];
    features.insert({words[i], pair, (is_wide ? pair : words[i] + " *") + " " + words[i + 2]});
  }
  int score = 0;
  for (const std::string& feature : features) {
    const auto weight = kWeights.find(feature);
    score += weight == kWeights.end() ? 0 : weight->second;
  }
  return score;
}

}  // namespace bmad_mem
