#include "search/field_filter.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"

namespace bmad_mem::test::field_filter_test {
namespace {

constexpr std::string_view kFinding =
    R"({"id":"f","severity":"High","category":"ÄRGER","metadata":{"ticket":"PAY-1","n":7}})";

bool passes(const std::vector<FieldFilter>& filters) {
  JsonParser parser;
  return passes_fields(filters, EntryType::kFinding, parser.parse(kFinding).value());
}

}  // namespace

TEST_CASE("of one field any value will do, different fields must all pass, excluded ones none") {
  CHECK(passes({}));
  CHECK(passes({{.field = "severity", .value = "high"}}));
  CHECK(passes({{.field = "severity", .value = "low"}, {.field = "severity", .value = "HIGH"}}));
  CHECK_FALSE(passes({{.field = "severity", .value = "low"}}));
  CHECK_FALSE(passes({{.field = "severity", .value = "high"}, {.field = "status", .value = "x"}}));
  CHECK(passes({{.field = "status", .value = "open"}}));
  CHECK(passes({{.field = "status", .value = "resolved", .excluded = true}}));
  CHECK_FALSE(passes({{.field = "status", .value = "open", .excluded = true}}));
  CHECK(passes({{.field = "category", .value = "ärger"}}));
  CHECK(passes(
      {{.field = "metadata.n", .value = "7"}, {.field = "metadata.ticket", .value = "pay-1"}}));
  CHECK_FALSE(passes({{.field = "metadata.N", .value = "7"}}));
}

TEST_CASE("a key holds the value in lower case, or its hash when it is long") {
  CHECK(field_key("status", "Open") == "status=open");
  const std::string long_key = field_key("key", std::string(100, 'A'));
  CHECK(long_key.size() == std::string_view("key#").size() + 10);
  CHECK(long_key == field_key("key", std::string(100, 'a')));
  CHECK(long_key != field_key("key", std::string(101, 'a')));
}

}  // namespace bmad_mem::test::field_filter_test
