#include "query/naive_plan.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "query/edit_matcher.hpp"
#include "query/query_parser.hpp"

namespace bmad_mem::test {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

class NaivePlanner {
 public:
  NaivePlanner(const std::vector<const NaiveSession*>& sessions, const Question& question,
               const SearchSettings& settings, Analyzer& analyzer)
      : sessions_(sessions), question_(question), settings_(settings), analyzer_(analyzer) {}

  NaivePlan run() {
    plan();
    return {.terms = terms_,
            .demands = demands_,
            .spans = spans_,
            .speaker = speaker_,
            .speaker_role = speaker_role_,
            .has_words = has_words_,
            .names_time = names_time_,
            .usable = is_usable()};
  }

 private:
  void plan() {
    find_names();
    for (const QueryClause& clause : question_.clauses) {
      if (clause.kind == ClauseKind::kWord) {
        plan_words(clause);
      } else if (clause.kind == ClauseKind::kPhrase) {
        plan_phrase(clause);
      } else {
        plan_alternatives(clause);
      }
    }
    correct_spelling();
    choose_speaker();
    Timestamp newest{};
    for (const NaiveSession* session : sessions_) {
      for (const NaiveEntry& entry : session->entries) {
        newest = std::max(newest, entry.timestamp);
      }
    }
    const bool is_old = newest > Timestamp{} && newest + std::chrono::days(60) < settings_.now;
    spans_ = find_date_spans(question_.prose, is_old ? newest : settings_.now);
    names_time_ = !spans_.empty() || question_.filter.since || question_.filter.until;
    has_words_ = !terms_.empty();
  }

  /// Whether the question says anything at all: words that are all stop words don't.
  [[nodiscard]] bool is_usable() const {
    const EntryFilter& filter = question_.filter;
    const bool filters = !filter.types.empty() || !filter.tags.empty() || !filter.agents.empty() ||
                         filter.since || filter.until || filter.pinned_only ||
                         !question_.topics.empty() || !question_.exclusions.empty();
    return question_.clauses.empty() || has_words_ || filters || !demands_.empty() ||
           is_speaker_named() || !spans_.empty();
  }

  void find_names() {
    for (const NaiveSession* session : sessions_) {
      for (const NaiveEntry& entry : session->entries) {
        if (entry.type == EntryType::kConversation) {
          if (!entry.who.empty()) {
            participants_.insert(entry.who);
          }
          has_user_ = has_user_ || entry.role == "user";
          has_assistant_ = has_assistant_ || entry.role == "assistant";
        }
      }
    }
  }

  /// The participant whose name, or whose first name alone, is `word`.
  [[nodiscard]] std::optional<std::string> named_by(const std::string& word) const {
    std::vector<std::string> by_name;
    std::vector<std::string> by_first_name;
    for (const std::string& name : participants_) {
      if (lower(name) == word) {
        by_name.push_back(name);
      }
      const std::size_t blank = name.find(' ');
      if (blank != std::string::npos && lower(name.substr(0, blank)) == word) {
        by_first_name.push_back(name);
      }
    }
    if (by_name.empty() && by_first_name.size() == 1) {
      return by_first_name.front();
    }
    // Spelt in two ways, the first one is meant; a name that is another's first name names nobody.
    return !by_name.empty() && by_first_name.empty() ? std::optional(by_name.front())
                                                     : std::nullopt;
  }

  /// Whether `word` is a name and nothing else.
  bool take_name(const NaiveWord& word, bool is_first) {
    const std::set<std::string> first_person = {"i", "i'm", "i've", "me", "my"};
    const std::set<std::string> second_person = {"you", "your", "you've"};
    const std::set<std::string> roles = {"user", "assistant", "system", "tool"};
    names_user_ = names_user_ || first_person.contains(word.text);
    names_assistant_ = names_assistant_ || second_person.contains(word.text);
    const std::optional<std::string> name = named_by(word.text);
    if (!name) {
      return false;
    }
    const bool few = participants_.size() <= 12;
    if (few || (word.capitalised && !is_first)) {
      named_.insert(*name);
    }
    return few && !roles.contains(word.text);
  }

  void choose_speaker() {
    if (named_.size() == 1) {
      speaker_ = *named_.begin();
    } else if (named_.empty() && has_user_ && has_assistant_ && names_user_ != names_assistant_) {
      speaker_role_ = names_user_ ? "user" : "assistant";
    }
  }

  void add_term(const std::string& term) {
    if (!holds(terms_, term)) {
      terms_.push_back(term);
    }
  }

  void plan_words(const QueryClause& clause) {
    NaiveDemand demand{.terms = {}, .phrase = {}, .excluded = clause.excluded};
    for (const NaiveWord& word : words_of(analyzer_, clause.text)) {
      const bool is_first = !std::exchange(seen_word_, true);
      if (!clause.required && !clause.excluded && !word.whole && take_name(word, is_first)) {
        continue;
      }
      const std::string term(analyzer_.term(word.text, word.whole));
      if (term.empty()) {
        continue;
      }
      if (!clause.excluded) {
        add_term(term);
        if (!word.whole && word.text.find_first_of("0123456789") == std::string::npos) {
          plain_words_.push_back(word.text);
        }
      }
      demand.terms.push_back({term});
    }
    if ((clause.required || clause.excluded) && !demand.terms.empty()) {
      demands_.push_back(std::move(demand));
    }
  }

  void plan_phrase(const QueryClause& clause) {
    NaiveDemand demand{.terms = {}, .phrase = {}, .excluded = clause.excluded};
    for (const NaiveWord& word : words_of(analyzer_, clause.text)) {
      seen_word_ = true;
      const std::string term(analyzer_.term(word.text, word.whole));
      if (!word.whole) {
        demand.phrase.push_back(word.text);
      }
      if (!term.empty() && !clause.excluded) {
        add_term(term);
      }
    }
    if (!demand.phrase.empty()) {
      demands_.push_back(std::move(demand));
    }
  }

  void plan_alternatives(const QueryClause& clause) {
    const std::vector<NaiveWord> words = words_of(analyzer_, clause.text);
    const std::string word = words.empty() ? clause.text : words.front().text;
    std::vector<std::string> terms = clause.kind == ClauseKind::kPrefix
                                         ? most_frequent([&](const std::string& term) {
                                             return term.starts_with(fold_accents(word));
                                           })
                                         : terms_like(word);
    if (clause.kind == ClauseKind::kPrefix) {
      const std::string stem(analyzer_.term(word, false));
      if (!stem.empty() && !holds(terms, stem)) {
        terms.push_back(stem);
      }
    }
    if (terms.empty()) {
      terms.push_back(word);
    }
    if (!clause.excluded) {
      std::ranges::for_each(terms, [&](const std::string& term) { add_term(term); });
      has_expansion_ = true;
    }
    if (clause.required || clause.excluded) {
      demands_.push_back({.terms = {terms}, .phrase = {}, .excluded = clause.excluded});
    }
  }

  std::vector<std::string> terms_like(const std::string& written) {
    const std::string stem(analyzer_.term(written, false));
    const std::string word = fold_accents(written);
    const EditMatcher matcher(word);
    const EditMatcher stem_matcher(stem.empty() ? word : stem);
    std::size_t first_size = 1;  // Of the first letter.
    while (first_size < word.size() &&
           (static_cast<unsigned char>(word[first_size]) & 0xC0U) == 0x80U) {
      ++first_size;
    }
    return most_frequent([&](const std::string& term) {
      return term.starts_with(word.substr(0, first_size)) &&
             (matcher.matches(term) || stem_matcher.matches(term));
    });
  }

  /// The 32 terms in the most live lines, of those that are wanted; sorted.
  template <typename Wanted>
  std::vector<std::string> most_frequent(const Wanted& wanted) {
    std::map<std::string, std::uint64_t> counts;
    for (const NaiveSession* session : sessions_) {
      for (const NaiveEntry& entry : session->entries) {
        for (const auto& [term, frequency] : entry.frequencies) {
          if (entry.live && wanted(term)) {
            ++counts[term];
          }
        }
      }
    }
    std::vector<std::pair<std::uint64_t, std::string>> ranked;
    for (const auto& [term, count] : counts) {
      ranked.emplace_back(count, term);
    }
    std::ranges::sort(ranked, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::vector<std::string> terms;
    for (std::size_t i = 0; i < std::min<std::size_t>(32, ranked.size()); ++i) {
      terms.push_back(ranked[i].second);
    }
    std::ranges::sort(terms);
    return terms;
  }

  void correct_spelling() {
    if (terms_.empty() || has_expansion_) {
      return;
    }
    for (const NaiveSession* session : sessions_) {
      for (const NaiveEntry& entry : session->entries) {
        if (entry.live && has_term(entry)) {
          return;
        }
      }
    }
    for (const std::string& word : plain_words_) {
      for (const std::string& term : terms_like(word)) {
        add_term(term);
      }
    }
  }

  [[nodiscard]] bool is_speaker_named() const {
    return !speaker_.empty() || !speaker_role_.empty();
  }

  [[nodiscard]] bool has_term(const NaiveEntry& entry) const {
    return std::ranges::any_of(
        terms_, [&](const std::string& term) { return entry.frequencies.contains(term); });
  }

  const std::vector<const NaiveSession*>& sessions_;
  const Question& question_;
  const SearchSettings& settings_;
  Analyzer& analyzer_;

  std::vector<std::string> terms_;
  std::vector<std::string> plain_words_;
  std::vector<NaiveDemand> demands_;
  std::vector<DateSpan> spans_;
  std::set<std::string> participants_;
  std::set<std::string> named_;
  std::string speaker_;
  std::string speaker_role_;
  bool has_user_ = false;
  bool has_assistant_ = false;
  bool names_user_ = false;
  bool names_assistant_ = false;
  bool seen_word_ = false;
  bool has_expansion_ = false;
  bool has_words_ = false;
  bool names_time_ = false;
};

}  // namespace

std::vector<NaiveWord> words_of(Analyzer& analyzer, std::string_view text) {
  std::vector<NaiveWord> words;
  for (const Token& token : analyzer.tokenize(text)) {
    const char first = text[token.offset];
    words.push_back({std::string(token.text), token.whole, first >= 'A' && first <= 'Z'});
  }
  return words;
}

NaivePlan make_naive_plan(const std::vector<const NaiveSession*>& sessions,
                          const Question& question, const SearchSettings& settings,
                          Analyzer& analyzer) {
  return NaivePlanner(sessions, question, settings, analyzer).run();
}

}  // namespace bmad_mem::test
