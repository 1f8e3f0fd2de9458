#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"
#include "run_bench.hpp"
#include "support/temporary_directory.hpp"

using namespace bmad_mem;
using namespace bmad_mem::test;

TEST_CASE("one command measures every group and leaves nothing behind") {
  const TemporaryDirectory folder;
  const BenchOutcome outcome =
      run_bench("store --json --effort 0.001 --dir " + folder.path() + tool_option());
  JsonParser parser;
  const Result<JsonValue> report = parser.parse(json_in(outcome.output));
  REQUIRE_MESSAGE(report, outcome.output);
  CHECK((*report)["environment"]["cpu"].is_string());
  std::size_t measured = 0;
  for (const JsonValue row : (*report)["rows"].elements()) {
    CAPTURE(row["what"].string());
    CAPTURE(row["problem"].string());
#ifndef BMAD_MEM_BINARY
    if (row["problem"].present()) {
      continue;  // The tool isn't part of this build, so its row says so.
    }
#endif
    CHECK_FALSE(row["problem"].present());
    CHECK(row["ours"]["count"].integer() >= 1);
    ++measured;
  }
  CHECK(measured >= 15);
#ifdef BMAD_MEM_BINARY
  CHECK(outcome.status == 0);
#endif
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a tool that is not there is a row that says so, and a failure") {
  const TemporaryDirectory folder;
  const BenchOutcome outcome =
      run_bench("store --filter process --effort 0.001 --tool /nowhere --dir " + folder.path());
  CHECK(outcome.status == 1);
  CHECK(outcome.output.find("not measured") != std::string::npos);
  CHECK(outcome.output.find("there is no program \"/nowhere\"") != std::string::npos);
}

TEST_CASE("wrong usage is told from failure") {
  CHECK(run_bench("--help").status == 0);
  CHECK(run_bench("store --help").output.find("groups of rows") != std::string::npos);
  CHECK(run_bench("store --no-such-option").status == 2);
  CHECK(run_bench("store --filter nothing-is-called-this").status == 1);
  CHECK(run_bench("store --dir /nowhere/at/all").status == 1);
  CHECK(run_bench("corpus").status == 2);
}

TEST_CASE("a corpus is not added to what is there") {
  const TemporaryDirectory folder;
  const std::string out = folder.path("memory");
  const BenchOutcome first = run_bench("corpus --bytes 50K --out " + out);
  CHECK(first.status == 0);
  CHECK(first.output.find("FNV-1a") != std::string::npos);
  CHECK(run_bench("corpus --bytes 50K --out " + out).status == 1);
}
