#include "plan.hpp"

#include <algorithm>
#include <chrono>

#include "query/date_span.hpp"
#include "speakers.hpp"
#include "term_expansion.hpp"

namespace bmad_mem {
namespace {

struct OwnedToken {
  std::string text;
  bool whole = false;
  bool capitalised = false;
};

/// A copy: the analyzer's tokens go with its next call.
std::vector<OwnedToken> tokens_of(Analyzer& analyzer, std::string_view text) {
  std::vector<OwnedToken> tokens;
  for (const Token& token : analyzer.tokenize(text)) {
    const char first = text[token.offset];
    tokens.push_back({.text = std::string(token.text),
                      .whole = token.whole,
                      .capitalised = first >= 'A' && first <= 'Z'});
  }
  return tokens;
}

bool has_digit(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

class Planner {
 public:
  Planner(std::span<SessionIndex* const> sessions, Analyzer& analyzer)
      : sessions_(sessions), analyzer_(analyzer), speakers_(sessions) {}

  Result<Plan> run(const Question& question, Timestamp now) {
    for (const QueryClause& clause : question.clauses) {
      BMAD_TRY(take_clause(clause));
    }
    plan_.rank.speaker = speakers_.speaker();
    plan_.rank.spans = find_date_spans(question.prose, reference_time(now));
    plan_.names_time = !plan_.rank.spans.empty() || question.filter.since || question.filter.until;
    return std::move(plan_);
  }

 private:
  Status take_clause(const QueryClause& clause) {
    switch (clause.kind) {
      case ClauseKind::kWord:
        take_words(clause);
        break;
      case ClauseKind::kPhrase:
        take_phrase(clause);
        break;
      case ClauseKind::kPrefix: {
        const std::string word = folded(clause.text);
        BMAD_TRY_ASSIGN(std::vector<std::string> terms, terms_with_prefix(sessions_, word));
        // Of a whole word the index has the stem, which may be shorter: decision is decis.
        const std::string_view stem = analyzer_.term(word, false);
        if (!stem.empty() && !std::ranges::binary_search(terms, stem)) {
          terms.emplace_back(stem);
        }
        take_alternatives(clause, word, std::move(terms));
        break;
      }
      case ClauseKind::kFuzzy: {
        const std::string word = folded(clause.text);
        BMAD_TRY_ASSIGN(std::vector<std::string> terms, terms_like(sessions_, analyzer_, word));
        take_alternatives(clause, word, std::move(terms));
        break;
      }
    }
    return {};
  }

  /// The words of a clause as one lower-case text.
  std::string folded(std::string_view text) {
    const std::vector<OwnedToken> tokens = tokens_of(analyzer_, text);
    return tokens.empty() ? std::string(text) : tokens.front().text;
  }

  /// A word may be several tokens: user_id is user_id, user and id.
  void take_words(const QueryClause& clause) {
    Requirement requirement{.excluded = clause.excluded};
    const bool may_name = !clause.required && !clause.excluded;
    for (const OwnedToken& token : tokens_of(analyzer_, clause.text)) {
      const bool is_first = !std::exchange(seen_word_, true);
      if (may_name && !token.whole && speakers_.take(token.text, token.capitalised, is_first)) {
        continue;
      }
      std::string term(analyzer_.term(token.text, token.whole));
      if (term.empty()) {
        continue;
      }
      if (!clause.excluded) {
        add_rank_term(term);
        // A number or a name with digits is another one, not misspelt.
        if (!token.whole && !has_digit(token.text)) {
          plan_.correctable.push_back(token.text);
        }
      }
      requirement.terms.push_back({std::move(term)});
    }
    if ((clause.required || clause.excluded) && !requirement.terms.empty()) {
      plan_.requirements.push_back(std::move(requirement));
    }
  }

  void take_phrase(const QueryClause& clause) {
    Requirement requirement{.excluded = clause.excluded};
    for (const OwnedToken& token : tokens_of(analyzer_, clause.text)) {
      seen_word_ = true;
      std::string term(analyzer_.term(token.text, token.whole));
      if (!token.whole) {
        requirement.phrase.push_back(token.text);
      }
      if (!term.empty() && !clause.excluded) {
        add_rank_term(term);
      }
      // A whole depends on what stands around it in the text, so it can't be asked for.
      if (!term.empty() && !token.whole) {
        requirement.terms.push_back({std::move(term)});
      }
    }
    if (!requirement.phrase.empty()) {
      plan_.requirements.push_back(std::move(requirement));
    }
  }

  void take_alternatives(const QueryClause& clause, const std::string& word,
                         std::vector<std::string> terms) {
    // A word that stands for nothing must not make a question without words, which finds all.
    if (terms.empty()) {
      terms.push_back(word);
    }
    if (!clause.excluded) {
      for (const std::string& term : terms) {
        add_rank_term(term);
      }
      plan_.has_expansion = true;
    }
    if (clause.required || clause.excluded) {
      plan_.requirements.push_back({.terms = {std::move(terms)}, .excluded = clause.excluded});
    }
  }

  void add_rank_term(const std::string& term) {
    if (plan_.marked.insert(term).second) {
      plan_.rank.terms.push_back(term);
    }
  }

  /// What "in June" counts back from: the present, or in a store that nobody has written to for
  /// long its newest entry.
  [[nodiscard]] Timestamp reference_time(Timestamp now) const {
    constexpr std::chrono::days kLong{60};
    Timestamp newest{};
    for (const SessionIndex* session : sessions_) {
      newest = std::max(newest, session->facts().newest);
    }
    return newest > Timestamp{} && newest + kLong < now ? newest : now;
  }

  std::span<SessionIndex* const> sessions_;
  Analyzer& analyzer_;
  SpeakerFinder speakers_;
  Plan plan_;
  bool seen_word_ = false;
};

}  // namespace

Result<Plan> make_plan(const Question& question, std::span<SessionIndex* const> sessions,
                       Analyzer& analyzer, Timestamp now) {
  return Planner(sessions, analyzer).run(question, now);
}

Status correct_spelling(std::span<SessionIndex* const> sessions, Analyzer& analyzer, Plan& plan) {
  for (const std::string& word : plan.correctable) {
    BMAD_TRY_ASSIGN(const std::vector<std::string> terms, terms_like(sessions, analyzer, word));
    for (const std::string& term : terms) {
      if (plan.marked.insert(term).second) {
        plan.rank.terms.push_back(term);
      }
    }
  }
  return {};
}

}  // namespace bmad_mem
