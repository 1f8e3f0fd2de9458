// rule_language.cpp - decides which sentences state a rule, and which rules a prompt calls for.
//
//   sentence --changes of sentences.txt--> plain text --rule_score()--> score: a rule, or none
//
// A line of rules/sentences.txt is one of these; patterns are of RE2, in lower case without
// accents:
//
//   change PATTERN => TEXT   in this order
//   no PATTERN               no rule is in the sentence, in any words
//   back PATTERN             it takes back what was said before it, and states nothing
//   own PATTERN              what stands before a colon says that the speaker's own words follow
//   CATEGORY PATTERN         the category of a rule, by the first that fits; else constraint
//
//   "We use snake_case for columns."   columns, snake_case, and column's subject: table, migration
//   … "write a migration for the users"  migration: the same subject
//
// A rule needs no hit of a search: "add the dayjs package" and "always pnpm" have no word in
// common. Words are compared by their stems, in all languages at once; subjects are the lines of
// rules/subjects.txt. Words of any work ("file", "use") alone don't call for a rule.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "bmad_mem/text.hpp"
#include "knowledge_tables.hpp"
#include "model/statement.hpp"
#include "preference_detector.hpp"
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
      assert(blank < line.size() && "a weight is after the feature");
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
    assert(count > 0 && "each step moves on");
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

constexpr std::array<std::string_view, 4> kStemmers = {"english", "german", "french", "spanish"};

using Terms = std::set<std::string, std::less<>>;

bool shares(const Terms& a, const Terms& b) {
  return std::ranges::any_of(a, [&](const std::string& term) { return b.contains(term); });
}

/// The front of `word`, in lower case, that it shares with all forms of it.
std::string_view front_of(std::string_view word) {
  constexpr std::size_t kFrontSize = 3;
  return word.substr(0, std::min(kFrontSize, std::max<std::size_t>(word.size(), 3) - 1));
}

/// A line of the table that a text names.
struct RuleSubject {
  Terms stems = {};
  std::vector<std::string> wide = {};  // Of Chinese and Japanese: wherever a text has them.
  bool is_weak = false;
  bool is_making = false;

  [[nodiscard]] bool has(const Terms& word) const {
    assert(!word.empty());
    const std::string& whole = *word.rbegin();  // After its stems, which have a digit before them.
    return shares(word, stems) || std::ranges::any_of(stems, [&](const std::string& part) {
             return part.size() >= kPartSizeMin && whole.size() > part.size() + 2 &&
                    (whole.starts_with(part) || whole.ends_with(part));
           });
  }
  [[nodiscard]] bool is_in(std::string_view text) const {
    return std::ranges::any_of(wide, [&](auto& word) { return text.contains(word); });
  }

  /// A long word may also be a part of another: "Datumswert", "Kundentabelle".
  static constexpr std::size_t kPartSizeMin = 5;
};

/// What a text, a prompt or a rule, is about. Of the table only the words that it may have are
/// stemmed: all of them would take four times as long as the rest of a prompt's hook.
class Triggers {
 public:
  explicit Triggers(std::string_view text) {
    for (const std::string_view language : kStemmers) {
      if (Result<Analyzer> analyzer = Analyzer::create(language)) {
        analyzers_.push_back(*std::move(analyzer));
      }
    }
    for_each_word(std::string(text), [&](Terms& stems) {
      fronts_.emplace(front_of(*stems.rbegin()));
      words_.push_back(std::move(stems));
    });
    for (const auto line : std::views::split(kSubjectsTable, '\n')) {
      take(std::string_view(line), text);
    }
    for (const Terms& word : words_) {
      if (!is_of_any_work(word)) {
        named_.insert(word.begin(), word.end());
      }
    }
    makes_ = std::ranges::any_of(subjects_, &RuleSubject::is_making);
  }

  /// How much of what `rule` is about the text names: 2 for a word or a subject, 1 for a subject of
  /// nearly any work.
  std::size_t match(std::string_view rule) {
    std::size_t match = 0;
    std::vector<bool> is_of(subjects_.size());
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      is_of[i] = subjects_[i].is_in(rule);
    }
    for_each_word(std::string(rule), [&](const Terms& word) {
      match += shares(word, named_) ? 2 : 0;
      for (std::size_t i = 0; i < subjects_.size(); ++i) {
        is_of[i] = is_of[i] || subjects_[i].has(word);
      }
    });
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      if (is_of[i] && !subjects_[i].is_making) {
        match += subjects_[i].is_weak && !makes_ ? 1 : 2;
      }
    }
    return match;
  }

  /// As rule_key(), of the text.
  [[nodiscard]] std::string key() const {
    std::string key;
    Terms others;
    for (const Terms& word : words_) {
      const auto value = values_.find(*word.rbegin());
      const bool is_any = shares(word, any_) || std::ranges::any_of(subjects_, [&](auto& subject) {
                            return subject.is_making && shares(word, subject.stems);
                          });
      if (value != values_.end()) {
        key = key.empty() ? value->second : key;
      } else if (!is_any) {
        others.insert(word.begin()->substr(1));
      }
    }
    if (!key.empty()) {
      std::ranges::for_each(others, [&](const std::string& each) { key += "_" + each; });
    }
    return key;
  }

 private:
  void take(std::string_view line, std::string_view text) {
    const std::string_view kind = line.substr(0, line.find(' '));
    auto words = std::views::split(line, ' ');
    if (kind == "oneof") {
      for (const auto word : words | std::views::drop(2)) {
        values_.emplace(std::string_view(word),
                        std::string_view(*std::ranges::next(words.begin(), 1)));
      }
      return;
    }
    if (kind == "any") {
      add_stems(line, [&](auto word) { return may_have(word); }, any_);
      return;
    }
    RuleSubject subject{.is_weak = kind == "weak", .is_making = kind == "make"};
    for (const auto word : words) {
      if (is_wide(std::string_view(word))) {
        subject.wide.emplace_back(std::string_view(word));
      }
    }
    if (subject.is_weak || subject.is_making) {
      add_stems(line, [&](auto word) { return is_wide(word) && may_have(word); }, any_);
    }
    add_stems(line, [&](auto word) { return !is_wide(word) && may_have(word); }, subject.stems);
    if (subject.is_in(text) ||
        std::ranges::any_of(words_, [&](auto& word) { return subject.has(word); })) {
      add_stems(line, [](auto word) { return !is_wide(word); }, subject.stems);
      subjects_.push_back(std::move(subject));
    }
  }

  static bool is_wide(std::string_view word) {
    return !word.empty() && static_cast<unsigned char>(word.front()) > 0xE2U;
  }

  /// Whether a word of the text may be a form of `word`, or have it as a part.
  [[nodiscard]] bool may_have(std::string_view word) const {
    if (is_wide(word)) {
      return std::ranges::any_of(words_, [&](auto& its) { return word.contains(*its.rbegin()); });
    }
    const std::string plain = fold_accents(word);
    const std::string_view part = std::string_view(plain).substr(0, RuleSubject::kPartSizeMin - 1);
    return fronts_.contains(front_of(plain)) ||
           (plain.size() >= RuleSubject::kPartSizeMin &&
            std::ranges::any_of(words_, [&](auto& its) { return its.rbegin()->contains(part); }));
  }

  void add_stems(std::string_view line, const auto& wanted, Terms& stems) {
    for (const auto word : std::views::split(line, ' ')) {
      if (wanted(std::string_view(word))) {
        for_each_word(std::string(std::string_view(word)), [&](Terms& its) { stems.merge(its); });
      }
    }
  }

  [[nodiscard]] bool is_of_any_work(const Terms& word) const {
    return shares(word, any_) || std::ranges::any_of(subjects_, [&](auto& subject) {
             return (subject.is_weak || subject.is_making) && subject.has(word);
           });
  }

  /// Calls `take(stems)` for each word of `text` that is no function word: its stems in all
  /// languages, as its own is not known, and itself. The parts of a name count only where it is a
  /// path.
  template <typename Take>
  void for_each_word(std::string text, const Take& take) {
    std::ranges::replace(text, '\'', ' ');  // "d'import"
    std::vector<std::pair<std::string, bool>> words;
    std::size_t whole_end = 0;
    assert(!analyzers_.empty() && "each of these stemmers is built in");
    for (const Token& token : analyzers_.front().tokenize(text)) {
      if (token.offset >= whole_end) {
        words.emplace_back(token.text, token.whole);
        const bool is_path = token.text.find_first_of("/.") != std::string_view::npos;
        whole_end = token.whole && !is_path ? token.offset + token.size : whole_end;
      }
    }
    for (const auto& [word, is_whole] : words) {
      static const RE2 kNoWord(".*\\p{Hiragana}.*|[0-9]+");  // Grammar of Japanese; a number.
      const auto is_function_word = [&](auto language) { return is_stop_word(word, language); };
      if (std::ranges::any_of(kStemmers, is_function_word) || RE2::FullMatch(word, kNoWord)) {
        continue;
      }
      Terms stems = {fold_accents(word)};
      for (std::size_t i = 0; i < analyzers_.size(); ++i) {
        stems.insert(std::to_string(i) + std::string(analyzers_[i].term(word, is_whole)));
      }
      take(stems);
    }
  }

  std::vector<Analyzer> analyzers_;
  std::vector<Terms> words_;           // The stems of each word of the text.
  Terms fronts_;                       // Of the words.
  Terms any_;                          // Of words of any work, as far as the text may have them.
  Terms named_;                        // The stems of all others.
  std::vector<RuleSubject> subjects_;  // That the text names.
  std::map<std::string, std::string, std::less<>> values_;  // Of each the name of its list.
  bool makes_ = false;
};

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
  assert(score >= kScoreMin);
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

std::string rule_key(std::string_view rule) { return Triggers(rule).key(); }

std::vector<const KnowledgeItem*> triggered_rules(std::span<const KnowledgeItem* const> rules,
                                                  std::string_view prompt) {
  constexpr std::size_t kMatchMin = 2;
  std::vector<const KnowledgeItem*> triggered;
  if (rules.empty()) {
    return triggered;
  }
  Triggers triggers(prompt);
  std::vector<std::pair<std::size_t, const KnowledgeItem*>> matches;
  for (const KnowledgeItem* const rule : rules) {
    assert(rule != nullptr);
    if (const std::size_t match = triggers.match(rule->value); match >= kMatchMin) {
      matches.emplace_back(match, rule);
    }
  }
  std::ranges::stable_sort(matches, std::greater(),
                           &std::pair<std::size_t, const KnowledgeItem*>::first);
  std::ranges::copy(matches | std::views::values | std::views::take(kTriggeredMax),
                    std::back_inserter(triggered));
  return triggered;
}

}  // namespace bmad_mem
