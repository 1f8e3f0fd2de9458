// How results become JSON: by the C++ type of a member, and by shapes.
#include "cli/results.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/reports.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli::results_test {
namespace {

TEST_CASE("a value is written by its type") {
  CHECK(json_value(std::string("a \"b\"")) == R"("a \"b\"")");
  CHECK(json_value("text") == R"("text")");
  CHECK(json_value(true) == "true");
  CHECK(json_value(-3) == "-3");
  CHECK(json_value(18446744073709551615ULL) == "18446744073709551615");
  CHECK(json_value(0.5) == "0.5");
  CHECK(json_value(Timestamp{}) == R"("1970-01-01T00:00:00Z")");
  CHECK(json_value(std::vector{1, 2}) == "[1,2]");
  CHECK(json_value(std::map<std::string, int>{{"b", 2}, {"c", 3}}) == R"({"b":2,"c":3})");
  CHECK(json_value(raw_json("null")) == "null");
  CHECK(json_value(rounded(1.0 / 3)) == "0.3333");
}

TEST_CASE("an absent value has no member") {
  CHECK(json_object("a", std::optional<int>(), "b", std::optional(2)) == R"({"b":2})");
  CHECK(json_object("a", if_some(std::string()), "b", if_some(std::string("c"))) == R"({"b":"c"})");
  CHECK(json_object("a", only_if(false, 1), "b", only_if(true, 0)) == R"({"b":0})");
}

TEST_CASE("empty, 0, false and never are nothing") {
  CHECK_FALSE(is_some(std::string()));
  CHECK_FALSE(is_some(0));
  CHECK_FALSE(is_some(false));
  CHECK_FALSE(is_some(Timestamp::max()));
  CHECK(is_some(Timestamp{}));
  CHECK(is_some(std::vector{0}));
}

TEST_CASE("objects go into objects") {
  CHECK(json_object("a", object_of("b", 1, "c", object_of())) == R"({"a":{"b":1,"c":{}}})");
  CHECK(json_members_of("a", 1, object_of("b", 2)) == R"("a":1,"b":2)");
}

TEST_CASE("a shape leaves out what it says, and takes more than the value") {
  const std::vector<FileCount> files = {{.path = "a", .lines = 2}};
  CHECK(json_value(shaped(shape::file_count, files)) == R"([{"path":"a","lines":2}])");
  CHECK(json_value(shaped(shape::file_count, files.front())) == R"({"path":"a","lines":2})");
  CHECK(json_object("file", shaped(shape::file_count, std::optional<FileCount>())) == "{}");
  MaintenanceAction action{.task = "compact", .count = 1, .what = "w"};
  CHECK(json_value(shaped(shape::action, action)) == R"({"task":"compact","count":1,"what":"w"})");
  action.place = "archive";
  action.types = {{EntryType::kFact, 3}};
  CHECK(json_value(shaped(shape::action, action)) ==
        R"({"task":"compact","count":1,"what":"w","place":"archive","types":{"fact":3}})");
  CHECK(json_value(shaped(shape::maintenance_summary,
                          MaintenanceReport{.next_due = Timestamp::max()}, true)) ==
        R"({"dry_run":true,"actions":0,"problems":0})");
}

TEST_CASE("counts stand under the names of types") {
  std::array<std::uint64_t, kEntryTypeCount> counts{};
  counts[static_cast<std::size_t>(EntryType::kFact)] = 2;
  CHECK(json_value(some_by_type(counts)) == R"({"fact":2})");
  CHECK(all_by_type(counts).size() == kEntryTypeCount);
}

}  // namespace
}  // namespace bmad_mem::cli::results_test
