// swarm_slow_test.cpp - the swarms of swarm_test.cpp, larger and many times: for machines with
// patience.
#include <string>

#include <doctest/doctest.h>

#include "concurrency/child.hpp"
#include "concurrency/swarm.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::swarm_slow_test {

TEST_CASE("many swarms of processes, each writer killed many times") {
  constexpr unsigned kRounds = 10;
  const unsigned seed = test_seed("processes, slow");
  for (unsigned round = 0; round < kRounds; ++round) {
    TemporaryDirectory folder;
    const SwarmReport report = run_processes({.root = folder.path("memory"),
                                              .seed = seed + round,
                                              .writers = 2 + round * 3 % 15,
                                              .entries = 600,
                                              .kills = 12,
                                              .readers = 1 + round % 3,
                                              .looks = 60});
    CAPTURE(round);
    MESSAGE(report.seconds, " s, ", report.kills, " kills, ", report.looks, " looks");
    CHECK(report.problem == "");
  }
}

TEST_CASE("16 processes, each killed ten times, append 1,000 entries each") {
  TemporaryDirectory folder;
  const SwarmReport report = run_processes({.root = folder.path("memory"),
                                            .seed = test_seed("processes, large"),
                                            .writers = 16,
                                            .entries = 1000,
                                            .kills = 10,
                                            .readers = 3,
                                            .looks = 100});
  MESSAGE(report.seconds, " s, ", report.kills, " kills, ", report.looks, " looks");
  CHECK(report.problem == "");
}

TEST_CASE("64 processes, each killed at random, append 10,000 entries each") {
  TemporaryDirectory folder;
  const SwarmReport report = run_processes({.root = folder.path("memory"),
                                            .seed = test_seed("processes, huge"),
                                            .sessions = 32,  // Below 8 MB: none is compacted.
                                            .writers = 64,
                                            .entries = 10'000,
                                            .kills = 4,
                                            .readers = 1,
                                            .looks = 4});
  MESSAGE(report.seconds, " s, ", report.kills, " kills, ", report.looks, " looks");
  CHECK(report.problem == "");
}

TEST_CASE("16 threads append 1,000 entries each while four others read") {
  TemporaryDirectory folder;
  const SwarmReport report = run_threads({.root = folder.path("memory"),
                                          .seed = test_seed("threads, large"),
                                          .writers = 16,
                                          .entries = 1000,
                                          .readers = 4,
                                          .looks = 100});
  MESSAGE(report.seconds, " s, ", report.looks, " looks");
  CHECK(report.problem == "");
}

}  // namespace bmad_mem::test::swarm_slow_test
