#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/query.hpp"
#include "model/entry.hpp"
#include "model/field.hpp"

namespace bmad_mem::test::filter_fields_test {
namespace {

/// "status=open category=x".
std::string values_of(EntryType type, std::string_view json) {
  const EntryText entry(json);
  std::string out;
  entry_filter_values(type, entry.value(), [&](std::string_view name, std::string_view value) {
    out += out.empty() ? "" : " ";
    out += name;
    out += '=';
    out += value;
  });
  return out;
}

std::string refusal(std::string_view name, std::string_view value) {
  const Status status = check_filter_field(name, value);
  return status ? "" : status.error().message;
}

}  // namespace

TEST_CASE("an entry has the values of its type's fields, of lists each, and of what is nested") {
  struct Row {
    EntryType type;
    std::string_view json;
    std::string_view values;
  };
  static constexpr Row kRows[] = {
      {EntryType::kFinding, R"({"id":"f","severity":"high","description":"x","status":"resolved"})",
       "severity=high status=resolved"},
      {EntryType::kFinding, R"({"id":"f","description":"x"})", "status=open"},
      {EntryType::kDecision,
       R"({"id":"d","made_by":"Ann","approved_by":["me","bob"],"impact":"low","status":"open"})",
       "made_by=Ann approved_by=me approved_by=bob impact=low"},
      {EntryType::kFact, R"({"id":"f","key":"k","content":"x"})", "key=k category=project_fact"},
      {EntryType::kFact, R"({"id":"f","category":"constraint","content":"x"})",
       "category=constraint"},
      {EntryType::kPreference, R"({"id":"p","context":"weekdays"})", "category=user_preference"},
      {EntryType::kEvent, R"({"id":"e","kind":"tool_use","tool":"Bash","path":"a.ts"})",
       "kind=tool_use tool=Bash"},
      {EntryType::kConversation,
       R"({"role":"user","context":{"topic":"t","parent_message_id":"m0"},"metadata":{"tokens":7,)"
       R"("references":["x"],"ticket":"PAY-1","ci":{"run":7,"ok":true},"no":null,"l":["a",1.5]}})",
       "role=user context.topic=t metadata.ticket=PAY-1 metadata.ci.run=7 metadata.ci.ok=true "
       "metadata.l=a metadata.l=1.5"},
      {EntryType::kFact, R"([])", "category=project_fact"},
  };
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.json));
    CHECK(values_of(row.type, row.json) == std::string(row.values));
  }
}

TEST_CASE("of what is nested, long values and more than 32 do not count") {
  CHECK(
      values_of(EntryType::kEvent, R"({"metadata":{"a":")" + std::string(64, 'x') + "\"}}").size() >
      64);
  CHECK(values_of(EntryType::kEvent, R"({"metadata":{"a":")" + std::string(65, 'x') + "\"}}") ==
        "");
  std::string many = R"({"metadata":{"x":0)";
  for (int i = 1; i < 100; ++i) {
    many += ",\"m" + std::to_string(i) + "\":1";
  }
  const std::string values = values_of(EntryType::kEvent, many + "}}");
  CHECK(values.find("m31=") != std::string::npos);
  CHECK(values.find("m32=") == std::string::npos);
}

TEST_CASE(
    "an unknown field is refused with those there are, a value that a field never has as well") {
  CHECK(refusal("status", "OPEN") == "");
  CHECK(refusal("metadata.Ticket", "x") == "");
  CHECK(refusal("stauts", "open").find("the fields are status, severity, ") != std::string::npos);
  CHECK(refusal("stauts", "open").ends_with("; did you mean status?"));
  CHECK(refusal("metadta.x", "open").ends_with("; did you mean metadata.x?"));
  CHECK(refusal("metadata.", "x").starts_with("\"metadata.\" is not a field"));
  CHECK(refusal("metadata.tokens", "7").starts_with("\"metadata.tokens\" is not a field"));
  CHECK(refusal("", "x").starts_with("\"\" is not a field"));
  CHECK(refusal("status", "opne").ends_with("; did you mean open?"));
  CHECK(refusal("key", "").starts_with("key has no value"));
}

TEST_CASE("a filter is read from text, with a sign for what must not be") {
  struct Row {
    std::string_view text;
    FieldFilter filter;
  };
  static const std::vector<Row> kRows = {
      {"status=open", {.field = "status", .value = "open"}},
      {"status!=open", {.field = "status", .value = "open", .excluded = true}},
      {"-status:open", {.field = "status", .value = "open", .excluded = true}},
      {"key:a=b", {.field = "key", .value = "a=b"}},
      {"metadata.url=http://x", {.field = "metadata.url", .value = "http://x"}},
  };
  for (const Row& row : kRows) {
    CHECK(parse_field_filter(row.text).value() == row.filter);
  }
  for (const std::string_view bad : {"", "status", "=open", "status=", "status=x", "!=", "-:"}) {
    CAPTURE(std::string(bad));
    const Result<FieldFilter> filter = parse_field_filter(bad);
    REQUIRE_FALSE(filter.has_value());
    CHECK(filter.error().code == ErrorCode::E_INVALID_QUERY);
  }
}

TEST_CASE("filters are read from an object, any of several values") {
  const EntryText object(R"({"status":"open","-metadata.n":[7,true,"x"],"key":[]})");
  std::vector<FieldFilter> filters;
  REQUIRE(read_field_filters(object.value(), filters).has_value());
  CHECK(filters ==
        std::vector<FieldFilter>{{.field = "status", .value = "open"},
                                 {.field = "metadata.n", .value = "7", .excluded = true},
                                 {.field = "metadata.n", .value = "true", .excluded = true},
                                 {.field = "metadata.n", .value = "x", .excluded = true}});
  for (const std::string_view bad :
       {"[]", "7", R"({"x":1})", R"({"status":null})", R"({"status":{}})", R"({"key":[[]]})"}) {
    CAPTURE(std::string(bad));
    const EntryText text(bad);
    CHECK_FALSE(read_field_filters(text.value(), filters).has_value());
  }
}

}  // namespace bmad_mem::test::filter_fields_test
