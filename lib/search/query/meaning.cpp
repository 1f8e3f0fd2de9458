// meaning.cpp - compares the vectors of entries with that of a question.
#include "meaning.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/parallel.hpp"
#include "bmad_mem/text.hpp"
#include "search/segment.hpp"

namespace bmad_mem {

namespace {

constexpr std::array<std::string_view, 12> kQuestionWords = {"what",  "which",  "who",   "whom",
                                                             "whose", "when",   "where", "why",
                                                             "how",   "what's", "who's", "where's"};
constexpr std::array<std::string_view, 24> kAuxiliaries = {
    "do",    "does",  "did",    "is",   "are",   "was",  "were",   "am",
    "be",    "been",  "has",    "have", "had",   "can",  "could",  "will",
    "would", "shall", "should", "may",  "might", "must", "please", "tell"};

/// When the encoder must have answered: words need time, too.
TextEncoder::Deadline encoder_deadline(const SearchSettings& settings) {
  if (settings.encoder_deadline || !settings.deadline) {
    return settings.encoder_deadline;
  }
  const auto now = std::chrono::steady_clock::now();
  return now + (*settings.deadline - now) * 3 / 4;
}

/// The best share of the weight of all terms that one of `found` holds itself.
double best_share(std::span<const SessionTerms> terms, const RankTotals& totals,
                  std::span<const Found> found,
                  const std::function<std::uint32_t(const Found&)>& slot_of) {
  double all = 0;
  for (const TermScores& each : totals.terms) {
    all += each.entry.weight;
  }
  double best = 0;
  for (const Found& each : found) {
    const std::vector<SessionPostings>& its = terms[each.session].terms;
    assert(its.size() <= totals.terms.size());
    const std::uint32_t slot = slot_of(each);
    double held = 0;
    for (std::size_t i = 0; i < its.size(); ++i) {
      held += std::ranges::binary_search(its[i].postings, slot, {}, &SlotPosting::slot)
                  ? totals.terms[i].entry.weight
                  : 0;
    }
    best = std::max(best, held);
  }
  return all > 0 ? std::min(1.0, best / all) : 0;
}

/// Of the weight of all terms, that of those which mean something to the encoder: no identifiers.
double known_share(const Meaning& meaning, const RankQuery& query, const RankTotals& totals) {
  double all = 0;
  assert(query.terms.size() == totals.terms.size());
  double known = 0;
  for (std::size_t i = 0; i < totals.terms.size(); ++i) {
    const RankTerm& term = query.terms[i];
    const double weight = totals.terms[i].entry.weight;
    all += weight;
    known += !term.of_identifier && meaning.knows(term.word.empty() ? term.term : term.word)
                 ? weight
                 : 0;
  }
  return all > 0 ? known / all : 1;
}

/// The mean of what there is of the first few.
template <typename Of>
double usual(std::span<const Found> found, const Of& of) {
  constexpr std::size_t kFew = 10;
  double sum = 0;
  double count = 0;
  for (const Found& each : found.first(std::min(found.size(), kFew))) {
    if (const std::optional<double> cosine = of(each)) {
      sum += *cosine;
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace

bool only_makes_a_question(std::string_view word) {
  return is_among(kQuestionWords, word) || is_among(kAuxiliaries, word);
}

Result<AskedVectors> AskedVectors::of(std::span<IndexedSession* const> sessions) {
  AskedVectors asked;
  asked.ranges.resize(sessions.size());
  asked.vectors.resize(sessions.size());
  std::map<Segment*, std::shared_ptr<SegmentVectors>> of_segments;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    VectorRange& range = asked.ranges[i];
    BMAD_TRY_ASSIGN(range, in_session(*sessions[i], sessions[i]->vectors()));
    if (Segment* const segment = range.segment.get(); segment != nullptr) {
      const auto [place, is_new] = of_segments.try_emplace(segment);
      if (is_new) {
        place->second = segment->vectors();
      }
      asked.vectors[i] = place->second;
    }
    asked.has_any = asked.has_any || asked.vectors[i] != nullptr;
  }
  return asked;
}

std::optional<Meaning> Meaning::of(const AskedVectors& asked, const std::string& statement,
                                   const SearchSettings& settings, EncoderUse& use) {
  const auto deadline = encoder_deadline(settings);
  const Result<std::shared_ptr<TextEncoder>> encoder = settings.encoder(deadline);
  if (!encoder || *encoder == nullptr) {
    use.failed = !encoder;
    use.late = !encoder && encoder.error().code == ErrorCode::E_QUERY_TIMEOUT;
    use.reason = encoder ? "there is no encoder" : encoder.error().message;
    return std::nullopt;
  }
  const std::array texts = {statement};
  const VectorsOf of = vectors_of(**encoder, settings.encodes_sensitive);
  const Result<std::vector<float>> vector = (*encoder)->encode(texts, deadline);
  if (!vector) {
    use.failed = true;
    use.late = vector.error().code == ErrorCode::E_QUERY_TIMEOUT;
    use.reason = vector.error().message;
    return std::nullopt;
  }
  use.name = (*encoder)->name();
  if (vector->size() != of.dimension) {
    use.failed = true;
    use.reason = "the vectors of the encoder have another size by now; ask again";
    return std::nullopt;
  }
  if (std::ranges::all_of(*vector, [](float number) { return number == 0; })) {
    use.reason = "the encoder can't read the question";
    return std::nullopt;
  }
  const PackedQuery query(*vector);
  std::map<SegmentVectors*, std::uint64_t> counts;
  for (std::size_t i = 0; i < asked.ranges.size(); ++i) {
    if (SegmentVectors* const its = asked.vectors[i].get(); its != nullptr && its->of() == of) {
      counts[its] += asked.ranges[i].count;
    }
  }
  for (const auto& [vectors, count] : counts) {
    vectors->expect(count);
  }
  Meaning meaning(*encoder, asked.ranges.size());
  for_each_parallel(asked.ranges.size(), [&](std::size_t i) {
    const VectorRange& range = asked.ranges[i];
    if (!counts.contains(asked.vectors[i].get())) {
      return;
    }
    std::vector<std::int16_t> cosines(range.count);
    query.compare(asked.vectors[i]->rows(range.first, range.first + range.count), range.count,
                  cosines.data());
    meaning.sessions_[i].take(range, std::move(cosines));
  });
  meaning.take_means();
  for (const OfSession& each : meaning.sessions_) {
    use.encoded += each.encoded;
  }
  if (use.encoded == 0) {
    use.reason = "no entry has a vector of this encoder yet";
    return std::nullopt;
  }
  use.took_part = true;
  return meaning;
}

void Meaning::take_means() {
  std::int64_t sum = 0;
  std::uint64_t count = 0;
  double session_sum = 0;
  double session_count = 0;
  for (const OfSession& each : sessions_) {
    sum += each.sum;
    count += each.count;
    session_sum += each.best.value_or(0);
    session_count += each.best ? 1 : 0;
  }
  mean_cosine_ = static_cast<double>(sum) /
                 (kCosineScale * static_cast<double>(std::max<std::uint64_t>(1, count)));
  mean_session_cosine_ = session_sum / std::max(1.0, session_count);
}

void Meaning::OfSession::take(const VectorRange& range, std::vector<std::int16_t> its) {
  assert(range.slots.empty() || range.slots.size() == its.size());
  if (range.slots.empty()) {
    cosines = std::move(its);
  } else {
    for (std::size_t i = 0; i < its.size(); ++i) {
      if (const std::uint32_t slot = range.slots[i]; slot != SlotTable::kNoSlot) {
        cosines.resize(std::max<std::size_t>(cosines.size(), slot + 1), kNoVector);
        cosines[slot] = its[i];
      }
    }
  }
  std::array<std::int16_t, 3> greatest{kNoVector, kNoVector, kNoVector};
  for (const std::int16_t cosine : cosines) {
    encoded += cosine != kNoVector ? 1 : 0;
    if (!is_cosine(cosine)) {
      continue;
    }
    sum += cosine;
    ++count;
    if (cosine > greatest[2]) {
      greatest[2] = cosine;
      std::ranges::sort(greatest, std::greater());
    }
  }
  most = greatest[0];
  const std::size_t some = std::min<std::size_t>(count, greatest.size());
  const double total = std::accumulate(greatest.begin(), greatest.begin() + some, 0.0);
  best = some > 0 ? std::optional(total / kCosineScale / static_cast<double>(some)) : std::nullopt;
}

MeaningScore::MeaningScore(const Meaning& meaning, const SearchScope& scope,
                           const RankTotals& totals, std::span<const Found> by_words,
                           const std::function<std::uint32_t(const Found&)>& slot_of)
    : meaning_(meaning), known_(known_share(meaning, scope.plan.rank, totals)) {
  const double gate = 1 - best_share(scope.terms, totals, by_words, slot_of);
  weight_ = known_ * (1 + gate) * kMeaningWeight;
  // What an entry's session is about counts where that counts by words.
  session_weight_ =
      scope.options.session_weight > 0 ? known_ * (1 + gate) * kSessionMeaningWeight : 0;
  usual_ = usual(by_words,
                 [&](const Found& each) { return meaning.cosine(each.session, slot_of(each)); });
  usual_session_ =
      usual(by_words, [&](const Found& each) { return meaning.session_cosine(each.session); });
}

std::optional<double> Meaning::cosine(std::size_t session, std::uint32_t slot) const {
  const std::vector<std::int16_t>& its = sessions_[session].cosines;
  return slot < its.size() && is_cosine(its[slot]) ? std::optional(its[slot] / kCosineScale)
                                                   : std::nullopt;
}

template <typename Use>
void Meaning::for_near(std::int16_t least, const Use& use) const {
  for (std::uint32_t session = 0; session < sessions_.size(); ++session) {
    const OfSession& its = sessions_[session];
    if (its.most < least) {
      continue;
    }
    for (std::uint32_t slot = 0; slot < its.cosines.size(); ++slot) {
      if (its.cosines[slot] >= least) {
        use({.cosine = its.cosines[slot], .session = session, .slot = slot});
      }
    }
  }
}

std::vector<NearEntry> Meaning::nearest(std::size_t count, double near_min) const {
  // How many there are of each cosine tells from where on they are wanted.
  constexpr unsigned kShift = 5;
  const auto wanted = static_cast<std::int16_t>(std::clamp(near_min, 0.0, 1.0) * kCosineScale);
  std::array<std::uint32_t, (1U << 15U >> kShift)> counts{};
  for_near(wanted, [&](const NearEntry& near) {
    assert(near.cosine >= 0 && near.cosine <= kCosineScale);
    counts[static_cast<std::uint16_t>(near.cosine) >> kShift] += 1;
  });
  std::size_t bucket = counts.size();
  for (std::size_t sum = 0; bucket > static_cast<std::size_t>(wanted >> kShift) && sum < count;) {
    sum += counts[--bucket];
  }
  std::vector<NearEntry> near;
  for_near(std::max(wanted, static_cast<std::int16_t>(bucket << kShift)),
           [&](const NearEntry& each) { near.push_back(each); });
  std::ranges::stable_sort(near, std::greater(), &NearEntry::cosine);
  near.resize(std::min(near.size(), count));
  return near;
}

Status NearestFound::add_to(std::vector<Found>& found) {
  constexpr std::size_t kNearest = 64;
  std::set<std::pair<std::size_t, Ordinal>> known;
  for (const Found& each : found) {
    known.emplace(each.session, each.ordinal);
  }
  std::size_t passed = 0;
  std::size_t looked_at = 0;
  // Where filters leave few, more are looked at.
  for (std::size_t wanted = kNearest; passed < kNearest; wanted *= 4) {
    const std::vector<NearEntry> near = meaning_.nearest(wanted, near_min_);
    for (; looked_at < near.size() && passed < kNearest; ++looked_at) {
      const NearEntry& each = near[looked_at];
      IndexedSession& session = *scope_.sessions[each.session];
      if (known.contains({each.session, session.slots().ordinal(each.slot)})) {
        ++passed;
        continue;
      }
      if (scope_.settings.is_late()) {
        return query_timeout(scope_.plan.query);
      }
      BMAD_TRY_ASSIGN(std::optional<Found> entry, in_session(session, entry_at(each)));
      if (entry) {
        found.push_back(*std::move(entry));
        ++passed;
      }
    }
    if (near.size() < wanted) {
      break;
    }
  }
  return {};
}

Result<const AllowedSlots*> NearestFound::prepared(std::size_t index) {
  const auto [place, is_new] = allowed_.try_emplace(index);
  if (is_new) {
    IndexedSession& session = *scope_.sessions[index];
    std::vector<std::uint8_t>& by_speaker = scope_.terms[index].by_speaker;
    if (!scope_.plan.phrases.empty() || scope_.plan.rank.speaker.is_named()) {
      BMAD_TRY(session.load());
    }
    if (scope_.options.speaker_bonus > 0 && by_speaker.empty()) {
      BMAD_TRY_ASSIGN(by_speaker, slots_of_speaker(session, scope_.plan.rank.speaker));
    }
    BMAD_TRY_ASSIGN(place->second, allowed_slots(session, scope_.plan));
  }
  return &place->second;
}

/// Nothing when it does not pass.
Result<std::optional<Found>> NearestFound::entry_at(const NearEntry& near) {
  IndexedSession& session = *scope_.sessions[near.session];
  BMAD_TRY_ASSIGN(const AllowedSlots* const allowed, prepared(near.session));
  const auto hidden = session.hidden();
  if ((!allowed->empty() && (*allowed)[near.slot] == 0) ||
      (hidden != nullptr && (*hidden)[near.slot] != 0)) {
    return std::optional<Found>();
  }
  assert(near.slot < session.slots().size());
  const SlotRange range{.begin = near.slot, .end = near.slot + 1};
  const SlotRange around = SessionScores::around(range, session.slots().size());
  BMAD_TRY_ASSIGN(const SlotView slots, session.slots_between(around.begin, around.end, room_));
  scores_.compute(slots, scope_.terms[near.session], totals_, scope_.plan.rank, scope_.options,
                  range);
  const double sum = scores_.sum(near.slot, session.timestamp(slots.ordinal(near.slot)));
  constexpr double kAny = -std::numeric_limits<double>::infinity();
  return judge_.judge(near.session, near.slot, slots, sum / totals_.full, kAny);
}

}  // namespace bmad_mem
