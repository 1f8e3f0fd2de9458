// swarm_test.cpp - nothing that was acknowledged is lost, doubled or mixed up, whoever writes at
// the same time and whoever is killed. How that is found out stands in swarm.hpp.
#include "concurrency/swarm.hpp"

#include <sys/stat.h>

#include <string>

#include <doctest/doctest.h>

#include "concurrency/child.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::swarm_test {
namespace {

void check(const SwarmReport& report) {
  MESSAGE(report.seconds, " s, ", report.kills, " kills, ", report.looks, " looks of readers, ",
          report.quarantined, " torn ends set aside");
  CHECK(report.problem == "");
  CHECK(report.looks > 0);
}

}  // namespace

TEST_CASE("16 processes, killed at random, append 1,000 entries each") {
  TemporaryDirectory folder;
  const SwarmPlan plan{.root = folder.path("memory"),
                       .seed = test_seed("processes"),
                       .writers = 16,
                       .entries = 1000,
                       .kills = 1,
                       .readers = 2};
  const SwarmReport report = run_processes(plan);
  check(report);
  CHECK(report.kills == 16);
}

TEST_CASE("8 threads append 1,000 entries each") {
  TemporaryDirectory folder;
  const SwarmPlan plan{.root = folder.path("memory"),
                       .seed = test_seed("threads"),
                       .writers = 8,
                       .entries = 1000,
                       .kills = 0,
                       .readers = 1};
  check(run_threads(plan));
}

}  // namespace bmad_mem::test::swarm_test
