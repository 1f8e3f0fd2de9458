// best_found_test.cpp - the best entries of thousands of small sessions, whatever was dropped
// early.
#include "search/query/best_found.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

namespace bmad_mem::test::best_found_test {
namespace {

/// Three entries a session; one of four is a copy of an entry of another session.
std::vector<Found> many_found(std::size_t sessions) {
  std::mt19937 random(7);
  std::vector<Found> all;
  for (std::size_t session = 0; session < sessions; ++session) {
    for (Ordinal ordinal = 0; ordinal < 3; ++ordinal) {
      all.push_back({.session = session,
                     .ordinal = ordinal,
                     .timestamp = Timestamp(std::chrono::hours(random() % 5000)),
                     .relevance = static_cast<double>(random() % 500) / 500,
                     .components = {},
                     .evicted = random() % 10 == 0});
    }
  }
  return all;
}

std::uint32_t id_of(const Found& found) {
  const auto number = static_cast<std::uint32_t>(3 * found.session + found.ordinal);
  return number % 4 == 0 ? number / 40 : 1'000'000 + number;
}

using Place = std::tuple<std::size_t, Ordinal>;

/// The first `limit` different ones.
std::vector<Place> chosen(const std::vector<Found>& ordered, std::size_t limit) {
  std::set<std::uint32_t> known;
  std::vector<Place> places;
  for (const Found& each : ordered) {
    if (places.size() < limit && known.insert(id_of(each)).second) {
      places.emplace_back(each.session, each.ordinal);
    }
  }
  return places;
}

std::vector<Found> best_of(const std::vector<Found>& all, std::size_t sessions, SortOrder sort,
                           std::size_t limit, bool has_hashes) {
  const auto id_hash = [&](const Found& found) -> Result<std::uint32_t> {
    return has_hashes ? Result<std::uint32_t>(id_of(found))
                      : Error{.code = ErrorCode::E_STORAGE_CORRUPT};
  };
  BestFound best(
      sessions, sort, limit, 0,
      {.id_hash = id_hash,
       .line = [](const Found& found) { return found.ordinal; },
       .is_session_before = [](const Found& a, const Found& b) { return a.session < b.session; }});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].relevance >= best.least()) {  // As a search does.
      best.offer(all[i]);
    }
    if (i + 1 == all.size() || all[i + 1].session != all[i].session) {
      best.finish(all[i].session);
    }
  }
  return best.merged();
}

}  // namespace

TEST_CASE("what is dropped early is never among the first different ones") {
  constexpr std::size_t kSessions = 4000;
  const std::vector<Found> all = many_found(kSessions);
  for (const SortOrder sort :
       {SortOrder::kRelevanceDesc, SortOrder::kTimeDesc, SortOrder::kTimeAsc}) {
    const std::vector<Found> everything = best_of(all, kSessions, sort, 0, true);
    CHECK(everything.size() == all.size());
    for (const std::size_t limit : {1U, 10U, 200U}) {
      const std::vector<Found> best = best_of(all, kSessions, sort, limit, true);
      CHECK(chosen(best, limit) == chosen(everything, limit));
      CHECK(best.size() < all.size() / 2);
    }
    const std::vector<Found> unknown = best_of(all, kSessions, sort, 10, false);
    CHECK(chosen(unknown, 10) == chosen(everything, 10));
  }
}

}  // namespace bmad_mem::test::best_found_test
