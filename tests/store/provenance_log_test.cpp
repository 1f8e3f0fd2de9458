// The provenance log of who wrote which line: what it keeps when it is sorted, cut, killed or
// shared.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "store/root_trust.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::provenance_log_test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kToday = 30'000;  // Long after any day that a test runs on.

std::string line(std::size_t number) {
  return fmt::format(R"({{"id":"f{}","timestamp":"2026-01-11T10:00:00Z","content":"Fact {}"}})",
                     number, number);
}

/// A provenance log, and the lines that are noted in it.
class Ledger {
 public:
  void note(std::size_t begin, std::size_t end, Origin origin = Origin::kPerson) const {
    std::vector<std::string> lines;
    for (std::size_t i = begin; i < end; ++i) {
      lines.push_back(line(i));
    }
    const std::vector<std::string_view> views(lines.begin(), lines.end());
    provenance.note("s1", EntryType::kFact, views, origin);
  }
  [[nodiscard]] std::vector<std::uint64_t> tags(std::size_t begin, std::size_t end) const {
    std::vector<std::uint64_t> tags;
    for (std::size_t i = begin; i < end; ++i) {
      provenance.add_tags("s1", EntryType::kFact, line(i), tags);
    }
    std::ranges::sort(tags);
    return tags;
  }
  /// How many of these lines are by `origin`.
  [[nodiscard]] std::size_t count(std::size_t begin, std::size_t end,
                                  Origin origin = Origin::kPerson) const {
    std::vector<OriginQuery> queries;
    for (const std::uint64_t tag : tags(begin, end)) {
      queries.push_back({.tag = tag});
    }
    provenance.find(queries);
    return static_cast<std::size_t>(std::ranges::count(queries, origin, &OriginQuery::origin)) / 2;
  }
  [[nodiscard]] std::uintmax_t size() const { return fs::file_size(path); }

  TemporaryDirectory folder;
  std::string path = folder.path("ledger");
  ProvenanceLog provenance{path, HashKey{1, 2, 3}};
};

std::uint64_t tag(std::string_view line) {
  const ProvenanceLog provenance("/nowhere", HashKey{});
  JsonParser parser;
  return provenance.line_tag("s1", parser.parse(line).value(), line);
}

}  // namespace

TEST_CASE("what no log has had for 90 days goes, and nothing sooner") {
  const Ledger all;
  all.note(0, 2000);
  all.note(0, 2000);  // As a line that is written again.
  const std::uintmax_t size = all.size();
  const std::vector<std::uint64_t> live = all.tags(0, 500);
  all.provenance.compact(&live,
                         kToday - 20'000);  // The clock stands before the day of the records.
  CHECK(all.count(0, 2000) == 2000);
  CHECK(all.size() < size * 51 / 100);
  all.provenance.compact(&live, kToday);
  CHECK(all.count(0, 500) == 500);
  CHECK(all.count(500, 2000, Origin::kElsewhere) == 1500);
  CHECK(all.size() < size / 7);
  const std::vector<std::uint64_t> none;
  all.provenance.compact(&none, kToday + ProvenanceLog::kRetainedDays);
  CHECK(all.count(0, 500) == 500);
  all.provenance.compact(&none, kToday + ProvenanceLog::kRetainedDays + 1);
  CHECK(all.count(0, 500) == 0);
}

TEST_CASE("who wrote a line first is known before and after the provenance log is sorted") {
  const Ledger all;
  all.note(0, 10, Origin::kAgent);
  all.note(0, 20);
  const auto check = [&] {
    CHECK(all.count(0, 20, Origin::kAgent) == 10);
    CHECK(all.count(0, 20) == 10);
  };
  check();
  all.provenance.compact(nullptr, kToday);
  check();
  all.note(0, 20, Origin::kAccepted);
  check();
  all.provenance.compact(nullptr, kToday);
  check();
}

TEST_CASE("what a person decides later holds, before and after the provenance log is sorted") {
  struct Row {
    Origin first;
    Origin then;
    Origin holds;
  };
  static constexpr Row kRows[] = {
      {Origin::kElsewhere, Origin::kByHand, Origin::kByHand},
      {Origin::kByHand, Origin::kAccepted, Origin::kAccepted},
      {Origin::kAgent, Origin::kAccepted, Origin::kAgent},
      {Origin::kAgent, Origin::kByHand, Origin::kAgent},
      {Origin::kAgent, Origin::kPerson, Origin::kAgent},
      {Origin::kPerson, Origin::kElsewhere, Origin::kPerson},
  };
  for (const Row& row : kRows) {
    Ledger all;
    all.note(0, 100, row.first);
    all.note(0, 100, row.then);
    CHECK(all.count(0, 100, row.holds) == 100);
    all.provenance.compact(nullptr, kToday);
    CHECK(all.count(0, 100, row.holds) == 100);
    all.note(0, 100, row.then);
    CHECK(all.count(0, 100, row.holds) == 100);
  }
}

TEST_CASE("a line from elsewhere is known, and one that nobody noted is not") {
  Ledger all;
  all.note(0, 10, Origin::kElsewhere);
  std::vector<OriginQuery> queries = {{.tag = all.tags(0, 1).front()},
                                      {.tag = all.tags(20, 21).front()}};
  for (int i = 0; i < 2; ++i) {
    all.provenance.find(queries);
    CHECK(queries[0].is_known);
    CHECK_FALSE(queries[1].is_known);
    all.provenance.compact(nullptr, kToday);
  }
}

TEST_CASE("it is due when as much came as was there, and long after that") {
  const Ledger all;
  CHECK_FALSE(all.provenance.is_due(kToday));
  all.note(0, 400);
  CHECK_FALSE(all.provenance.is_due(kToday));
  all.note(400, 1000);
  CHECK(all.provenance.is_due());
  const std::vector<std::uint64_t> live = all.tags(0, 1000);
  all.provenance.compact(&live, kToday);
  CHECK_FALSE(all.provenance.is_due(kToday));
  CHECK(all.provenance.is_due(kToday + ProvenanceLog::kRetainedDays + 1));
  CHECK_FALSE(all.provenance.is_due());
  all.note(1000, 2100);
  CHECK(all.provenance.is_due(kToday));
}

TEST_CASE("a provenance log that was cut or is noise fails nothing") {
  const Ledger all;
  all.note(0, 100);
  SUBCASE("cut in a record") {
    fs::resize_file(all.path, all.size() - 5);
    CHECK(all.provenance.is_whole());
    all.note(100, 200);
    CHECK(all.count(100, 200) == 100);
    CHECK(all.count(0, 99) == 99);
  }
  SUBCASE("cut in the header") {
    fs::resize_file(all.path, 20);
    CHECK(all.provenance.is_whole());
    all.note(100, 200);
    CHECK(all.count(0, 200) == 100);
  }
  SUBCASE("noise") {
    std::ofstream(all.path) << std::string(1000, 'x');
    CHECK_FALSE(all.provenance.is_whole());
    CHECK(all.count(0, 100) == 0);
  }
  SUBCASE("cut behind its front, which says that more is sorted") {
    all.provenance.compact(nullptr, kToday);
    fs::resize_file(all.path, all.size() / 2);
    CHECK(all.count(0, 100, Origin::kElsewhere) > 0);
    all.note(0, 100);
    CHECK(all.count(0, 100) == 100);
  }
}

TEST_CASE("writers lose nothing while others sort the provenance log and are killed at it") {
  const Ledger all;
  all.note(0, 3000);
  std::minstd_rand random(22);  // NOLINT(*-msc51-cpp): the same each time.
  std::size_t end = 3000;
  for (int round = 0; round < 30; ++round) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      while (true) {
        all.provenance.compact(nullptr, kToday);
      }
    }
    const std::size_t more = random() % 40;
    for (std::size_t i = 0; i < more; ++i) {
      all.note(end, end + 1);
      ++end;
    }
    REQUIRE(::kill(child, SIGKILL) == 0);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    REQUIRE(all.count(0, end) == end);
  }
  all.provenance.compact(nullptr, kToday);
  CHECK(all.count(0, end) == end);
}

TEST_CASE("JSON that is no entry has a tag, and the provenance log knows it") {
  const Ledger all;
  const std::string text = R"(["links",1])"
                           "\n"
                           R"("a text")"
                           "\n";
  all.provenance.note_elsewhere("s1", EntryType::kFact, text);
  CHECK(tag(R"(["links",1])") != tag(R"(["links",2])"));
}

TEST_CASE("a line's tag is that of what it states, in whatever layout") {
  struct Row {
    std::string_view compact;
    std::string_view other;
  };
  static constexpr Row kRows[] = {
      {R"({"id":"a","n":1.00,"t":"x y"})", R"( { "id" : "a" , "n" : 1.00 , "t" : "x y" } )"},
      {R"({"id":"a","m":{"b":[1,"c d"]}})", R"({"id":"a","m":{"b": [1, "c d"] } })"},
      {R"({"id":"a","access_count":2})", R"({"id":"a"})"},
      {R"({"id":"a","pinned":true,"x":"\" ,"})", R"({"id":"a", "x":"\" ,"})"},
      {R"({"a":"x","b":{}})", R"({"a":"x","b":{ }})"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.compact);
    CHECK(tag(row.compact) == tag(row.other));
  }
  CHECK(tag(R"({"id":"a","t":"x y"})") != tag(R"({"id":"a","t":"xy"})"));
  CHECK(tag(R"({"id":"a","n":1.0})") != tag(R"({"id":"a","n":1.00})"));
}

}  // namespace bmad_mem::test::provenance_log_test
