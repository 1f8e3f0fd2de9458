// best_found.cpp - keeps the best entries of all sessions, and measures how near they are.
#include "best_found.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "match_finder.hpp"
#include "meaning.hpp"
#include "model/entry.hpp"
#include "plan.hpp"
#include "search/dialogue_act.hpp"

namespace bmad_mem {

/// The best first, for the order asked for.
bool BestFound::is_before(const Found& a, const Found& b) const {
  if (a.evicted != b.evicted) {
    return b.evicted;
  }
  if (sort_ == SortOrder::kRelevanceDesc && a.relevance != b.relevance) {
    return a.relevance > b.relevance;
  }
  if (sort_ == SortOrder::kRelevanceDesc && a.length != b.length) {
    return a.length > b.length;
  }
  if (a.timestamp != b.timestamp) {
    return sort_ == SortOrder::kTimeAsc ? a.timestamp < b.timestamp : a.timestamp > b.timestamp;
  }
  if (a.session != b.session) {
    return look_up_.is_session_before(a, b);
  }
  // Ordinals depend on how a session was indexed.
  return a.type != b.type ? a.type < b.type : look_up_.line(a) > look_up_.line(b);
}

void BestFound::offer(const Found& found) {
  if (found.relevance < min_relevance_) {
    return;
  }
  assert(found.session < found_.size());
  const auto before = [this](const Found& a, const Found& b) { return is_before(a, b); };
  std::vector<Found>& best = found_[found.session];
  if (limit_ == 0 || best.size() < limit_) {
    best.push_back(found);
    std::ranges::push_heap(best, before);
  } else if (before(found, best.front())) {
    std::ranges::pop_heap(best, before);
    best.back() = found;
    std::ranges::push_heap(best, before);
  } else {
    return;
  }
  assert(limit_ == 0 || best.size() <= limit_);
  // What was evicted keeps nothing else out, however relevant it is.
  if (sort_ == SortOrder::kRelevanceDesc && limit_ != 0 && best.size() == limit_ &&
      !found.evicted) {
    raise_least(best.front().relevance);
  }
}

void BestFound::offer_of_all(const Found& found) {
  offer(found);
  if (limit_ == 0 || found.evicted || found.relevance <= least()) {
    return;
  }
  const Result<std::uint32_t> id = look_up_.id_hash(found);
  if (!id) {
    return;
  }
  const auto [known, is_new] = top_ids_.try_emplace(*id, found.relevance);
  if (!is_new) {
    if (known->second >= found.relevance) {
      return;
    }
    top_.erase({known->second, *id});
    known->second = found.relevance;
  }
  top_.emplace(found.relevance, *id);
  if (top_.size() > limit_) {
    top_ids_.erase(top_.begin()->second);
    top_.erase(top_.begin());
  }
  assert(top_.size() == top_ids_.size() && top_.size() <= limit_);
  if (top_.size() == limit_) {
    raise_least(top_.begin()->first);
  }
}

void BestFound::raise_least(double relevance) {
  double known = least();
  while (known < relevance && !least_.compare_exchange_weak(known, relevance)) {
  }
}

void BestFound::finish(std::size_t session) {
  assert(session < found_.size());
  constexpr std::size_t kPoolMin = 1024;
  const std::vector<Found> done = std::exchange(found_[session], {});
  if (done.empty()) {
    return;
  }
  const std::lock_guard guard(pool_mutex_);
  pool_.insert(pool_.end(), done.begin(), done.end());
  if (limit_ != 0 && pool_.size() > std::max(pool_max_, kPoolMin)) {
    shorten_pool();
    pool_max_ = 2 * pool_.size();
  }
}

/// Drops what comes behind `limit` entries that are certainly different ones, by their hashes.
void BestFound::shorten_pool() {
  std::ranges::sort(pool_, [this](const Found& a, const Found& b) { return is_before(a, b); });
  std::unordered_set<std::uint32_t> different;
  std::size_t kept = 0;
  while (kept < pool_.size() && different.size() < limit_) {
    if (const Result<std::uint32_t> hash = look_up_.id_hash(pool_[kept++])) {
      different.insert(*hash);
    }
  }
  if (different.size() < limit_) {
    return;
  }
  if (sort_ == SortOrder::kRelevanceDesc && !pool_[kept - 1].evicted) {
    raise_least(pool_[kept - 1].relevance);
  }
  pool_.erase(pool_.begin() + static_cast<std::ptrdiff_t>(kept), pool_.end());
}

std::vector<Found> BestFound::merged() {
  for (std::size_t session = 0; session < found_.size(); ++session) {
    finish(session);
  }
  std::vector<Found> all = std::exchange(pool_, {});
  std::ranges::sort(all, [this](const Found& a, const Found& b) { return is_before(a, b); });
  return all;
}

namespace {

class FirstFound {
 public:
  FirstFound(const SearchScope& scope, ReadingTools& tools)
      : sessions_(scope.sessions), plan_(scope.plan), tools_(tools) {}

  /// Whether `found` is none of those before it, and holds what the plan asks for.
  Result<bool> takes(Found& found) {
    BMAD_TRY_ASSIGN(const bool holds, holds_phrases(found));
    if (!holds || sessions_.size() <= 1) {
      return holds;
    }
    BMAD_TRY_ASSIGN(std::string id, id_of(found));
    return known_.emplace(found.type, std::move(id)).second;
  }

 private:
  Result<std::string> id_of(Found& found) {
    const IndexedSession& session = *sessions_[found.session];
    if (plan_.query.ids_only) {
      return in_session(session, session.id(found.type, found.ordinal));
    }
    BMAD_TRY_ASSIGN(IndexedSession::LoadedLine line,
                    in_session(session, session.line(found.ordinal)));
    BMAD_TRY_ASSIGN(const JsonValue value, tools_.parser.parse(line.text));
    std::string id(entry_id(value));
    found.line = std::make_shared<const IndexedSession::LoadedLine>(std::move(line));
    return id;
  }

  /// Whether the entry holds, word by word, what it must, and has around it what it should.
  Result<bool> holds_phrases(const Found& found) {
    if (!plan_.needs_text()) {
      return true;
    }
    const SlotView slots = sessions_[found.session]->slots();
    const std::uint32_t slot = slots.slot(found.ordinal);
    assert(slot < slots.size() && "a slot that was found is live");
    for (const Requirement& wanted : plan_.requirements) {
      if (!wanted.phrase.empty()) {
        BMAD_TRY_ASSIGN(const bool holds, holds_phrase_at(found.session, slot, wanted));
        if (holds == wanted.excluded) {
          return false;
        }
      }
    }
    for (const Requirement& wanted : plan_.phrases) {
      bool holds = false;
      for (std::uint32_t at = slot - slots.reach[slot].before;
           !holds && at <= slot + slots.reach[slot].after; ++at) {
        BMAD_TRY_ASSIGN(holds, holds_phrase_at(found.session, at, wanted));
      }
      if (!holds) {
        return false;
      }
    }
    return true;
  }

  Result<bool> holds_phrase_at(std::size_t index, std::uint32_t slot, const Requirement& wanted) {
    const auto [place, is_new] = phrase_held_.try_emplace({index, slot, &wanted}, false);
    if (is_new) {
      const IndexedSession& session = *sessions_[index];
      const Ordinal ordinal = session.slots().ordinal(slot);
      BMAD_TRY_ASSIGN(const IndexedSession::LoadedLine line,
                      in_session(session, session.line(ordinal)));
      BMAD_TRY_ASSIGN(const JsonValue value, tools_.parser.parse(line.text));
      tools_.text.clear();
      entry_searchable_text(line.type, value, tools_.text);
      place->second = holds_phrase(tools_.analyzer, wanted.phrase, tools_.text);
    }
    return place->second;
  }

  std::span<IndexedSession* const> sessions_;
  const Plan& plan_;
  ReadingTools& tools_;
  std::set<std::pair<EntryType, std::string>> known_;
  // By session, slot and phrase: whether the entry itself holds it.
  std::map<std::tuple<std::size_t, std::uint32_t, const Requirement*>, bool> phrase_held_;
};

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

/// The mass of a term of the question; that of a stand-in counts for its word.
double mass_of(const RankTerm& term, double entries, double holders) {
  constexpr double kWorkWordWeight = 0.5;
  const double weight = term.weight * (is_work_word(term.word) ? kWorkWordWeight : 1);
  return term.of_date || only_makes_a_question(term.word)
             ? 0
             : weight * std::log(1 + (entries + kOtherEntries - holders + 0.5) / (holders + 0.5));
}

}  // namespace

bool Plan::needs_text() const {
  return !phrases.empty() || std::ranges::any_of(requirements, [](const Requirement& requirement) {
    return !requirement.phrase.empty();
  });
}

Result<std::vector<Found>> choose_first(const SearchScope& scope, ReadingTools& tools,
                                        std::vector<Found> found, std::size_t limit) {
  FirstFound first(scope, tools);
  std::vector<Found> chosen;
  for (Found& each : found) {
    if (limit != 0 && chosen.size() == limit) {
      break;
    }
    if (scope.settings.is_late()) {
      return query_timeout(scope.plan.query);
    }
    BMAD_TRY_ASSIGN(const bool is_taken, first.takes(each));
    if (is_taken) {
      chosen.push_back(std::move(each));
    }
  }
  return chosen;
}

NearnessMeasure::NearnessMeasure(const SearchScope& scope, std::vector<AskedWord>& asked) {
  for (const SlotTotals& size : scope.sizes) {
    entries_ += static_cast<double>(size.entries);
  }
  for (std::size_t i = 0; i < scope.plan.rank.terms.size(); ++i) {
    const RankTerm& term = scope.plan.rank.terms[i];
    const auto holders = static_cast<double>(scope.count_holders(i));
    const double mass = mass_of(term, entries_, holders);
    mass_ += mass;
    if (mass > 0) {
      asked.push_back({.word = term.word.empty() ? term.term : term.word,
                       .share = mass,
                       .is_known = holders > 0});
    }
  }
  for (AskedWord& each : asked) {
    assert(mass_ > 0 && "it is the sum of their shares");
    each.share /= mass_;
  }
}

Status NearnessMeasure::measure(const SearchScope& scope, std::span<Found> found) const {
  const std::vector<RankTerm>& terms = scope.plan.rank.terms;
  assert(scope.terms.size() == scope.sessions.size());
  std::vector<double> masses;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto holders = static_cast<double>(scope.count_holders(i));
    // A stand-in is as rare as its word, which no entry holds.
    masses.push_back(mass_of(terms[i], entries_, terms[i].stands_in ? 0 : holders));
  }
  for (Found& each : found) {
    const SessionTerms& its = scope.terms[each.session];
    IndexedSession& session = *scope.sessions[each.session];
    BMAD_TRY(in_session(session, session.load_slots(0, 0)));
    const std::uint32_t slot = session.slots().slot(each.ordinal);
    const std::uint32_t first = slot - std::min(slot, kBeside);
    const auto slots = static_cast<std::uint32_t>(session.slots().size());
    BMAD_TRY(in_session(session, session.load_slots(first, std::min(slot + kBeside + 1, slots))));
    const WindowReach reach = session.slots().reach[slot];
    const std::uint32_t begin = slot - std::min<std::uint32_t>(reach.before, kBeside);
    const std::uint32_t end = slot + std::min<std::uint32_t>(reach.after, kBeside);
    assert(its.terms.empty() || its.terms.size() == masses.size());
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
    words += !scope.plan.rank.speaker.who.empty() && !its.by_speaker.empty() &&
             its.by_speaker[slot] != 0;
    words += std::ranges::any_of(scope.plan.rank.spans, [&](const DateSpan& span) {
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
