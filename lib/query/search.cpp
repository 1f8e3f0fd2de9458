#include "query/search.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "best_found.hpp"
#include "core/parallel.hpp"
#include "model/entry.hpp"
#include "plan.hpp"
#include "ranker.hpp"
#include "reading_tools.hpp"
#include "relevance.hpp"
#include "session_scores.hpp"
#include "slot_filter.hpp"
#include "snippet.hpp"

namespace bmad_mem {
namespace {

/// Long prose (`similar`) is ranked by its rarest terms: the others cost time and say little.
constexpr std::size_t kRankTermsMax = 48;

class Search {
 public:
  Search(std::span<SessionIndex* const> sessions, const Query& query, const Question& question,
         const SearchSettings& settings)
      : sessions_(sessions.begin(), sessions.end()),
        query_(query),
        question_(question),
        settings_(settings),
        options_(RankOptions::of(query.ranking)) {}

  Result<SearchResult> run() {
    BMAD_TRY_ASSIGN(ReadingTools* const tools, reading_tools(settings_.language));
    Analyzer& analyzer = tools->analyzer;
    BMAD_TRY(on_all([&](std::size_t i) { return sessions_[i]->load(); }));
    BMAD_TRY_ASSIGN(plan_, make_plan(question_, sessions_, analyzer, settings_.now));
    has_words_ = !plan_.rank.terms.empty() || plan_.has_expansion;
    if (!is_usable()) {
      return no_usable_word();
    }
    BMAD_TRY(collect());
    if (!plan_.has_expansion && !holds_any_term()) {
      BMAD_TRY(correct_spelling(sessions_, analyzer, plan_));
      BMAD_TRY(collect());
    }
    keep_rarest_terms();
    const RankTotals totals = sum_up(sessions_, collected_, plan_.rank, options_);
    const Relevance relevance(query_, settings_, plan_.names_time);
    best_.emplace(sessions_.size(), query_.sort, needs_text() ? 0 : question_.filter.limit,
                  query_.min_relevance);
    BMAD_TRY(on_all([&](std::size_t i) { return score(i, totals, relevance); }));
    SearchResult result{.found = best_->merged(),
                        .explanations = {},
                        .weights = query_.weights.value_or(settings_.weights),
                        .terms = std::move(plan_.marked)};
    if (needs_text()) {
      BMAD_TRY(verify_phrases(*tools, result.found));
    }
    if (query_.explain) {
      result.explanations = explain(result.found, totals);
    }
    return result;
  }

 private:
  /// Whether there is anything to look for.
  [[nodiscard]] bool is_usable() const {
    const EntryFilter& filter = question_.filter;
    return has_words_ || question_.clauses.empty() || !plan_.requirements.empty() ||
           plan_.rank.speaker.is_named() || !plan_.rank.spans.empty() ||
           !question_.topics.empty() || !question_.exclusions.empty() || !filter.types.empty() ||
           !filter.tags.empty() || !filter.agents.empty() || filter.since || filter.until ||
           filter.pinned_only;
  }

  /// Words that nearly every entry holds find nothing, and neither do signs. In a query that is a
  /// slip; in prose it happens.
  [[nodiscard]] Result<SearchResult> no_usable_word() const {
    if (query_.text_is_prose) {
      return SearchResult{};
    }
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message =
                     "the query holds no word to look for, only signs or words that nearly "
                     "every entry holds; add one that says more",
                 .field = "text"};
  }

  /// Runs `work` on each session; the first error in the order of the sessions.
  template <typename Work>
  Status on_all(const Work& work) {
    std::vector<Status> done(sessions_.size());
    for_each_parallel(sessions_.size(), [&](std::size_t i) {
      done[i] = settings_.is_late() ? Status(query_timeout(query_)) : work(i);
    });
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (!done[i]) {
        return done[i].error().code == ErrorCode::E_QUERY_TIMEOUT
                   ? std::move(done[i])
                   : in_session(*sessions_[i], std::move(done[i]));
      }
    }
    return {};
  }

  [[nodiscard]] bool holds_any_term() const {
    return std::ranges::any_of(collected_, [](const SessionTerms& session) {
      return std::ranges::any_of(session.terms, [](const SessionIndex::Postings& term) {
        return !term->postings.empty();
      });
    });
  }

  Status collect() {
    collected_.assign(sessions_.size(), {});
    return on_all([&](std::size_t i) -> Status {
      for (const std::string& term : plan_.rank.terms) {
        BMAD_TRY_ASSIGN(SessionIndex::Postings found,
                        sessions_[i]->live_postings(PostingKind::kTerm, term));
        collected_[i].terms.push_back(std::move(found));
      }
      if (options_.speaker_bonus > 0) {
        BMAD_TRY_ASSIGN(collected_[i].by_speaker,
                        slots_of_speaker(*sessions_[i], plan_.rank.speaker));
      }
      return {};
    });
  }

  void keep_rarest_terms() {
    std::vector<std::string>& terms = plan_.rank.terms;
    if (terms.size() <= kRankTermsMax) {
      return;
    }
    std::vector<std::pair<std::uint64_t, std::size_t>> by_count;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      std::uint64_t count = 0;
      for (const SessionTerms& session : collected_) {
        count += session.terms[i]->postings.size();
      }
      if (count > 0) {
        by_count.emplace_back(count, i);
      }
    }
    std::ranges::sort(by_count);
    by_count.resize(std::min(by_count.size(), kRankTermsMax));
    std::ranges::sort(by_count, {}, &std::pair<std::uint64_t, std::size_t>::second);
    std::vector<std::string> kept;
    std::vector<SessionTerms> collected(collected_.size());
    for (const auto& [count, i] : by_count) {
      kept.push_back(terms[i]);
      for (std::size_t s = 0; s < collected_.size(); ++s) {
        collected[s].terms.push_back(std::move(collected_[s].terms[i]));
      }
    }
    for (std::size_t s = 0; s < collected_.size(); ++s) {
      collected[s].by_speaker = std::move(collected_[s].by_speaker);
    }
    terms = std::move(kept);
    collected_ = std::move(collected);
  }

  Result<AllowedSlots> allowed(SessionIndex& session) {
    SlotFilter filter(session);
    BMAD_TRY(filter.any_of(PostingKind::kTerm, kAgentPrefix, question_.filter.agents));
    BMAD_TRY(filter.any_of(PostingKind::kTerm, kTagPrefix, question_.filter.tags));
    BMAD_TRY(filter.any_of(PostingKind::kTopic, {}, question_.topics));
    for (const QueryFilter& exclusion : question_.exclusions) {
      if (exclusion.field == FilterField::kAgent) {
        BMAD_TRY(filter.not_under(PostingKind::kTerm, kAgentPrefix, exclusion.value));
      } else if (exclusion.field == FilterField::kTag) {
        BMAD_TRY(filter.not_under(PostingKind::kTerm, kTagPrefix, exclusion.value));
      } else if (exclusion.field == FilterField::kTopic) {
        BMAD_TRY(filter.not_under(PostingKind::kTopic, {}, exclusion.value));
      }
    }
    for (const Requirement& requirement : plan_.requirements) {
      // An excluded phrase is more than its words: only the text tells.
      if (!requirement.excluded || requirement.phrase.empty()) {
        BMAD_TRY(filter.holding(requirement.terms, requirement.excluded));
      }
    }
    return filter.take();
  }

  /// Whether the flags and the time of an entry pass.
  [[nodiscard]] bool passes(const SessionIndex& session, std::uint32_t flags,
                            Timestamp time) const {
    if (!passes_plain_filters(question_.filter, flags, time)) {
      return false;
    }
    const EntryType type = flag_type(flags);
    const bool pinned = (flags & kFlagPinned) != 0;
    return std::ranges::none_of(question_.exclusions, [&](const QueryFilter& exclusion) {
      return (exclusion.field == FilterField::kType && exclusion.type == type) ||
             (exclusion.field == FilterField::kPinned && pinned) ||
             (exclusion.field == FilterField::kSession && exclusion.value == session.session_id());
    });
  }

  Status score(std::size_t index, const RankTotals& totals, const Relevance& relevance) {
    SessionIndex& session = *sessions_[index];
    const SessionTerms& terms = collected_[index];
    const bool has_postings = std::ranges::any_of(
        terms.terms, [](const SessionIndex::Postings& term) { return !term->postings.empty(); });
    if (has_words_ && !has_postings && plan_.rank.spans.empty()) {
      return {};
    }
    BMAD_TRY_ASSIGN(const AllowedSlots allowed_slots, allowed(session));
    thread_local SessionScores scores;
    scores.compute(session, terms, totals, plan_.rank, options_);
    const RelevanceBound bound(relevance, session.facts().newest);
    const auto hidden = session.hidden();
    const auto consider = [&](std::uint32_t slot) {
      if (hidden != nullptr && (*hidden)[slot] != 0) {
        return;
      }
      if (allowed_slots.empty() || allowed_slots[slot] != 0) {
        score_entry(index, slot, scores, relevance, bound);
      }
    };
    if (!has_words_ || !plan_.rank.spans.empty()) {
      for (std::uint32_t slot = 0; slot < session.slots().size(); ++slot) {
        if (is_candidate(session, slot, scores)) {
          consider(slot);
        }
      }
      return {};
    }
    const auto least = [this] { return best_->least(); };
    scores.for_each_match(bound, least, [&](std::uint32_t slot) {
      if (query_.sort == SortOrder::kRelevanceDesc || scores.matches_itself(slot)) {
        consider(slot);
      }
    });
    return {};
  }

  /// The rule for questions that find entries by something else than their words.
  [[nodiscard]] bool is_candidate(const SessionIndex& session, std::uint32_t slot,
                                  const SessionScores& scores) const {
    if (!has_words_) {
      return true;
    }
    if (query_.sort != SortOrder::kRelevanceDesc) {
      return scores.matches_itself(slot);
    }
    return scores.matches(slot) || is_in_span(time_of(session, slot));
  }

  static Timestamp time_of(const SessionIndex& session, std::uint32_t slot) {
    return session.timestamp(session.slots().ordinal(slot));
  }

  void score_entry(std::size_t index, std::uint32_t slot, const SessionScores& scores,
                   const Relevance& relevance, const RelevanceBound& bound) {
    const SessionIndex& session = *sessions_[index];
    const std::uint32_t flags = session.slots().flags[slot];
    // To decode a time takes longer than all else here, so that most entries end before it.
    const bool text_knows_time = !plan_.rank.spans.empty();
    const double text = scores.text(slot, text_knows_time ? time_of(session, slot) : Timestamp{});
    if (bound.most(text, flags) < best_->least()) {
      return;
    }
    const Timestamp time = time_of(session, slot);
    if (!passes(session, flags, time)) {
      return;
    }
    const Ordinal ordinal = session.slots().ordinal(slot);
    Found found{.session = index,
                .type = flag_type(flags),
                .ordinal = ordinal,
                .timestamp = time,
                .relevance = 0,
                .components = relevance.components(
                    text, flags, time, (flags & kFlagOdd) != 0 ? session.odd(ordinal) : nullptr),
                .evicted = session.is_evicted()};
    found.relevance = relevance.combine(found.components);
    best_->offer(found);
  }

  [[nodiscard]] bool is_in_span(Timestamp time) const {
    return query_.sort == SortOrder::kRelevanceDesc && options_.date_bonus > 0 &&
           std::ranges::any_of(plan_.rank.spans, [&](const DateSpan& span) {
             return time >= span.begin && time < span.end;
           });
  }

  /// Whether only the text tells which entries hold what is asked for.
  [[nodiscard]] bool needs_text() const {
    return std::ranges::any_of(plan_.requirements, [](const Requirement& requirement) {
      return !requirement.phrase.empty();
    });
  }

  /// Reads entries from the best on until enough of them hold what is asked for word by word.
  Status verify_phrases(ReadingTools& tools, std::vector<Found>& found) {
    std::vector<Found> verified;
    for (Found& each : found) {
      if (question_.filter.limit != 0 && verified.size() == question_.filter.limit) {
        break;
      }
      if (settings_.is_late()) {
        return query_timeout(query_);
      }
      const SessionIndex& session = *sessions_[each.session];
      BMAD_TRY_ASSIGN(const SessionIndex::LoadedLine line,
                      in_session(session, session.line(each.ordinal)));
      BMAD_TRY_ASSIGN(const JsonValue value, tools.parser.parse(line.text));
      tools.text.clear();
      entry_searchable_text(each.type, value, tools.text);
      const bool holds = std::ranges::all_of(plan_.requirements, [&](const Requirement& wanted) {
        return wanted.phrase.empty() ||
               holds_phrase(tools.analyzer, wanted.phrase, tools.text) != wanted.excluded;
      });
      if (holds) {
        verified.push_back(std::move(each));
      }
    }
    found = std::move(verified);
    return {};
  }

  std::vector<TextExplanation> explain(const std::vector<Found>& found, const RankTotals& totals) {
    std::vector<TextExplanation> explanations(found.size());
    std::vector<std::size_t> by_session(found.size());
    std::iota(by_session.begin(), by_session.end(), std::size_t{0});
    std::ranges::stable_sort(by_session, {}, [&](std::size_t i) { return found[i].session; });
    SessionScores scores;
    std::size_t computed = sessions_.size();
    for (const std::size_t i : by_session) {
      const SessionIndex& session = *sessions_[found[i].session];
      if (computed != found[i].session) {
        computed = found[i].session;
        scores.compute(session, collected_[computed], totals, plan_.rank, options_);
      }
      explanations[i] = scores.explain(session.slots().slot(found[i].ordinal), found[i].timestamp);
    }
    return explanations;
  }

  std::vector<SessionIndex*> sessions_;
  const Query& query_;
  const Question& question_;
  const SearchSettings& settings_;
  RankOptions options_;
  Plan plan_;
  bool has_words_ = false;
  std::vector<SessionTerms> collected_;  // By session.
  std::optional<BestFound> best_;
};

}  // namespace

Error query_timeout(const Query& query) {
  return Error{.code = ErrorCode::E_QUERY_TIMEOUT,
               .message = fmt::format("the query took longer than the {} ms it may; ask for fewer "
                                      "sessions, or allow more time",
                                      query.timeout.count())};
}

Result<SearchResult> search(std::span<SessionIndex* const> sessions, const Query& query,
                            const Question& question, const SearchSettings& settings) {
  return Search(sessions, query, question, settings).run();
}

}  // namespace bmad_mem
