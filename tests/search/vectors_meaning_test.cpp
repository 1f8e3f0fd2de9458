// vectors_meaning_test.cpp - what questions find by meaning, against the same worked out the plain
// way: cosines of unpacked rows, and the sums as they are written down in query/meaning.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "lifecycle/maintenance.hpp"
#include "search/vectors_memory.hpp"

namespace bmad_mem::test::root_index {

namespace {

// Words of one family begin alike, which is all that the encoder looks at.
constexpr std::array<std::string_view, 24> kWords = {
    "automobile", "autograph", "autumn",   "river",   "rivet",  "rival",  "house",   "household",
    "houses",     "planet",    "planning", "planted", "window", "winter", "winning", "market",
    "marble",     "march",     "copper",   "copy",    "coptic", "silver", "silent",  "silk"};
/// As query/meaning.cpp has it.
constexpr double kNearMin = 0.45;
/// Scores below it come ever nearer to 0.
constexpr double kSmall = 0.05;

constexpr std::array<std::string_view, 3> kTags = {"red", "green", "blue"};

template <typename List, typename Item>
bool is_in(const List& list, const Item& item) {
  return std::ranges::find(list, item) != std::ranges::end(list);
}

struct Made {
  std::string session;
  EntryType type = EntryType::kConversation;
  std::string id;
  std::set<std::string> words;
  std::set<std::string> tags;
  int day = 0;
  std::optional<double> cosine;  // With the question at hand.
};

/// Some sessions with entries of three types: some in segments, some behind them, some archived or
/// evicted; a part of them encoded.
class MeaningTwin : public VectorsMemory {
 public:
  explicit MeaningTwin(unsigned seed) : random_(seed) {
    encoder = std::make_shared<WordEncoder>("words", chance(50) ? 64 : 100);
    for (const char* id : {"m1", "m2", "m3", "m4"}) {
      expect(create_session(*open(), {.session_id = id}));
      write(id, 5 + below(18));  // So that words find fewer than are looked at.
    }
    if (chance(50)) {
      Process process = open();
      // Statements of what is evicted are no entries that were made here.
      process.store->config.knowledge.detect_preferences = false;
      expect(compact_session(*process, "m1", {.keep_share = 0.5}));
    }
    if (chance(50)) {
      expect(archive_session(*open(), "m2"));
    }
    flush();
    expect(encode(open_with(), {.texts_max = chance(50) ? 1000 : 10 + below(40)}));
    write("m3", below(10));
    if (chance(50)) {
      flush();
    }
    write("m4", below(10));
  }

  void ask_some(int questions) {
    // What questions do not flush stays behind the segments.
    process_ = open_with();
    process_.store->config.indexing.rebuild_threshold_writes = 1'000'000;
    for (int i = 0; i < questions; ++i) {
      compare(query());
    }
  }

  std::size_t asked = 0;
  std::size_t found_by_meaning = 0;

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <typename List>
  std::string pick(const List& list) {
    return std::string(list[below(list.size())]);
  }

  void write(const std::string& session, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      Made made{.session = session,
                .type = std::array{EntryType::kConversation, EntryType::kDecision,
                                   EntryType::kFact}[below(3)],
                .id = fmt::format("{}-{}", session, ++last_id_),
                .words = {},
                .tags = {},
                .day = static_cast<int>(1 + below(28))};
      std::string text;
      for (std::size_t words = 1 + below(6); words > 0; --words) {
        const std::string word = pick(kWords);
        made.words.insert(word);
        text += (text.empty() ? "" : " ") + word;
      }
      made.tags.insert(pick(kTags));
      const std::string own = made.type == EntryType::kConversation
                                  ? fmt::format(R"("role":"user","content":"{}")", text)
                              : made.type == EntryType::kDecision
                                  ? fmt::format(R"("decision":"{}")", text)
                                  : fmt::format(R"("content":"{}")", text);
      const std::string line =
          fmt::format(R"({{"id":"{}","timestamp":"2026-01-{:02}T10:00:00Z",{},"tags":["{}"]}})",
                      made.id, made.day, own, *made.tags.begin());
      const std::string_view view = line;
      expect(add_lines(*open(), session, made.type, {&view, 1}, {}));
      made_.push_back(std::move(made));
    }
  }

  Query query() {
    Query query{.text = "what about", .explain = true};
    wanted_word_ = excluded_word_ = {};
    for (std::size_t words = 1 + below(3); words > 0; --words) {
      query.text += " " + pick(kWords);
    }
    if (chance(15)) {
      wanted_word_ = pick(kWords);
      query.text += " +" + wanted_word_;
    }
    if (chance(15)) {
      excluded_word_ = pick(kWords);
      query.text += " -" + excluded_word_;
    }
    if (chance(20)) {
      query.filter.types = {EntryType::kDecision, EntryType::kFact};
    }
    if (chance(20)) {
      query.filter.tags = {pick(kTags)};
    }
    if (chance(20)) {
      query.filter.since = *parse_rfc3339(fmt::format("2026-01-{:02}T10:00:00Z", 1 + below(28)));
    }
    if (chance(20)) {
      query.filter.sessions = {chance(50) ? "m1" : "m3", "m4"};
    }
    query.filter.limit = 0;
    return query;
  }

  /// Which entries have a vector, and its cosine with the question.
  void look_at_vectors(const std::vector<float>& question) {
    for (Made& made : made_) {
      made.cosine.reset();
    }
    const Result<ChosenIndexes> chosen = chosen_indexes(*process_, {});
    CachedIndexes indexes(*process_, *chosen);
    expect(indexes.run([&]() -> Status {
      for (IndexedSession* const session : indexes.sessions()) {
        BMAD_TRY(session->load());
        BMAD_TRY_ASSIGN(const VectorRange range, session->vectors());
        const auto vectors = range.segment != nullptr ? range.segment->vectors() : nullptr;
        for (std::uint32_t i = 0; vectors != nullptr && i < range.count; ++i) {
          const std::uint32_t slot = range.slots.empty() ? i : range.slots[i];
          const std::uint8_t* const row = vectors->rows(range.first + i, range.first + i + 1);
          if (slot != SlotTable::kNoSlot && is_packed(row)) {
            const Ordinal ordinal = session->slots().ordinal(slot);
            BMAD_TRY_ASSIGN(const std::string id,
                            session->id(flag_type(session->slots().flags[slot]), ordinal));
            made_of(id).cosine = cosine_of(question, row);
          }
        }
      }
      return {};
    }));
  }

  Made& made_of(const std::string& id) { return *std::ranges::find(made_, id, &Made::id); }

  /// As packed_vectors.hpp has it, a number at a time.
  static double cosine_of(const std::vector<float>& question, const std::uint8_t* row) {
    double sum = 0;
    for (std::size_t at = 0; at < question.size(); ++at) {
      const std::uint8_t byte = row[at / 64 * 32 + at % 32];
      const int value = (at % 64 < 32 ? byte & 0xF : byte >> 4) - 8;
      sum +=
          double{question[at]} * value * 3 / (7 * std::sqrt(static_cast<double>(question.size())));
    }
    return std::clamp(sum, -1.0, 1.0);
  }

  [[nodiscard]] bool passes(const Made& made, const EntryFilter& filter) const {
    return (filter.types.empty() || is_in(filter.types, made.type)) &&
           (filter.tags.empty() || made.tags.contains(filter.tags.front())) &&
           (filter.sessions.empty() || is_in(filter.sessions, made.session)) &&
           (!filter.since ||
            *parse_rfc3339(fmt::format("2026-01-{:02}T10:00:00Z", made.day)) >= *filter.since) &&
           (wanted_word_.empty() || holds(made, wanted_word_)) &&
           (excluded_word_.empty() || !holds(made, excluded_word_));
  }
  /// By stem.
  static bool holds(const Made& made, const std::string& word) {
    const auto stem = [](const std::string& of) {
      return of == "houses" ? std::string("house") : of;
    };
    return std::ranges::any_of(made.words,
                               [&](const std::string& each) { return stem(each) == stem(word); });
  }

  /// Of a session, of those of its entries that a question is asked of together: what was evicted
  /// is another one.
  static double words_part(const Hit& hit) {
    double sum = hit.explanation->question + hit.explanation->asks + hit.explanation->speaker +
                 hit.explanation->date;
    for (const TermScore& term : hit.explanation->terms) {
      sum += term.entry + term.window + term.session;
    }
    return sum;
  }

  void compare(Query query) {
    INFO(query.text);
    encoder->forget();
    const Result<QueryAnswer> answer = answer_query(*process_, query);
    query.use_encoder = false;
    const Result<QueryAnswer> words = answer_query(*process_, query);
    query.use_encoder = true;
    expect(answer);
    expect(words);
    if (!answer->encoder.took_part) {
      CHECK(answer->hits.size() == words->hits.size());
      return;
    }
    ++asked;
    REQUIRE(encoder->texts().size() == 1);
    look_at_vectors(encoder->vector_of(encoder->texts().front()));
    check_sums(*answer, *words);
    check_found(query, *answer, *words);
    check_limits(query, *answer);
  }

  void check_sums(const QueryAnswer& answer, const QueryAnswer& words) {
    std::map<std::string, double> by_id;
    for (const Hit& hit : words.hits) {
      by_id[hit.entry.id] = words_part(hit);
    }
    const Hit* nearest = nullptr;  // Of those with a cosine; so for the next.
    const Hit* farthest = nullptr;
    for (const Hit& hit : answer.hits) {
      CAPTURE(hit.entry.id);
      const TextExplanation& told = *hit.explanation;
      const std::optional<double> cosine = made_of(hit.entry.id).cosine;
      REQUIRE(told.cosine.has_value() == cosine.has_value());
      if (cosine) {
        CHECK(std::abs(*told.cosine - *cosine) < 0.02);
        nearest = nearest == nullptr || cosine_of(*nearest) < *told.cosine ? &hit : nearest;
        farthest = farthest == nullptr || cosine_of(*farthest) > *told.cosine ? &hit : farthest;
      }
      const double sum = words_part(hit) + told.meaning + told.session_meaning;
      const double text = std::min(sum >= kSmall ? sum : kSmall * std::exp(sum / kSmall - 1), 1.0);
      CHECK(std::abs(hit.components.text - text) < 1e-9);
    }
    if (nearest == nullptr || cosine_of(*nearest) - cosine_of(*farthest) < 0.1) {
      return;
    }
    const double weight =  // What a cosine of 1 adds.
        (nearest->explanation->meaning - farthest->explanation->meaning) /
        (cosine_of(*nearest) - cosine_of(*farthest));
    check_weights(answer, by_id, weight);
  }

  void check_weights(const QueryAnswer& answer, const std::map<std::string, double>& by_id,
                     double weight) {
    std::optional<double> mean;
    std::optional<double> session_mean_of_all;
    for (const Hit& hit : answer.hits) {
      CAPTURE(hit.entry.id);
      const TextExplanation& told = *hit.explanation;
      if (told.cosine) {
        const double its = *told.cosine - told.meaning / weight;
        CHECK(std::abs(mean.value_or(its) - its) < 1e-6);
        mean = its;
      }
      // full = that of words + 0.1 (12 + 11) k (1 + g)
      if (by_id.contains(hit.entry.id)) {
        const double share = 1 - 0.1 * 23 / 12 * weight;
        CHECK(std::abs(words_part(hit) - by_id.at(hit.entry.id) * share) < 1e-9);
      }
      if (const std::optional<double> session = session_mean(hit)) {
        const double below = told.session_meaning < 0 ? 0.3 : 1;
        const double its = *session - told.session_meaning / below / (weight * 11 / 12);
        CHECK(std::abs(session_mean_of_all.value_or(its) - its) < 0.04);
        session_mean_of_all = its;
      }
    }
  }

  static double cosine_of(const Hit& hit) { return *hit.explanation->cosine; }

  /// Of the three best; nothing where some of the session may be asked apart.
  std::optional<double> session_mean(const Hit& hit) {
    std::vector<double> cosines;
    for (const Made& made : made_) {
      if (made.session == hit.entry.session_id && made.cosine) {
        cosines.push_back(*made.cosine);
      }
    }
    if (cosines.empty() || hit.entry.session_id == "m1") {
      return std::nullopt;
    }
    std::ranges::sort(cosines, std::greater());
    cosines.resize(std::min<std::size_t>(cosines.size(), 3));
    double sum = 0;
    for (const double cosine : cosines) {
      sum += cosine;
    }
    return sum / static_cast<double>(cosines.size());
  }

  /// No hit leads one that is more relevant, and says the same with another value.
  static bool is_by_relevance(const QueryAnswer& answer) {
    return std::ranges::none_of(answer.hits, &Hit::said_before);
  }

  void check_found(const Query& query, const QueryAnswer& answer, const QueryAnswer& words) {
    std::set<std::string> by_words;
    for (const Hit& hit : words.hits) {
      by_words.insert(hit.entry.id);
    }
    std::set<std::string> found;
    double before = 2;
    for (const Hit& hit : answer.hits) {
      CAPTURE(hit.entry.id);
      CHECK(found.insert(hit.entry.id).second);
      CHECK(passes(made_of(hit.entry.id), query.filter));
      CHECK((hit.relevance <= before || hit.entry.evicted || !is_by_relevance(answer)));
      before = hit.relevance;
    }
    for (const Made& made : made_) {
      CAPTURE(made.id);
      const bool is_near = passes(made, query.filter) && made.cosine && *made.cosine >= kNearMin;
      const bool is_close = made.cosine && std::abs(*made.cosine - kNearMin) < 0.02;
      found_by_meaning += is_near && !by_words.contains(made.id) ? 1 : 0;
      CHECK((found.contains(made.id) == (is_near || by_words.contains(made.id)) || is_close));
    }
  }

  void check_limits(Query query, const QueryAnswer& all) {
    for (const std::size_t limit : {1U, 3U, 10U}) {
      query.filter.limit = limit;
      const Result<QueryAnswer> some = answer_query(*process_, query);
      expect(some);
      CHECK(some->hits.size() == std::min(limit, all.hits.size()));
      const bool is_same = is_by_relevance(*some) && is_by_relevance(all);
      for (std::size_t i = 0; is_same && i < std::min(some->hits.size(), all.hits.size()); ++i) {
        CHECK(some->hits[i].entry.id == all.hits[i].entry.id);
        CHECK(some->hits[i].relevance == all.hits[i].relevance);
      }
    }
    query.filter.limit = 0;
    query.min_relevance = 0.3;
    const Result<QueryAnswer> best = answer_query(*process_, query);
    expect(best);
    const auto wanted =
        std::ranges::count_if(all.hits, [](const Hit& hit) { return hit.relevance >= 0.3; });
    CHECK(best->hits.size() == static_cast<std::size_t>(wanted));
  }

  std::mt19937 random_;
  Process process_;
  std::vector<Made> made_;
  std::size_t last_id_ = 0;
  std::string wanted_word_;
  std::string excluded_word_;
};

}  // namespace

TEST_CASE("questions find by meaning what plain sums say") {
  std::size_t asked = 0;
  std::size_t found = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    MeaningTwin twin(seed);
    twin.ask_some(10);
    asked += twin.asked;
    found += twin.found_by_meaning;
  }
  MESSAGE(asked, " questions, ", found, " found by meaning alone");
  CHECK(asked > 60);
  CHECK(found > 20);
}

TEST_CASE("a word that the encoder does not know finds nothing by meaning") {
  VectorsMemory memory;
  memory.encoder = std::make_shared<WordEncoder>();
  memory.encoder->unknown = {"automob", "planet"};
  const Process process = memory.open();
  memory.add(*process, "s1", "a", "autograph");
  memory.add(*process, "s1", "b", "household");
  memory.flush();
  expect(memory.encode(memory.open_with()));
  const auto found = [&](const std::string& text) {
    const Result<QueryAnswer> answer = answer_query(*memory.open_with(), {.text = text});
    expect(answer);
    CHECK(answer->encoder.took_part);
    return answer->hits.size();
  };
  CHECK(found("which autumn") == 1);
  CHECK(found("which automob") == 0);
  CHECK(found("which automob autumn house") > 0);
}

}  // namespace bmad_mem::test::root_index
