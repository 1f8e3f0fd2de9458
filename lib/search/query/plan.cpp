// plan.cpp - makes terms and requirements of the clauses of a query.
#include "plan.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <functional>
#include <ranges>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bmad_mem/text.hpp"
#include "meaning.hpp"
#include "search/analyzer.hpp"
#include "search/date_span.hpp"
#include "search/dialogue_act.hpp"
#include "search_words.hpp"

namespace bmad_mem {
namespace {

struct OwnedToken {
  std::string text;
  std::size_t offset = 0;  // In the text that was taken apart.
  std::size_t size = 0;
  bool whole = false;
  bool capitalised = false;
};

/// A copy: the analyzer's tokens go with its next call.
std::vector<OwnedToken> tokens_of(Analyzer& analyzer, std::string_view text) {
  std::vector<OwnedToken> tokens;
  for (const Token& token : analyzer.tokenize(text)) {
    assert(token.offset < text.size());
    tokens.push_back({.text = std::string(token.text),
                      .offset = token.offset,
                      .size = token.size,
                      .whole = token.whole,
                      .capitalised = is_upper(text[token.offset])});
  }
  return tokens;
}

std::size_t count_letters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, std::not_fn(is_continuation)));
}

class Planner {
 public:
  Planner(Plan& plan, std::span<IndexedSession* const> sessions, Analyzer& analyzer,
          std::string_view language)
      : plan_(plan),
        sessions_(sessions),
        analyzer_(analyzer),
        language_(language),
        speakers_(sessions) {}

  Status run(Timestamp now) {
    asks_ = asks_question(plan_.query.text);
    plan_.rank.spans = find_date_spans(plan_.prose, reference_time(now));
    for (const QueryClause& clause : plan_.clauses) {
      for (const OwnedToken& token : tokens_of(analyzer_, clause.text)) {
        if (!token.whole) {
          words_.push_back(token.text);
        }
      }
    }
    language_ = language_of(words_, language_);
    for (const QueryClause& clause : plan_.clauses) {
      add_to_statement(clause);
      BMAD_TRY(take_clause(clause));
    }
    plan_.statement = std::string(trimmed(plan_.statement));
    plan_.rank.speaker = speakers_.speaker();
    const EntryFilter& filter = plan_.query.filter;
    plan_.names_time = !plan_.rank.spans.empty() || filter.since || filter.until;
    return {};
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
      case ClauseKind::kPrefix:
      case ClauseKind::kFuzzy: {
        const bool is_prefix = clause.kind == ClauseKind::kPrefix;
        const std::string word = folded(clause.text);
        word_ += word_count(clause);
        BMAD_TRY_ASSIGN(std::vector<std::string> terms,
                        is_prefix ? terms_with_prefix(sessions_, word)
                                  : terms_like(sessions_, analyzer_, word));
        // Of a whole word the index has the stem, which may be shorter: decision is decis.
        const std::string_view stem = is_prefix ? analyzer_.term(word, false) : "";
        if (!stem.empty() && !std::ranges::binary_search(terms, stem)) {
          terms.emplace_back(stem);
        }
        take_alternatives(clause, word, std::move(terms));
        break;
      }
    }
    return {};
  }

  /// In whole clauses where nothing is left out, so that identifiers stay.
  void add_to_statement(const QueryClause& clause) {
    if (clause.excluded) {
      return;
    }
    std::string kept;
    bool is_whole = true;
    std::size_t word = word_;
    for (const OwnedToken& token : tokens_of(analyzer_, clause.text)) {
      if (token.whole) {
        continue;
      }
      const bool is_left_out =
          clause.kind == ClauseKind::kWord && !plan_.query.text_is_prose &&
          (speakers_.is_name(token.text) || only_makes_a_question(token.text) ||
           only_asks(words_, word, asks_));
      is_whole = is_whole && !is_left_out;
      kept += is_left_out ? "" : " " + clause.text.substr(token.offset, token.size);
      ++word;
    }
    plan_.statement += is_whole ? " " + clause.text : kept;
  }

  /// The words of a clause as one lower-case text.
  std::string folded(std::string_view text) {
    const std::vector<OwnedToken> tokens = tokens_of(analyzer_, text);
    return tokens.empty() ? std::string(text) : tokens.front().text;
  }

  /// A word may be several tokens: user_id is user_id, user and id.
  void take_words(const QueryClause& clause) {
    Requirement requirement{.excluded = clause.excluded, .soft = clause.by_operator};
    const bool may_name = !clause.required && !clause.excluded;
    const std::vector<OwnedToken> tokens = tokens_of(analyzer_, clause.text);
    const bool is_identifier = std::ranges::any_of(tokens, &OwnedToken::whole);
    for (const OwnedToken& token : tokens) {
      const bool is_first = !std::exchange(seen_word_, true);
      const std::size_t word = token.whole ? word_ : word_++;
      if (may_name && !token.whole && speakers_.take(token.text, token.capitalised, is_first)) {
        continue;
      }
      std::string term(analyzer_.term(token.text, token.whole));
      if (term.empty() || (may_name && is_stop_word(token.text, language_))) {
        continue;
      }
      if (!clause.excluded) {
        const bool asks = may_name && !token.whole && only_asks(words_, word, asks_);
        add_rank_term({.term = term,
                       .word = token.text,
                       .weight = asks ? kAskingWeight : 1,
                       .of_date = is_in_date(clause, token),
                       .of_identifier = is_identifier});
        if (may_name) {
          doubt(clause, token, term);
        }
      }
      requirement.terms.push_back({std::move(term)});
    }
    if ((clause.required || clause.excluded) && !requirement.terms.empty()) {
      plan_.requirements.push_back(std::move(requirement));
    }
  }

  void take_phrase(const QueryClause& clause) {
    Requirement requirement{.excluded = clause.excluded, .soft = clause.by_operator};
    for (const OwnedToken& token : tokens_of(analyzer_, clause.text)) {
      seen_word_ = true;
      word_ += token.whole ? 0 : 1;
      std::string term(analyzer_.term(token.text, token.whole));
      if (!token.whole) {
        requirement.phrase.push_back(token.text);
      }
      if (!term.empty() && !clause.excluded) {
        add_rank_term({.term = term, .word = token.text});
        if (!clause.required) {
          doubt(clause, token, term);
        }
      }
      // A whole depends on what stands around it in the text, so it can't be asked for.
      if (!term.empty() && !token.whole) {
        requirement.terms.push_back({std::move(term)});
      }
    }
    if (!requirement.phrase.empty()) {
      const bool is_strict = clause.required || clause.excluded;
      (is_strict ? plan_.requirements : plan_.phrases).push_back(std::move(requirement));
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
        add_rank_term({.term = term});
      }
      plan_.has_expansion = true;
    }
    if (clause.required || clause.excluded) {
      plan_.requirements.push_back(
          {.terms = {std::move(terms)}, .excluded = clause.excluded, .soft = clause.by_operator});
    }
  }

  /// A word that asks in one place and is meant in another is meant.
  void add_rank_term(RankTerm term) {
    assert(!term.term.empty());
    std::vector<RankTerm>& terms = plan_.rank.terms;
    if (plan_.marked.insert(term.term).second) {
      terms.push_back(std::move(term));
    } else {
      RankTerm& known = *std::ranges::find(terms, term.term, &RankTerm::term);
      known.weight = std::max(known.weight, term.weight);
    }
  }

  /// Notes a word that may have a slip in it: of four letters or more and no digit, nobody's name,
  /// and no part of a date.
  void doubt(const QueryClause& clause, const OwnedToken& token, const std::string& term) {
    constexpr std::size_t kLettersMin = 4;
    if (token.whole || std::ranges::any_of(token.text, is_digit) ||
        count_letters(token.text) < kLettersMin || speakers_.is_name(token.text) ||
        is_in_date(clause, token)) {
      return;
    }
    const auto place = std::ranges::find(plan_.rank.terms, term, &RankTerm::term);
    assert(place != plan_.rank.terms.end() && "it was added before");
    const DoubtfulWord word{.token = token.text,
                            .term = static_cast<std::size_t>(place - plan_.rank.terms.begin())};
    if (std::ranges::find(plan_.doubtful, word.token, &DoubtfulWord::token) ==
        plan_.doubtful.end()) {
      plan_.doubtful.push_back(word);
    }
  }

  [[nodiscard]] bool is_in_date(const QueryClause& clause, const OwnedToken& token) const {
    // Where quotes or escapes were taken out, places don't agree: then all of the clause counts.
    const bool agrees = clause.text.size() == clause.size;
    const std::size_t begin = clause.offset + (agrees ? token.offset : 0);
    const std::size_t end = agrees ? begin + token.size : clause.offset + clause.size;
    return std::ranges::any_of(plan_.rank.spans, [&](const DateSpan& span) {
      return begin < span.offset + span.size && span.offset < end;
    });
  }

  std::size_t word_count(const QueryClause& clause) {
    return static_cast<std::size_t>(
        std::ranges::count(tokens_of(analyzer_, clause.text), false, &OwnedToken::whole));
  }

  /// What "in June" counts back from: the present, or in a store that nobody has written to for
  /// long its newest entry.
  [[nodiscard]] Timestamp reference_time(Timestamp now) const {
    constexpr std::chrono::days kLong{60};
    Timestamp newest{};
    for (const IndexedSession* session : sessions_) {
      newest = std::max(newest, session->newest());
    }
    return newest > Timestamp{} && newest + kLong < now ? newest : now;
  }

  Plan& plan_;
  std::span<IndexedSession* const> sessions_;
  Analyzer& analyzer_;
  std::string_view language_;  // Of the store; from run() on, of the question.
  SpeakerFinder speakers_;
  std::vector<std::string> words_;  // Of all clauses, in their order.
  std::size_t word_ = 0;            // The one at hand.
  bool seen_word_ = false;
  bool asks_ = false;  // The text is a question.
};

constexpr std::array<std::string_view, 2> kAlways = {"tell", "please"};
// How many, how long; what kind, which day; what happened.
constexpr std::array<std::string_view, 6> kAfterHow = {"many",  "much", "long",
                                                       "often", "far",  "soon"};
constexpr std::array<std::string_view, 13> kAfterWhat = {
    "kind", "kinds", "sort", "sorts", "type",     "types",  "time",
    "day",  "date",  "year", "month", "happened", "happens"};
constexpr std::array<std::string_view, 3> kWhat = {"what", "which", "what's"};
// A kind of, some sort of.
constexpr std::array<std::string_view, 6> kBeforeOf = {"kind",  "kinds", "sort",
                                                       "sorts", "type",  "types"};
// Do you remember, does anybody know.
constexpr std::array<std::string_view, 3> kOfMemory = {"remember", "recall", "know"};
constexpr std::array<std::string_view, 3> kDo = {"do", "does", "did"};

constexpr std::size_t kFewParticipants = 12;

constexpr std::array<std::string_view, 5> kFirstPerson = {"i", "i'm", "i've", "me", "my"};
constexpr std::array<std::string_view, 3> kSecondPerson = {"you", "your", "you've"};
// Names of roles are words as well: "user login" is not about who said it.
constexpr std::array<std::string_view, 4> kRoleNames = {"user", "assistant", "system", "tool"};

}  // namespace

Status add_terms(Plan& plan, std::span<IndexedSession* const> sessions, Analyzer& analyzer,
                 std::string_view language, Timestamp now) {
  return Planner(plan, sessions, analyzer, language).run(now);
}

Result<std::string> add_slip_terms(std::span<IndexedSession* const> sessions, Analyzer& analyzer,
                                   const DoubtfulWord& word, Plan& plan) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> terms,
                  terms_one_slip_from(sessions, analyzer, word.token));
  assert(word.term < plan.rank.terms.size());
  const double weight = kSlipWeight * plan.rank.terms[word.term].weight;
  for (const std::string& term : terms) {
    if (plan.marked.insert(term).second) {
      plan.rank.terms.push_back({.term = term, .weight = weight, .stands_in = true});
    }
  }
  return terms.empty() ? std::string()
                       : fmt::format("no entry contains \"{}\"; searched for {} as well",
                                     word.token, fmt::join(terms, ", "));
}

bool only_asks(std::span<const std::string> words, std::size_t index, bool asks) {
  assert(index < words.size());
  const std::string& word = words[index];
  const auto word_at = [&](std::size_t i) {  // Beyond the ends, none.
    return i < words.size() ? std::string_view(words[i]) : std::string_view();
  };
  const std::string_view before = word_at(index - 1);
  const std::string_view second = word_at(index - 2);
  const std::string_view next = word_at(index + 1);
  return is_among(kAlways, word) || (asks && kAskingWords.contains(word)) ||
         (before == "how" && is_among(kAfterHow, word)) ||
         (is_among(kWhat, before) && is_among(kAfterWhat, word)) ||
         (next == "of" && is_among(kBeforeOf, word)) ||
         (is_among(kOfMemory, word) && is_among(kDo, second));
}

Error query_timeout(const Query& query) {
  return Error{.code = ErrorCode::E_QUERY_TIMEOUT,
               .message = fmt::format("the query took longer than the {} ms it may; ask for fewer "
                                      "sessions, or allow more time",
                                      query.timeout.count())};
}

std::string phrase_note(const Plan& plan, bool is_excluded) {
  static constexpr std::string_view kThen = "searched for its words";
  if (!is_excluded) {
    const bool is_filtered = says_filters(plan.query) || !plan.filters.empty();
    return fmt::format("no entry {}contains the quoted phrase; {}",
                       is_filtered ? "that the filters leave " : "", kThen);
  }
  std::string excluded;
  for (const QueryClause& clause : plan.clauses) {
    if (clause.excluded) {
      const std::string_view quote = clause.kind == ClauseKind::kPhrase ? "\"" : "";
      excluded += fmt::format("{}-{}{}{}", excluded.empty() ? "" : " ", quote, clause.text, quote);
    }
  }
  return fmt::format("{} excludes each entry that contains the quoted phrase; {}", excluded, kThen);
}

SpeakerFinder::SpeakerFinder(std::span<IndexedSession* const> sessions) {
  Participants all;
  for (const SearchedPart& each : parts_of(sessions)) {
    each.part->add_participants(all);
  }
  has_roles_ = all.has_user && all.has_assistant;
  participant_count_ = all.names.size();
  for (const std::string& name : all.names) {
    const std::string lower = lower_ascii(name);
    for (const auto part : lower | std::views::split(' ')) {
      parts_.emplace(part.begin(), part.end());
    }
    names_.emplace(lower, name);
    const std::size_t blank = name.find(' ');
    if (blank != std::string::npos) {
      // A first name that two people share names neither.
      const auto [place, is_new] = names_.emplace(lower_ascii(name.substr(0, blank)), name);
      if (!is_new) {
        place->second.clear();
      }
    }
  }
}

bool SpeakerFinder::take(std::string_view token, bool capitalised, bool is_first) {
  names_user_ = names_user_ || is_among(kFirstPerson, token);
  names_assistant_ = names_assistant_ || is_among(kSecondPerson, token);
  const auto found = names_.find(token);
  if (found == names_.end() || found->second.empty()) {
    return false;
  }
  const bool few = participant_count_ <= kFewParticipants;
  if (few || (capitalised && !is_first)) {
    named_.insert(found->second);
  }
  return few && !is_among(kRoleNames, token);
}

Speaker SpeakerFinder::speaker() const {
  if (named_.size() == 1) {
    return {.who = *named_.begin()};
  }
  if (named_.empty() && has_roles_ && names_user_ != names_assistant_) {
    return {.role = names_user_ ? EntryRole::kUser : EntryRole::kAssistant};
  }
  return {};
}

}  // namespace bmad_mem
