// Random histories on three mirrors end in equal logs.
#include <array>
#include <chrono>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "mirrors.hpp"

namespace bmad_mem::test::convergence_test {
namespace {

constexpr int kEntries = 9;

struct Step {
  int what = 0;
  std::size_t mirror = 0;
  int entry = 0;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  constexpr std::array<std::string_view, 15> kNames = {"add",
                                                       "add",
                                                       "add",
                                                       "add",
                                                       "delete",
                                                       "undelete",
                                                       "purge",
                                                       "compact",
                                                       "lose answer",
                                                       "fail",
                                                       "sync",
                                                       "sync",
                                                       "end deletions",
                                                       "delete session",
                                                       "undelete session"};
  return out << step.mirror << ' ' << kNames.at(static_cast<std::size_t>(step.what)) << " f"
             << step.entry;
}

std::vector<Step> steps() {
  return *rc::gen::container<std::vector<Step>>(rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0, 15), rc::gen::inRange(0, 3),
                     rc::gen::inRange(0, kEntries)),
      [](const std::tuple<int, int, int>& all) {
        return Step{std::get<0>(all), static_cast<std::size_t>(std::get<1>(all)), std::get<2>(all)};
      }));
}

/// What fails, as deleting what is not there, is no matter. Nobody adds what was purged again: that
/// stays where it is.
void take(Mirrors& mirrors, const Step& step, int number, std::set<int>& deleted,
          std::set<int>& purged) {
  Mirror& mirror = mirrors[step.mirror];
  if (step.what < 4 && purged.contains(step.entry)) {
    return;
  }
  mirror.clock.advance(std::chrono::seconds(1));
  const std::vector<std::string> ids = {"f" + std::to_string(step.entry)};
  const std::string content = "version " + std::to_string(number);
  switch (step.what) {
    case 0:
    case 1:
    case 2:
    case 3: {
      if (!mirror->load_session("s1")) {
        static_cast<void>(mirror->create_session({.session_id = "s1"}));
      }
      static_cast<void>(mirror->add("s1", EntryType::kFact, MemoryFixture::fact(ids[0], content)));
      break;
    }
    case 4:
      deleted.insert(step.entry);
      static_cast<void>(mirror->delete_entries({.ids = ids}));
      break;
    case 5:
      static_cast<void>(mirror->undelete({.ids = ids}));
      break;
    case 6:
      purged.insert(step.entry);
      static_cast<void>(mirror->delete_entries({.ids = ids}, {.purge = true}));
      break;
    case 7:
      static_cast<void>(mirror->compact("s1", {.keep_share = 0.5}));
      break;
    case 8:
      mirror.hub.fault = [] { return PushFault::kAnswer; };
      static_cast<void>(mirror.try_sync());
      mirror.hub.fault = {};
      break;
    case 9:
      mirror.hub.fault = [] { return PushFault::kBefore; };
      static_cast<void>(mirror.try_sync());
      mirror.hub.fault = {};
      break;
    case 12:
      purged.insert(deleted.begin(), deleted.end());
      static_cast<void>(mirror->purge_deleted(/*all=*/true));
      break;
    case 13:
      for (int entry = 0; entry < kEntries; ++entry) {
        deleted.insert(entry);
      }
      static_cast<void>(mirror->delete_session("s1"));
      break;
    case 14: {
      const std::vector<std::string> sessions = {"s1"};
      static_cast<void>(mirror->undelete({.sessions = sessions}));
      break;
    }
    default: {
      const Result<SyncReport> report = mirror.try_sync();
      RC_ASSERT(report.has_value());
      break;
    }
  }
}

}  // namespace

TEST_CASE("random histories on three mirrors end in equal logs") {
  const auto converge = [] {
    Mirrors mirrors(3);
    const std::vector<Step> all = steps();
    int number = 0;
    std::set<int> deleted;
    std::set<int> purged;
    for (const Step& step : all) {
      take(mirrors, step, ++number, deleted, purged);
    }
    for (int round = 0; round < 4; ++round) {
      for (std::size_t i = 0; i < 3; ++i) {
        const Result<SyncReport> report = mirrors[i].try_sync();
        RC_ASSERT(report.has_value());
        RC_ASSERT(report->problems.empty());
      }
    }
    for (std::size_t i = 1; i < 3; ++i) {
      RC_ASSERT(mirrors[i].read(EntryType::kFact) == mirrors[0].read(EntryType::kFact));
    }
  };
  CHECK(rc::check(converge));
}

}  // namespace bmad_mem::test::convergence_test
