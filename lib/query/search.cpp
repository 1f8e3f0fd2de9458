#include "query/search.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "core/parallel.hpp"
#include "model/entry.hpp"
#include "plan.hpp"
#include "ranker.hpp"
#include "reading_tools.hpp"
#include "slot_filter.hpp"
#include "snippet.hpp"

namespace bmad_mem {
namespace {

/// Long prose (`similar`) is ranked by its rarest terms: the others cost time and say little.
constexpr std::size_t kRankTermsMax = 48;

/// The best first, for the order asked for.
bool is_before(SortOrder sort, const Found& a, const Found& b) {
  if (sort == SortOrder::kRelevanceDesc && a.relevance != b.relevance) {
    return a.relevance > b.relevance;
  }
  if (a.timestamp != b.timestamp) {
    return sort == SortOrder::kTimeAsc ? a.timestamp < b.timestamp : a.timestamp > b.timestamp;
  }
  if (a.session != b.session) {
    return a.session < b.session;
  }
  // Within a log, ordinals go up with the lines; across logs they depend on how they were indexed.
  return a.type != b.type ? a.type < b.type : a.ordinal > b.ordinal;
}

/// Relevance of an entry, from what the index knows of it.
class Relevance {
 public:
  Relevance(const Query& query, const SearchSettings& settings, bool names_time)
      : settings_(settings),
        weights_(query.weights.value_or(settings.weights)),
        ignores_age_(names_time) {}

  /// The most that an entry of this text score can reach.
  [[nodiscard]] double most(double text) const {
    return weights_.text * text + weights_.time + weights_.importance + weights_.access;
  }

  [[nodiscard]] RelevanceComponents components(double text, std::uint32_t flags, Timestamp time,
                                               const OddEntry* odd) const {
    RelevanceComponents parts{.text = text, .time = 1, .importance = flag_importance(flags)};
    if (!ignores_age_) {
      parts.time = effective_decay(settings_.decay,
                                   {.type = flag_type(flags),
                                    .timestamp = time,
                                    .initial_factor = odd == nullptr ? 1 : odd->decay_factor,
                                    .importance = parts.importance,
                                    .pinned = (flags & kFlagPinned) != 0},
                                   settings_.now);
    }
    parts.access = access(odd);
    return parts;
  }

  [[nodiscard]] double combine(const RelevanceComponents& parts) const {
    return weights_.text * parts.text + weights_.time * parts.time +
           weights_.importance * parts.importance + weights_.access * parts.access;
  }

 private:
  [[nodiscard]] double access(const OddEntry* odd) const {
    constexpr double kNeverAccessed = 0.5;
    constexpr double kRatePerHour = 0.05;
    if (odd == nullptr || !odd->last_accessed) {
      return kNeverAccessed;
    }
    using Hours = std::chrono::duration<double, std::ratio<3600>>;
    return std::exp(-kRatePerHour *
                    std::max(0.0, Hours(settings_.now - *odd->last_accessed).count()));
  }

  const SearchSettings& settings_;
  RelevanceWeights weights_;
  bool ignores_age_;
};

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
    found_.resize(sessions_.size());
    BMAD_TRY(on_all([&](std::size_t i) { return score(i, totals); }));
    SearchResult result{.found = merged(),
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

  Status score(std::size_t index, const RankTotals& totals) {
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
    const Relevance relevance(query_, settings_, plan_.names_time);
    const auto consider = [&](std::uint32_t slot) {
      if (allowed_slots.empty() || allowed_slots[slot] != 0) {
        score_entry(index, slot, scores, relevance);
      }
    };
    if (!has_words_ || !plan_.rank.spans.empty()) {
      for (std::uint32_t slot = 0; slot < session.slots().size(); ++slot) {
        if (is_candidate(session, slot, scores)) {
          consider(slot);
        }
      }
    } else {
      scores.for_each_match([&](std::uint32_t slot) {
        if (query_.sort == SortOrder::kRelevanceDesc || scores.matches_itself(slot)) {
          consider(slot);
        }
      });
    }
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
                   const Relevance& relevance) {
    const SessionIndex& session = *sessions_[index];
    if (is_hopeless(relevance.most(scores.most(slot)))) {
      return;  // Nearly all end here, once the best of the sessions before are known.
    }
    const std::uint32_t flags = session.slots().flags[slot];
    const Timestamp time = time_of(session, slot);
    const double text = scores.text(slot, time);
    if (is_hopeless(relevance.most(text)) || !passes(session, flags, time)) {
      return;
    }
    const Ordinal ordinal = session.slots().ordinal(slot);
    Found found{.session = index,
                .type = flag_type(flags),
                .ordinal = ordinal,
                .timestamp = time,
                .relevance = 0,
                .components = relevance.components(
                    text, flags, time, (flags & kFlagOdd) != 0 ? session.odd(ordinal) : nullptr)};
    found.relevance = relevance.combine(found.components);
    offer(index, found);
  }

  [[nodiscard]] bool is_in_span(Timestamp time) const {
    return query_.sort == SortOrder::kRelevanceDesc && options_.date_bonus > 0 &&
           std::ranges::any_of(plan_.rank.spans, [&](const DateSpan& span) {
             return time >= span.begin && time < span.end;
           });
  }

  /// How many have to be kept; 0: all.
  [[nodiscard]] std::size_t keep_max() const { return needs_text() ? 0 : question_.filter.limit; }

  [[nodiscard]] bool needs_text() const {
    return std::ranges::any_of(plan_.requirements, [](const Requirement& requirement) {
      return !requirement.phrase.empty();
    });
  }

  /// Whether an entry that reaches at most `relevance` can't be among the best any more.
  [[nodiscard]] bool is_hopeless(double relevance) const {
    return relevance < query_.min_relevance ||
           (query_.sort == SortOrder::kRelevanceDesc &&
            relevance < threshold_.load(std::memory_order_relaxed));
  }

  /// Keeps `found` if it is among the best of its session: a heap with the worst in front.
  void offer(std::size_t index, const Found& found) {
    if (found.relevance < query_.min_relevance) {
      return;
    }
    const auto before = [this](const Found& a, const Found& b) {
      return is_before(query_.sort, a, b);
    };
    std::vector<Found>& best = found_[index];
    const std::size_t limit = keep_max();
    if (limit == 0 || best.size() < limit) {
      best.push_back(found);
      std::ranges::push_heap(best, before);
    } else if (before(found, best.front())) {
      std::ranges::pop_heap(best, before);
      best.back() = found;
      std::ranges::push_heap(best, before);
    } else {
      return;
    }
    if (limit != 0 && best.size() == limit) {
      raise_threshold(best.front().relevance);
    }
  }

  /// So many are at least this good: what is worse in any session is out.
  void raise_threshold(double relevance) {
    double known = threshold_.load(std::memory_order_relaxed);
    while (known < relevance && !threshold_.compare_exchange_weak(known, relevance)) {
    }
  }

  std::vector<Found> merged() {
    std::vector<Found> all;
    for (std::vector<Found>& session : found_) {
      std::ranges::move(session, std::back_inserter(all));
    }
    std::ranges::sort(
        all, [this](const Found& a, const Found& b) { return is_before(query_.sort, a, b); });
    if (const std::size_t limit = keep_max(); limit != 0 && all.size() > limit) {
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(limit), all.end());
    }
    return all;
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
  std::vector<SessionTerms> collected_;    // By session.
  std::vector<std::vector<Found>> found_;  // By session; heaps.
  std::atomic<double> threshold_{-1};
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
