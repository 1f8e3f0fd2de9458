// search.cpp - runs a search: terms, scores, meaning, then the first entries.
#include "search/search.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <future>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "alike.hpp"
#include "base/parallel.hpp"
#include "best_found.hpp"
#include "group_bounds.hpp"
#include "match_finder.hpp"
#include "meaning.hpp"
#include "plan.hpp"
#include "ranker.hpp"
#include "relevance.hpp"
#include "session_scores.hpp"
#include "slot_filter.hpp"

namespace bmad_mem {
namespace {

/// Of what the words find, as many are looked at with their meaning.
constexpr std::size_t kWordCandidates = 30;
/// As many are compared with each other, however few are wanted.
constexpr std::size_t kAlikeCount = 20;

/// A text score that may be below 0, as one that keeps the order: small ones come ever nearer to 0.
double above_0(double text) {
  constexpr double kSmall = 0.05;
  return text >= kSmall ? text : kSmall * std::exp(text / kSmall - 1);
}

class Search {
 public:
  Search(std::span<IndexedSession* const> sessions, const Plan& plan,
         const SearchSettings& settings)
      : in_{.sessions = sessions,
            .plan = plan,
            .settings = settings,
            .options = RankOptions::of(plan.query.ranking)} {}

  Result<SearchResult> run() {
    BMAD_TRY_ASSIGN(ReadingTools* const tools, reading_tools(in_.settings.language));
    in_.sizes.resize(in_.sessions.size());
    BMAD_TRY(on_all([&](std::size_t i) -> Status {
      BMAD_TRY_ASSIGN(in_.sizes[i], in_.sessions[i]->totals());
      return {};
    }));
    BMAD_TRY(add_terms(in_.plan, in_.sessions, tools->analyzer, in_.settings.language,
                       in_.settings.now));
    has_words_ = !in_.plan.rank.terms.empty() || in_.plan.has_expansion;
    if (!is_usable()) {
      result_.instead.emplace_back(
          "the query has no words to search for, only signs or words that nearly every entry "
          "contains");
      return std::move(result_);
    }
    BMAD_TRY(terms_.collect());
    BMAD_TRY(terms_.add_slips(tools->analyzer, result_.instead));
    const NearnessMeasure nearness(in_, result_.asked);
    terms_.keep_rarest();
    choose_rules();
    BMAD_TRY(begin_meaning());
    const RankTotals totals = sum_up(in_.sizes, in_.terms, in_.plan.rank, in_.options);
    BMAD_TRY(find(*tools, totals));
    if (result_.found.empty() && !in_.settings.literal) {
      BMAD_TRY(look_behind_exclusions(*tools, totals));
      BMAD_TRY(relax() ? find(*tools, totals) : Status());
    }
    BMAD_TRY(nearness.measure(
        in_, std::span(result_.found).first(std::min(result_.found.size(), kNearnessCount))));
    if (query_.explain) {
      RankTotals shown = totals;
      shown.full += meaning_score_ ? meaning_score_->full() : 0;
      BMAD_TRY_ASSIGN(result_.explanations, explain(result_.found, shown));
    }
    assert(!query_.explain || result_.explanations.size() == result_.found.size());
    result_.terms = std::move(in_.plan.marked);
    return std::move(result_);
  }

 private:
  /// Whether there is anything to look for.
  [[nodiscard]] bool is_usable() const {
    return has_words_ || in_.plan.clauses.empty() || !in_.plan.requirements.empty() ||
           in_.plan.rank.speaker.is_named() || !in_.plan.rank.spans.empty() ||
           !in_.plan.filters.empty() || says_filters(query_);
  }

  /// What the words that are known decide: whether it is a weak question, and how to rank.
  void choose_rules() {
    weak_ = !in_.settings.literal && !terms_.any() && in_.plan.rank.speaker.is_named() &&
            in_.plan.rank.spans.empty() && in_.plan.requirements.empty();
    result_.weak = weak_;
    result_.weights = query_.weights.value_or(in_.settings.weights);
    result_.combine = !has_words_      ? RelevanceCombine::kSum
                      : query_.combine ? *query_.combine
                      : query_.weights ? RelevanceCombine::kSum
                                       : in_.settings.combine;
  }

  /// Begins to compare the question with all entries that have a vector, where that is wanted:
  /// meanwhile the words search.
  Status begin_meaning() {
    const bool is_wanted = query_.use_encoder && in_.settings.encoder && !in_.settings.literal &&
                           has_words_ && !weak_ && query_.sort == SortOrder::kRelevanceDesc &&
                           !in_.plan.statement.empty() &&
                           (query_.ranking == TextRanking::kContext || query_.text_is_prose);
    if (!is_wanted) {
      return {};
    }
    BMAD_TRY_ASSIGN(AskedVectors asked, AskedVectors::of(in_.sessions));
    if (!asked.has_any) {
      result_.encoder.reason = "no entry has a vector yet";
      return {};
    }
    compared_ = std::async([this, asked = std::move(asked), statement = in_.plan.statement] {
      return Meaning::of(asked, statement, in_.settings, result_.encoder);
    });
    return {};
  }

  /// Whether meaning may count, as far as is known.
  [[nodiscard]] bool awaits_meaning() const { return meaning_ || compared_.valid(); }

  /// Takes the requirements that have `flag` out of the plan, and returns how many they were.
  std::size_t drop_requirements(bool Requirement::* flag) {
    return std::erase_if(in_.plan.requirements,
                         [&](const Requirement& each) { return each.*flag; });
  }

  /// Whether it is what the query excludes that hides the phrases: sets phrases_are_excluded_, and
  /// finds nothing.
  Status look_behind_exclusions(ReadingTools& tools, const RankTotals& totals) {
    const std::vector<Requirement> requirements = in_.plan.requirements;
    if (in_.plan.phrases.empty() || drop_requirements(&Requirement::excluded) == 0) {
      return {};
    }
    BMAD_TRY(find(tools, totals));
    phrases_are_excluded_ = !result_.found.empty();
    result_.found.clear();
    in_.plan.requirements = requirements;
    return {};
  }

  /// Takes what is wished for out of the plan; false when there is nothing of the kind.
  bool relax() {
    const std::size_t phrases = in_.plan.phrases.size();
    in_.plan.phrases.clear();
    const std::size_t others = drop_requirements(&Requirement::soft);
    if (phrases > 0 || others > 0) {
      result_.instead.push_back(
          others > 0 ? "no entry matches all words joined by AND; searched for any of them"
                     : phrase_note(in_.plan, phrases_are_excluded_));
    }
    return phrases > 0 || others > 0;
  }

  /// The best entries, as the plan is now.
  Status find(ReadingTools& tools, const RankTotals& totals) {
    EntryJudge judge(in_, result_);
    const bool leads = has_words_ && !in_.settings.literal && !query_.ids_only &&
                       query_.sort == SortOrder::kRelevanceDesc;
    const std::size_t wanted = query_.filter.limit;
    const std::size_t looked_at = leads && wanted > 0 ? std::max(wanted, kAlikeCount) : wanted;
    const std::size_t limit = in_.plan.needs_text() ? 0 : looked_at;
    begin_best(awaits_meaning() && limit > 0 ? std::max(limit, kWordCandidates) : limit,
               awaits_meaning() ? 0 : query_.min_relevance);
    const bool is_best_first = may_go_best_first();
    BMAD_TRY(on_all([&](std::size_t i) {
      Status scored = is_best_first && has_impacts(*in_.sessions[i], in_.terms[i])
                          ? Status()
                          : score(i, totals, judge);
      best_->finish(i);
      return scored;
    }));
    if (is_best_first) {
      is_best_first_ = true;
      BMAD_TRY(score_best_first(totals, judge));
      is_best_first_ = false;
    }
    std::vector<Found> found = best_->merged();
    if (awaits_meaning()) {
      BMAD_TRY_ASSIGN(found, add_meaning(std::move(found), limit, totals, judge));
    }
    BMAD_TRY_ASSIGN(result_.found, choose_first(in_, tools, std::move(found), looked_at));
    if (leads) {
      BMAD_TRY(
          lead_with_newest(in_.sessions, in_.plan, in_.settings.language, tools, result_.found));
    }
    if (wanted > 0) {
      result_.found.resize(std::min(result_.found.size(), wanted));
    }
    return {};
  }

  void begin_best(std::size_t limit, double min_relevance) {
    best_.emplace(
        in_.sessions.size(), weak_ ? SortOrder::kTimeDesc : query_.sort, limit, min_relevance,
        BestFound::LookUp{
            .id_hash = [this](const Found& found) -> Result<std::uint32_t> {
              BMAD_TRY_ASSIGN(const IndexRow row, in_.sessions[found.session]->row(found.ordinal));
              return row.id_hash;
            },
            .line =
                [this](const Found& found) {
                  const Result<IndexRow> row = in_.sessions[found.session]->row(found.ordinal);
                  return row ? row->row.line : 0;
                },
            .is_session_before = [this](const Found& a,
                                        const Found& b) { return place_of(a) < place_of(b); }});
  }

  [[nodiscard]] std::uint32_t slot_of(const Found& found) const {
    return in_.sessions[found.session]->slots().slot(found.ordinal);
  }

  /// Ranks what the words found, and the nearest entries, by words and meaning together; by the
  /// words alone where it turns out that there is no meaning.
  Result<std::vector<Found>> add_meaning(std::vector<Found> found, std::size_t limit,
                                         const RankTotals& totals, EntryJudge& judge) {
    if (compared_.valid()) {
      meaning_ = compared_.get();
      for (const SlotTotals& each : in_.sizes) {
        result_.encoder.entries += meaning_ ? each.entries : 0;
      }
    }
    if (meaning_) {
      BMAD_TRY(weigh_meaning(found, totals, judge));
    }
    begin_best(limit, query_.min_relevance);
    for (const Found& each : found) {
      best_->offer(each);
    }
    return best_->merged();
  }

  /// Adds the nearest entries to `found`, and gives all of it the text score of both.
  Status weigh_meaning(std::vector<Found>& found, const RankTotals& totals, EntryJudge& judge) {
    meaning_score_.emplace(*meaning_, in_, totals, found,
                           [this](const Found& each) { return slot_of(each); });
    // The less of the question means anything to the encoder, the nearer an entry must be.
    const double near_min = 1 - meaning_score_->known() * (1 - in_.settings.near_min);
    BMAD_TRY(NearestFound(in_, totals, *meaning_, near_min, judge).add_to(found));
    assert(totals.full > 0 && meaning_score_->full() >= 0);
    const double full = totals.full + meaning_score_->full();
    for (Found& each : found) {
      const double sum = each.components.text * totals.full +
                         meaning_score_->own(each.session, slot_of(each)) +
                         meaning_score_->session(each.session);
      each.words = each.components.text;
      judge.set_text(each, above_0(sum / full));
    }
    return {};
  }

  /// Runs `work` on each session; the first error in the order of the sessions.
  template <typename Work>
  Status on_all(const Work& work) {
    std::vector<Status> done(in_.sessions.size());
    for_each_parallel(in_.sessions.size(), [&](std::size_t i) {
      done[i] = in_.settings.is_late() ? Status(query_timeout(query_)) : work(i);
    });
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (!done[i]) {
        return done[i].error().code == ErrorCode::E_QUERY_TIMEOUT
                   ? std::move(done[i])
                   : in_session(*in_.sessions[i], std::move(done[i]));
      }
    }
    return {};
  }

  /// What decides between equals: the project before the user, sessions before archives, and those
  /// before what was evicted. Other projects stand as if their sessions were here.
  using TiePlace = std::tuple<bool, bool, bool, std::string_view, std::size_t>;
  [[nodiscard]] TiePlace place_of(const Found& found) const {
    const IndexedSession& session = *in_.sessions[found.session];
    const std::size_t root = in_.settings.root_of(found.session);
    return {in_.settings.roots[root].kind == MemoryKind::kUser, session.is_evicted(),
            session.is_archived(), session.session_id(), root};
  }

  Status score(std::size_t index, const RankTotals& totals, EntryJudge& judge) {
    IndexedSession& session = *in_.sessions[index];
    SessionTerms& terms = in_.terms[index];
    if (has_words_ && terms.terms.empty() && in_.plan.rank.spans.empty() && !weak_) {
      return {};
    }
    BMAD_TRY(session.load());
    if (in_.options.speaker_bonus > 0 && terms.by_speaker.empty()) {
      BMAD_TRY_ASSIGN(terms.by_speaker, slots_of_speaker(session, in_.plan.rank.speaker));
    }
    BMAD_TRY_ASSIGN(const AllowedSlots allowed, allowed_slots(session, in_.plan));
    assert(allowed.empty() || allowed.size() == session.slots().size());
    thread_local SessionScores scores;
    scores.compute(session, terms, totals, in_.plan.rank, in_.options);
    const RelevanceBound bound(judge.relevance(), session.newest());
    const auto hidden = session.hidden();
    assert(hidden == nullptr || hidden->size() == session.slots().size());
    Status problem;
    const auto consider = [&](std::uint32_t slot) {
      const bool is_shown = hidden == nullptr || (*hidden)[slot] == 0;
      if (problem && is_shown && (allowed.empty() || allowed[slot] != 0)) {
        problem = score_entry(index, slot, scores, bound, judge);
      }
    };
    if (!has_words_ || weak_ || !in_.plan.rank.spans.empty()) {
      for (std::uint32_t slot = 0; slot < session.slots().size(); ++slot) {
        if (is_candidate(session, slot, terms, scores)) {
          consider(slot);
        }
      }
      return problem;
    }
    const auto least = [this] { return best_->least(); };
    scores.for_each_match(bound, least, [&](std::uint32_t slot) {
      if (query_.sort == SortOrder::kRelevanceDesc || scores.matches_itself(slot)) {
        consider(slot);
      }
    });
    return problem;
  }

  /// Whether words alone decide who can be among the best, so that not all need to be looked at.
  [[nodiscard]] bool may_go_best_first() const {
    constexpr std::size_t kLimitMax = 1000;
    return has_words_ && !weak_ && in_.plan.rank.spans.empty() &&
           !in_.plan.rank.speaker.is_named() && query_.sort == SortOrder::kRelevanceDesc &&
           !in_.plan.needs_text() && query_.filter.limit > 0 && query_.filter.limit <= kLimitMax;
  }

  /// Scores the entries of segments group by group, the most promising first, until none that is
  /// left can be among the best.
  Status score_best_first(const RankTotals& totals, EntryJudge& judge) {
    const GroupBounds groups_bounds(totals, in_.options);
    BMAD_TRY_ASSIGN(GroupQueue queue, choose_groups(in_, judge.relevance(), groups_bounds));
    std::map<std::uint32_t, RelevanceBound> bounds;
    thread_local SessionScores scores;  // Zeros for all slots of the largest session.
    while (std::optional<SlotGroup> group = queue.next(best_->least())) {
      if (in_.settings.is_late()) {
        return query_timeout(query_);
      }
      IndexedSession& session = *in_.sessions[group->session];
      const RelevanceBound& bound =
          bounds.try_emplace(group->session, judge.relevance(), session.newest()).first->second;
      group->wanted &=
          groups_bounds.slots_above(*group, in_.terms[group->session],
                                    in_.sizes[group->session].lengths, bound, best_->least());
      if (group->wanted != 0) {
        BMAD_TRY(in_session(session, score_group(*group, totals, scores, bound, judge)));
      }
    }
    return {};
  }

  Status score_group(const SlotGroup& group, const RankTotals& totals, SessionScores& scores,
                     const RelevanceBound& bound, EntryJudge& judge) {
    IndexedSession& session = *in_.sessions[group.session];
    const std::uint32_t count = session.slots().size();
    const SlotRange range = group.slots(count);
    assert(range.begin < range.end && range.end - range.begin <= SlotGroup::kSize);
    const SlotRange around = SessionScores::around(range, count);
    BMAD_TRY_ASSIGN(const SlotView slots, session.slots_between(around.begin, around.end, room_));
    scores.compute(slots, in_.terms[group.session], totals, in_.plan.rank, in_.options, range);
    for (std::uint32_t slot = range.begin; slot < range.end; ++slot) {
      if ((group.wanted >> (slot - range.begin) & 1U) != 0 && scores.matches(slot)) {
        BMAD_TRY(score_entry(group.session, slot, scores, bound, judge));
      }
    }
    return {};
  }

  /// The rule for questions that find entries by something else than their words.
  [[nodiscard]] bool is_candidate(const IndexedSession& session, std::uint32_t slot,
                                  const SessionTerms& terms, const SessionScores& scores) const {
    if (weak_) {
      return !terms.by_speaker.empty() && terms.by_speaker[slot] != 0;
    }
    if (!has_words_) {
      return true;
    }
    if (query_.sort != SortOrder::kRelevanceDesc) {
      return scores.matches_itself(slot);
    }
    return scores.matches(slot) || is_in_span(time_of(session, slot));
  }

  static Timestamp time_of(const IndexedSession& session, std::uint32_t slot) {
    return session.timestamp(session.slots().ordinal(slot));
  }

  Status score_entry(std::size_t index, std::uint32_t slot, const SessionScores& scores,
                     const RelevanceBound& bound, EntryJudge& judge) {
    const IndexedSession& session = *in_.sessions[index];
    const SlotView& slots = scores.slots();
    const std::uint32_t flags = slots.flags[slot];
    // To decode a time takes longer than all else here, so that most entries end before it.
    const bool text_knows_time = !in_.plan.rank.spans.empty();
    const double text = scores.text(slot, text_knows_time ? time_of(session, slot) : Timestamp{});
    if (bound.most(text, flags) < best_->least()) {
      return {};
    }
    BMAD_TRY_ASSIGN(const std::optional<Found> found,
                    judge.judge(index, slot, slots, text, best_->least()));
    if (!found) {
      return {};
    }
    if (is_best_first_ && in_.sessions.size() > 1) {
      best_->offer_of_all(*found);
    } else {
      best_->offer(*found);
    }
    return {};
  }

  [[nodiscard]] bool is_in_span(Timestamp time) const {
    return query_.sort == SortOrder::kRelevanceDesc && in_.options.date_bonus > 0 &&
           std::ranges::any_of(in_.plan.rank.spans, [&](const DateSpan& span) {
             return time >= span.begin && time < span.end;
           });
  }

  Result<std::vector<TextExplanation>> explain(const std::vector<Found>& found,
                                               const RankTotals& totals) {
    std::vector<TextExplanation> explanations(found.size());
    std::vector<std::size_t> by_session(found.size());
    std::iota(by_session.begin(), by_session.end(), std::size_t{0});
    std::ranges::stable_sort(by_session, {}, [&](std::size_t i) { return found[i].session; });
    SessionScores scores;
    std::size_t computed = in_.sessions.size();
    for (const std::size_t i : by_session) {
      IndexedSession& session = *in_.sessions[found[i].session];
      if (computed != found[i].session) {
        computed = found[i].session;
        BMAD_TRY(in_session(session, session.load()));
        scores.compute(session, in_.terms[computed], totals, in_.plan.rank, in_.options);
      }
      const std::uint32_t slot = slot_of(found[i]);
      explanations[i] = scores.explain(slot, found[i].timestamp);
      if (meaning_) {
        explanations[i].meaning = meaning_score_->own(computed, slot) / totals.full;
        explanations[i].session_meaning = meaning_score_->session(computed) / totals.full;
        explanations[i].cosine = meaning_->cosine(computed, slot);
      }
    }
    return explanations;
  }

  SearchScope in_;
  SlotRoom room_;  // Of the group that is scored.
  const Query& query_ = in_.plan.query;
  bool has_words_ = false;
  bool weak_ = false;  // Only who is named is known.
  bool phrases_are_excluded_ = false;
  bool is_best_first_ = false;  // One thread goes through all sessions.
  TermPostings terms_{in_};
  SearchResult result_;
  std::optional<BestFound> best_;
  std::optional<Meaning> meaning_;
  std::optional<MeaningScore> meaning_score_;
  std::future<std::optional<Meaning>> compared_;  // Writes to result_.encoder: ends first.
};

}  // namespace

Result<SearchResult> search_sessions(std::span<IndexedSession* const> sessions, const Plan& plan,
                                     const SearchSettings& settings) {
  return Search(sessions, plan, settings).run();
}

Result<SearchResult> search_sessions(std::span<IndexedSession* const> sessions, const Query& query,
                                     const SearchSettings& settings) {
  BMAD_TRY_ASSIGN(const Plan plan, read_query(query, settings.now));
  return Search(sessions, plan, settings).run();
}

}  // namespace bmad_mem
