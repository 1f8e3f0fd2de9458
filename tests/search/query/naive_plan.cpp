#include "search/query/naive_plan.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "search/dialogue_act.hpp"
#include "search/edit_matcher.hpp"
#include "search/query/plan.hpp"

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
  NaivePlanner(const std::vector<const NaiveSession*>& sessions, const Plan& read,
               const SearchSettings& settings, Analyzer& analyzer)
      : sessions_(sessions), read_(read), settings_(settings), analyzer_(analyzer) {}

  NaivePlan run() {
    plan();
    return {.terms = terms_,
            .demands = demands_,
            .phrases = phrases_,
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
    find_dates();
    for (const QueryClause& clause : read_.clauses) {
      for (const NaiveWord& word : words_of(analyzer_, clause.text)) {
        if (!word.whole) {
          words_.push_back(word.text);
        }
      }
    }
    for (const QueryClause& clause : read_.clauses) {
      if (clause.kind == ClauseKind::kWord) {
        plan_words(clause);
      } else if (clause.kind == ClauseKind::kPhrase) {
        plan_phrase(clause);
      } else {
        plan_alternatives(clause);
      }
    }
    choose_speaker();
    add_slips();
    names_time_ = !spans_.empty() || read_.query.filter.since || read_.query.filter.until;
    has_words_ = !terms_.empty();
  }

  void find_dates() {
    Timestamp newest{};
    for (const NaiveSession* session : sessions_) {
      for (const NaiveEntry& entry : session->entries) {
        newest = std::max(newest, entry.timestamp);
      }
    }
    const bool is_old = newest > Timestamp{} && newest + std::chrono::days(60) < settings_.now;
    spans_ = find_date_spans(read_.prose, is_old ? newest : settings_.now);
  }

  /// Whether the question says anything at all: words that are all stop words don't.
  [[nodiscard]] bool is_usable() const {
    const EntryFilter& filter = read_.query.filter;
    const bool filters = !filter.types.empty() || !filter.tags.empty() || !filter.agents.empty() ||
                         filter.since || filter.until || filter.pinned_only ||
                         !read_.query.topics.empty() || !read_.filters.empty();
    return read_.clauses.empty() || has_words_ || filters || !demands_.empty() ||
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

  void add_term(const std::string& term, double weight = 1, bool stands_in = false,
                const std::string& word = {}) {
    const auto known = std::ranges::find(terms_, term, &NaiveTerm::term);
    if (known == terms_.end()) {
      terms_.push_back({term, weight, stands_in, word});
    } else if (!stands_in) {
      known->weight = std::max(known->weight, weight);
    }
  }

  /// Notes a word that may have a slip in it.
  void doubt(const QueryClause& clause, const NaiveWord& word, const std::string& term) {
    const auto letters = std::ranges::count_if(
        word.text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    const bool is_name = std::ranges::any_of(participants_, [&](const std::string& name) {
      return (" " + lower(name) + " ").contains(" " + word.text + " ");
    });
    std::size_t begin = clause.offset;
    std::size_t end = clause.offset + clause.size;
    if (clause.text.size() == clause.size) {
      begin += word.offset;
      end = begin + word.size;
    }
    const bool is_date = std::ranges::any_of(spans_, [&](const DateSpan& span) {
      return begin < span.offset + span.size && end > span.offset;
    });
    if (!word.whole && letters >= 4 && !is_name && !is_date &&
        word.text.find_first_of("0123456789") == std::string::npos &&
        std::ranges::find(doubtful_, word.text, &std::pair<std::string, std::string>::first) ==
            doubtful_.end()) {
      doubtful_.emplace_back(word.text, term);
    }
  }

  void plan_words(const QueryClause& clause) {
    NaiveDemand demand{
        .terms = {}, .phrase = {}, .excluded = clause.excluded, .soft = clause.by_operator};
    for (const NaiveWord& word : words_of(analyzer_, clause.text)) {
      const bool is_first = !std::exchange(seen_word_, true);
      const std::size_t index = word.whole ? word_ : word_++;
      if (!clause.required && !clause.excluded && !word.whole && take_name(word, is_first)) {
        continue;
      }
      const std::string term(analyzer_.term(word.text, word.whole));
      if (term.empty() || (!clause.required && !clause.excluded &&
                           is_stop_word(word.text, language_of(words_, settings_.language)))) {
        continue;
      }
      if (!clause.excluded) {
        const bool asks = !clause.required && !word.whole &&
                          only_asks(words_, index, asks_question(read_.query.text));
        add_term(term, asks ? 0.3 : 1, false, word.text);
        if (!clause.required) {
          doubt(clause, word, term);
        }
      }
      demand.terms.push_back({term});
    }
    if ((clause.required || clause.excluded) && !demand.terms.empty()) {
      demands_.push_back(std::move(demand));
    }
  }

  void plan_phrase(const QueryClause& clause) {
    NaiveDemand demand{
        .terms = {}, .phrase = {}, .excluded = clause.excluded, .soft = clause.by_operator};
    for (const NaiveWord& word : words_of(analyzer_, clause.text)) {
      seen_word_ = true;
      word_ += word.whole ? 0 : 1;
      const std::string term(analyzer_.term(word.text, word.whole));
      if (!word.whole) {
        demand.phrase.push_back(word.text);
      }
      if (!term.empty() && !clause.excluded) {
        add_term(term, 1, false, word.text);
        if (!clause.required) {
          doubt(clause, word, term);
        }
      }
    }
    if (!demand.phrase.empty()) {
      (clause.required || clause.excluded ? demands_ : phrases_).push_back(std::move(demand));
    }
  }

  void plan_alternatives(const QueryClause& clause) {
    const std::vector<NaiveWord> words = words_of(analyzer_, clause.text);
    const std::string word = words.empty() ? clause.text : words.front().text;
    word_ += static_cast<std::size_t>(std::ranges::count(words, false, &NaiveWord::whole));
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
    }
    if (clause.required || clause.excluded) {
      demands_.push_back({.terms = {terms},
                          .phrase = {},
                          .excluded = clause.excluded,
                          .soft = clause.by_operator});
    }
  }

  std::vector<std::string> terms_like(const std::string& written) {
    const std::string stem(analyzer_.term(written, false));
    const std::string word = fold_accents(written);
    const EditMatcher matcher(word);
    const EditMatcher stem_matcher(stem.empty() ? word : stem);
    return most_frequent([&](const std::string& term) {
      return term.starts_with(first_letter(word)) &&
             (matcher.matches(term) || stem_matcher.matches(term));
    });
  }

  static std::string first_letter(const std::string& word) {
    std::size_t size = 1;
    while (size < word.size() && (static_cast<unsigned char>(word[size]) & 0xC0U) == 0x80U) {
      ++size;
    }
    return word.substr(0, size);
  }

  /// The 32 terms in the most live lines, of those that are wanted; sorted.
  template <typename Wanted>
  std::vector<std::string> most_frequent(const Wanted& wanted) {
    std::vector<std::string> terms = by_count(wanted, 32);
    std::ranges::sort(terms);
    return terms;
  }

  /// The terms in the most live lines, of those that are wanted; the most frequent first.
  template <typename Wanted>
  std::vector<std::string> by_count(const Wanted& wanted, std::size_t count_max) {
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
    for (std::size_t i = 0; i < std::min(count_max, ranked.size()); ++i) {
      terms.push_back(ranked[i].second);
    }
    return terms;
  }

  /// Beside each word that no live entry holds, up to three terms that do, one slip away.
  void add_slips() {
    if (terms_.size() > 48) {
      return;
    }
    const std::vector<NaiveTerm> asked = terms_;
    for (const auto& [word, term] : doubtful_) {
      if (is_known(term)) {
        continue;
      }
      const std::string stem(analyzer_.term(word, false));
      const std::vector<std::string> stems = stems_one_slip_from(analyzer_, fold_accents(word));
      const EditMatcher matcher(fold_accents(word), 1);
      const EditMatcher stem_matcher(stem, 1);
      const double weight = std::ranges::find(asked, term, &NaiveTerm::term)->weight;
      const auto is_near = [&](const std::string& other) {
        return other.starts_with(first_letter(stem)) &&
               (holds(stems, other) || matcher.matches(other) || stem_matcher.matches(other));
      };
      for (const std::string& other : by_count(is_near, 3)) {
        add_term(other, 0.5 * weight, true);
      }
    }
  }

  [[nodiscard]] bool is_known(const std::string& term) const {
    return std::ranges::any_of(sessions_, [&](const NaiveSession* session) {
      return std::ranges::any_of(session->entries, [&](const NaiveEntry& entry) {
        return entry.live && entry.frequencies.contains(term);
      });
    });
  }

  [[nodiscard]] bool is_speaker_named() const {
    return !speaker_.empty() || !speaker_role_.empty();
  }

  const std::vector<const NaiveSession*>& sessions_;
  const Plan& read_;
  const SearchSettings& settings_;
  Analyzer& analyzer_;

  std::vector<NaiveTerm> terms_;
  std::vector<std::pair<std::string, std::string>> doubtful_;  // Word and term.
  std::vector<std::string> words_;                             // Of all clauses.
  std::size_t word_ = 0;                                       // The one at hand.
  std::vector<NaiveDemand> demands_;
  std::vector<NaiveDemand> phrases_;
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
  bool has_words_ = false;
  bool names_time_ = false;
};

}  // namespace

std::vector<NaiveWord> words_of(Analyzer& analyzer, std::string_view text) {
  std::vector<NaiveWord> words;
  for (const Token& token : analyzer.tokenize(text)) {
    const char first = text[token.offset];
    words.push_back({std::string(token.text), token.offset, token.size, token.whole,
                     first >= 'A' && first <= 'Z'});
  }
  return words;
}

NaivePlan make_naive_plan(const std::vector<const NaiveSession*>& sessions, const Plan& read,
                          const SearchSettings& settings, Analyzer& analyzer) {
  return NaivePlanner(sessions, read, settings, analyzer).run();
}

}  // namespace bmad_mem::test
