// forgotten_text_test.cpp - a text leaves what tells of entries, and the JSON stays JSON.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "lifecycle/deletion/deletion_steps.hpp"

namespace bmad_mem::test::forgotten_text_test {

TEST_CASE("a text leaves the strings of JSON, and ids become hashes") {
  struct Row {
    std::string_view json;
    std::string_view text;
    std::string_view left;
    std::uint64_t changed;
  };
  static constexpr Row kRows[] = {
      {R"({"a":"my ann","b":1})", "ann", R"({"a":"my [forgotten]","b":1})", 1},
      {R"({"ids":["ann-1","x"],"detail":"ann"})", "ann",
       R"({"ids":["forgotten:#","x"],"detail":"[forgotten]"})", 2},
      {R"({"purged_ids":["ann"],"purging":["ann"]})", "ann",
       R"({"purged_ids":["forgotten:#"],"purging":["forgotten:#"]})", 2},
      {R"({"session_id":"ann","title":"ann"})", "ann",
       R"({"session_id":"ann","title":"[forgotten]"})", 1},
      {R"({"tags":["tags"]})", "tags", R"({"tags":["[forgotten]"]})", 1},
      {R"({"a":"say \"x\" now"})", R"("x")", R"({"a":"say [forgotten] now"})", 1},
      {R"({"a":"b\\","c":"ann"})", "ann", R"({"a":"b\\","c":"[forgotten]"})", 1},
      {"{\"a\":\"ann\"}\n{\"ids\":[\"ann\"]}\n", "ann",
       "{\"a\":\"[forgotten]\"}\n{\"ids\":[\"forgotten:#\"]}\n", 2},
      {R"({"a":"torn ann)", "ann", R"({"a":"torn [forgotten])", 1},
      {R"({"a":1})", "1", R"({"a":1})", 0},
      {R"({"a":"x"})", "", R"({"a":"x"})", 0},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.json);
    std::string json(row.json);
    CHECK(forget_in_json(json, row.text, [](std::string_view) { return "forgotten:#"; }) ==
          row.changed);
    CHECK(json == row.left);
  }
}

}  // namespace bmad_mem::test::forgotten_text_test
