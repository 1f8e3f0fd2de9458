#include "rule_language.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "bmad_mem/text.hpp"
#include "knowledge_tables.hpp"
#include "model/statement.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {
namespace {

// How much the words of a sentence speak for a rule, in any language.
//
// Weights of words, of two and three words in a row, of the fronts of words and of the first words
// of a sentence, in rules/{words,pairs,rows}.txt: learned from the sentences of
// tests/knowledge/fixtures/stated_rules_*.tsv by tests/knowledge/rule_weights.py, which has the
// same features.
//
//   always use pnpm ,   immer pnpm nehmen ,
//     =1   =45 =71 =63    =1   =71  =45  =63     the classes
//
// A class has the words that mean the same for a rule, in any language: "@WORD NUMBER" in
// words.txt, from tests/knowledge/fixtures/word_classes.txt. Classes in a row, and any two of a
// sentence ("=1&=45"), have weights as words do: what is learned of one language serves the others.
// Of 60 rules not seen 46 are found with them, and 39 without. Small weights of words count:
// without those below 0.2 ten rules of a hundred less are found.

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

/// Ten times the logarithm of the odds that `plain` is a rule: a sentence in lower case without
/// accents, with ',' where a clause ends.
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

/// A line of the table.
struct TableLine {
  std::string_view kind;
  std::string_view by;
  std::string_view pattern;
};

/// Made on first use: all of them take as long as the rest of a prompt's hook.
const RE2& regex_of(std::string_view pattern) {
  static std::mutex mutex;
  static std::map<std::string_view, RE2> regexes;
  const std::scoped_lock lock(mutex);
  const RE2& regex = regexes.try_emplace(pattern, pattern).first->second;
  assert(regex.ok());
  return regex;
}

/// `text` in two parts, before and after the first `apart`.
std::pair<std::string_view, std::string_view> parted(std::string_view text,
                                                     std::string_view apart) {
  const std::size_t at = std::min(text.find(apart), text.size());
  return {text.substr(0, at), text.substr(std::min(at + apart.size(), text.size()))};
}

const std::vector<TableLine>& table_lines() {
  static const std::vector<TableLine> kLines = [] {
    std::vector<TableLine> lines;
    for (const auto line : std::views::split(kSentencesTable, '\n')) {
      const auto [kind, rest] = parted(std::string_view(line), " ");
      const auto [pattern, by] = parted(rest, " => ");
      lines.push_back({.kind = kind, .by = by, .pattern = pattern});
    }
    return lines;
  }();
  return kLines;
}

/// `text` as the tables have it: lower case, what is quoted left out, clauses apart.
std::string plain(std::string_view text) {
  std::string small = fold_accents(text);
  std::ranges::transform(small, small.begin(), to_lower);
  for (const TableLine& line : table_lines()) {
    if (line.kind == "change") {
      RE2::GlobalReplace(&small, regex_of(line.pattern), line.by);
    }
  }
  return fmt::format(", {} , ", trimmed(small, " ,"));
}

bool fits(std::string_view kind, const std::string& text) {
  return std::ranges::any_of(table_lines(), [&](const TableLine& line) {
    return line.kind == kind && RE2::PartialMatch(text, regex_of(line.pattern));
  });
}

}  // namespace

std::optional<StatedRule> stated_rule(std::string_view sentence) {
  const std::string text = plain(sentence);
  const int score = rule_score(text);
  constexpr int kScoreMin = 8;  // Of 60 rules and 60 look-alikes not seen, 42 and 2 reach it.
  if (score < kScoreMin || fits("no", text)) {
    return std::nullopt;
  }
  const auto line = std::ranges::find_if(table_lines(), [&](const TableLine& each) {
    return stored_category(each.kind) && RE2::PartialMatch(text, regex_of(each.pattern));
  });
  constexpr int kScoreMax = 28;
  return StatedRule{.category = line == table_lines().end() ? Category::kConstraint
                                                            : *stored_category(line->kind),
                    .confidence = (52 + std::min(score, kScoreMax)) / 100.0};
}

bool takes_back(std::string_view sentence) { return fits("back", plain(sentence)); }

bool is_own_lead(std::string_view head) {
  constexpr std::size_t kSizeMax = 80;
  return head.size() <= kSizeMax && fits("own", plain(head));
}

}  // namespace bmad_mem
