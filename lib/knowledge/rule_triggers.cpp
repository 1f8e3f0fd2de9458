#include "rule_triggers.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <utility>

#include <re2/re2.h>

#include "bmad_mem/text.hpp"
#include "knowledge_tables.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {
namespace {

constexpr std::array<std::string_view, 4> kStemmers = {"english", "german", "french", "spanish"};

using Terms = std::set<std::string, std::less<>>;

bool shares(const Terms& a, const Terms& b) {
  return std::ranges::any_of(a, [&](const std::string& term) { return b.contains(term); });
}

/// A line of the table.
struct RuleSubject {
  Terms stems;
  std::vector<std::string> wide;  // Of Chinese and Japanese: wherever a text has them.
  bool is_weak = false;
  bool is_making = false;

  /// A long word may also be a part of another: "Datumswert", "Kundentabelle".
  [[nodiscard]] bool has(const Terms& word) const {
    constexpr std::size_t kPartSizeMin = 5;
    const std::string& whole = *word.rbegin();  // After its stems, which have a digit before them.
    return shares(word, stems) || std::ranges::any_of(stems, [&](const std::string& part) {
             return part.size() >= kPartSizeMin && whole.size() > part.size() + 2 &&
                    (whole.starts_with(part) || whole.ends_with(part));
           });
  }
};

/// What a text is about.
struct RuleAbout {
  std::vector<Terms> words;  // The stems of each, except words of any work.
  std::set<const RuleSubject*> subjects;
};

class Triggers {
 public:
  explicit Triggers(std::string_view prompt = {}) {
    for (const std::string_view language : kStemmers) {
      if (Result<Analyzer> analyzer = Analyzer::create(language)) {
        analyzers_.push_back(*std::move(analyzer));
      }
    }
    for (const auto line : std::views::split(kSubjectsTable, '\n')) {
      take(std::string_view(line));
    }
    prompt_ = about(prompt);
    for (Terms& stems : prompt_.words) {
      prompt_words_.merge(stems);
    }
    makes_ = std::ranges::any_of(prompt_.subjects, &RuleSubject::is_making);
  }

  /// How much of what `rule` is about the prompt names: 2 for a word or a subject, 1 for a subject
  /// of nearly any work.
  std::size_t match(std::string_view rule) {
    const RuleAbout named = about(rule);
    std::size_t match = 0;
    for (const Terms& word : named.words) {
      match += shares(word, prompt_words_) ? 2 : 0;
    }
    for (const RuleSubject* const subject : named.subjects) {
      if (!subject->is_making && prompt_.subjects.contains(subject)) {
        match += subject->is_weak && !makes_ ? 1 : 2;
      }
    }
    return match;
  }

  /// As rule_key().
  std::string key(std::string_view rule) {
    std::string key;
    Terms others;
    for_each_word(std::string(rule), [&](Terms& stems) {
      const auto value = values_.find(*stems.rbegin());
      const bool is_any = shares(stems, any_) || std::ranges::any_of(subjects_, [&](auto& subject) {
                            return subject.is_making && shares(stems, subject.stems);
                          });
      if (value != values_.end()) {
        key = key.empty() ? value->second : key;
      } else if (!is_any) {
        others.insert(stems.begin()->substr(1));
      }
    });
    if (!key.empty()) {
      std::ranges::for_each(others, [&](const std::string& each) { key += "_" + each; });
    }
    return key;
  }

 private:
  void take(std::string_view line) {
    const std::string_view kind = line.substr(0, line.find(' '));
    if (kind == "oneof") {
      auto words = std::views::split(line, ' ') | std::views::drop(1);
      for (const auto word : words | std::views::drop(1)) {
        values_.emplace(std::string_view(word), std::string_view(*words.begin()));
      }
      return;
    }
    RuleSubject subject{
        .stems = {}, .wide = {}, .is_weak = kind == "weak", .is_making = kind == "make"};
    for (const auto word : std::views::split(line, ' ')) {
      const std::string_view text(word);
      const bool is_wide = !text.empty() && static_cast<unsigned char>(text.front()) > 0xE2U;
      if (is_wide) {
        subject.wide.emplace_back(text);
      }
      const bool is_any = kind == "any" || (is_wide && (subject.is_weak || subject.is_making));
      if (is_any || !is_wide) {
        for_each_word(std::string(text),
                      [&](Terms& stems) { (is_any ? any_ : subject.stems).merge(stems); });
      }
    }
    if (kind != "any" && !line.empty()) {
      subjects_.push_back(std::move(subject));
    }
  }

  RuleAbout about(std::string_view text) {
    RuleAbout about;
    for (const RuleSubject& subject : subjects_) {
      if (std::ranges::any_of(subject.wide, [&](auto& word) { return text.contains(word); })) {
        about.subjects.insert(&subject);
      }
    }
    for_each_word(std::string(text), [&](Terms& stems) {
      bool is_any = shares(stems, any_);
      for (const RuleSubject& subject : subjects_) {
        if (subject.has(stems)) {
          about.subjects.insert(&subject);
          is_any = is_any || subject.is_weak || subject.is_making;
        }
      }
      if (!is_any) {
        about.words.push_back(std::move(stems));
      }
    });
    return about;
  }

  /// Calls `take(stems)` for each word of `text` that is no function word: its stems in all
  /// languages, as its own is not known, and itself. The parts of a name count only where it is a
  /// path.
  template <typename Take>
  void for_each_word(std::string text, const Take& take) {
    std::ranges::replace(text, '\'', ' ');  // "d'import"
    std::vector<std::pair<std::string, bool>> words;
    std::size_t whole_end = 0;
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
  Terms any_;
  std::vector<RuleSubject> subjects_;
  std::map<std::string, std::string, std::less<>> values_;  // Of each the name of its list.
  RuleAbout prompt_;
  Terms prompt_words_;
  bool makes_ = false;
};

}  // namespace

std::string rule_key(std::string_view rule) { return Triggers().key(rule); }

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
