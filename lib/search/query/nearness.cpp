// nearness.cpp - from the postings of a question's words; see best_found.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "best_found.hpp"
#include "meaning.hpp"
#include "search/dialogue_act.hpp"

namespace bmad_mem {
namespace {

constexpr double kCoverageWeight = 4.5;
constexpr double kWordsWeight = 3;
constexpr double kEntriesWeight = 0.4;
constexpr double kEntriesMin = 400;
/// What a task must reach, a prompt that asks a question, and any other.
constexpr std::array<double, 3> kNear = {3.0, 3.4, 5.5};
/// What a request must reach of which an entry holds one word: more than that can be.
constexpr double kNearOfOneWord = 6.6;
/// Added to the number of entries, as if they were about other things: of ten entries each has
/// words that no other has.
constexpr double kOtherEntries = 100;
/// Neighbours that count for coverage, on each side.
constexpr std::uint32_t kBeside = 1;
/// memory_config.context.gate by default.
constexpr double kUsualGate = 0.5;

double holders_of(const std::vector<SessionTerms>& collected, std::size_t term) {
  std::size_t count = 0;
  for (const SessionTerms& session : collected) {
    count += session.terms.empty() ? 0 : session.terms[term].postings.size();
  }
  return static_cast<double>(count);
}

/// The mass of a term of the question; that of a stand-in counts for its word.
double mass_of(const RankTerm& term, double entries, double holders) {
  constexpr double kWorkWordWeight = 0.5;
  const double weight = term.weight * (is_work_word(term.word) ? kWorkWordWeight : 1);
  return term.of_date || only_makes_a_question(term.word)
             ? 0
             : weight * std::log(1 + (entries + kOtherEntries - holders + 0.5) / (holders + 0.5));
}

}  // namespace

NearnessMeasure::NearnessMeasure(const Plan& plan, const std::vector<SessionTerms>& collected,
                                 const std::vector<SlotTotals>& sizes,
                                 std::vector<AskedWord>& asked) {
  for (const SlotTotals& size : sizes) {
    entries_ += static_cast<double>(size.entries);
  }
  for (std::size_t i = 0; i < plan.rank.terms.size(); ++i) {
    const RankTerm& term = plan.rank.terms[i];
    const double holders = holders_of(collected, i);
    const double mass = mass_of(term, entries_, holders);
    mass_ += mass;
    if (mass > 0) {
      asked.push_back({.word = term.word.empty() ? term.term : term.word,
                       .share = mass,
                       .is_known = holders > 0});
    }
  }
  for (AskedWord& each : asked) {
    each.share /= mass_;
  }
}

Status NearnessMeasure::measure(std::span<IndexedSession* const> sessions, const Plan& plan,
                                const std::vector<SessionTerms>& collected,
                                std::span<Found> found) const {
  const std::vector<RankTerm>& terms = plan.rank.terms;
  std::vector<double> masses;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double holders = holders_of(collected, i);
    // A stand-in is as rare as its word, which no entry holds.
    masses.push_back(mass_of(terms[i], entries_, terms[i].stands_in ? 0 : holders));
  }
  for (Found& each : found) {
    const SessionTerms& its = collected[each.session];
    IndexedSession& session = *sessions[each.session];
    BMAD_TRY(in_session(session, session.load_slots(0, 0)));
    const std::uint32_t slot = session.slots().slot(each.ordinal);
    const std::uint32_t first = slot - std::min(slot, kBeside);
    BMAD_TRY(in_session(session, session.load_slots(first, slot + kBeside + 1)));
    const WindowReach reach = session.slots().reach[slot];
    const std::uint32_t begin = slot - std::min<std::uint32_t>(reach.before, kBeside);
    const std::uint32_t end = slot + std::min<std::uint32_t>(reach.after, kBeside);
    double held = 0;
    std::size_t words = 0;
    for (std::size_t i = 0; i < its.terms.size(); ++i) {
      const auto postings = its.terms[i].postings;
      const auto first_at = std::ranges::lower_bound(postings, begin, {}, &SlotPosting::slot);
      std::array<bool, 3> holds = {};  // Before, itself, after.
      for (auto it = first_at; it != postings.end() && it->slot <= end; ++it) {
        holds.at(it->slot + kBeside - slot) = true;
      }
      const auto [before, own, after] = holds;
      held += before || own || after ? masses[i] : 0;
      const bool is_asked = masses[i] > 0 && !terms[i].stands_in;
      words += own && is_asked && !is_work_word(terms[i].word) ? 1 : 0;
      each.nearness.before_adds |= before && !own && is_asked;
      each.nearness.after_adds |= after && !own && is_asked;
    }
    words += !plan.rank.speaker.who.empty() && !its.by_speaker.empty() && its.by_speaker[slot] != 0;
    words += std::ranges::any_of(plan.rank.spans, [&](const DateSpan& span) {
      return each.timestamp >= span.begin && each.timestamp < span.end;
    });
    each.nearness.coverage = mass_ > 0 ? std::min(1.0, held / mass_) : 0;
    each.nearness.words = words;
    each.nearness.score =
        kCoverageWeight * each.nearness.coverage + kWordsWeight * std::log1p(words) -
        kEntriesWeight * std::max(0.0, std::log(std::max(entries_, 1.0) / kEntriesMin));
  }
  return {};
}

double needed_score(AskedAs asked_as, std::size_t words, double gate) {
  const bool is_of_one_word = asked_as == AskedAs::kRequest && words < 2;
  return (is_of_one_word ? kNearOfOneWord : kNear.at(static_cast<std::size_t>(asked_as))) * gate /
         kUsualGate;
}

Certainty certainty_of(std::span<const Hit> hits) {
  constexpr std::size_t kLookedAt = 3;
  /// Above the least score, so far that less than one in a hundred is about something else.
  constexpr double kSureMargin = 2.3;
  double best = -1;
  for (const Hit& hit : hits.first(std::min(hits.size(), kLookedAt))) {
    best = std::max(best, hit.nearness.score);
  }
  const double needed = needed_score(AskedAs::kQuestion, 1, kUsualGate);
  return best < needed                 ? Certainty::kNone
         : best < needed + kSureMargin ? Certainty::kMaybe
                                       : Certainty::kSure;
}

std::string_view certainty_name(Certainty certainty) {
  static constexpr std::array<std::string_view, 3> kNames = {"none", "maybe", "sure"};
  return kNames[static_cast<std::size_t>(certainty)];
}

}  // namespace bmad_mem
