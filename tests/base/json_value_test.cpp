#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/json_text.hpp"
#include "bmad_mem/json.hpp"

namespace bmad_mem::test::value_test {

TEST_CASE("a value knows its kind, and says nothing it is not") {
  struct Row {
    const char* text;
    JsonKind kind;
    const char* name;
  };
  constexpr Row kRows[] = {
      {"null", JsonKind::kNull, "null"},
      {"true", JsonKind::kBoolean, "a boolean"},
      {"0", JsonKind::kInteger, "a number"},
      {"-5", JsonKind::kInteger, "a number"},
      {"18446744073709551615", JsonKind::kUnsigned, "a number"},
      {"0.5", JsonKind::kReal, "a number"},
      {"\"s\"", JsonKind::kString, "a string"},
      {"[]", JsonKind::kArray, "an array"},
      {"{}", JsonKind::kObject, "an object"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const Parsed parsed(row.text);
    const JsonValue value = parsed.value();
    CHECK(value.kind() == row.kind);
    CHECK(json_kind_name(value.kind()) == row.name);
    CHECK(value.present());
    CHECK(value.is_string() == (row.kind == JsonKind::kString));
    CHECK(value.is_object() == (row.kind == JsonKind::kObject));
    CHECK(value.is_array() == (row.kind == JsonKind::kArray));
    CHECK(value.is_number() == (std::string_view(row.name) == "a number"));
    if (!value.is_string()) {
      CHECK(value.string().empty());
    }
    if (value.kind() != JsonKind::kBoolean) {
      CHECK(value.boolean(true));
      CHECK_FALSE(value.boolean(false));
    }
    if (!value.is_number()) {
      CHECK(value.number(2.5) == 2.5);
      CHECK(value.integer(-7) == -7);
    }
    if (!value.is_object()) {
      CHECK_FALSE(value["a"].present());
      for (const JsonMember& member : value.members()) {
        FAIL(std::string(member.key));
      }
    }
    if (!value.is_array()) {
      for (const JsonValue element : value.elements()) {
        FAIL(static_cast<int>(element.kind()));
      }
    }
  }
}

TEST_CASE("no value at all behaves like one that is nothing") {
  const JsonValue absent;
  CHECK(absent.kind() == JsonKind::kAbsent);
  CHECK(json_kind_name(absent.kind()) == "nothing");
  CHECK_FALSE(absent.present());
  CHECK(absent.string().empty());
  CHECK(absent.boolean(true));
  CHECK(absent.number(1.5) == 1.5);
  CHECK(absent.integer(3) == 3);
  CHECK_FALSE(absent["a"].present());
  CHECK_FALSE(absent["a"]["b"].present());
  for (const JsonMember& member : absent.members()) {
    FAIL(std::string(member.key));
  }
  for (const JsonValue element : absent.elements()) {
    FAIL(static_cast<int>(element.kind()));
  }
}

TEST_CASE("numbers are read as what they are") {
  CHECK(Parsed("-9223372036854775808").value().integer() == INT64_MIN);
  CHECK(Parsed("9223372036854775808").value().integer(-1) == -1);  // Beyond std::int64_t.
  CHECK(Parsed("9223372036854775808").value().number() == 9223372036854775808.0);
  CHECK(Parsed("2.0").value().integer(-1) == -1);  // Written as a real.
  CHECK(Parsed("2.0").value().number() == 2.0);
  CHECK(Parsed("-3").value().number() == -3.0);
  CHECK(Parsed("1e3").value().number() == 1000.0);
  CHECK(Parsed("true").value().boolean());
  CHECK_FALSE(Parsed("false").value().boolean(true));
}

TEST_CASE("strings are decoded") {
  CHECK(Parsed(R"("\"\\\/\b\f\n\r\t")").value().string() == "\"\\/\b\f\n\r\t");
  CHECK(Parsed(R"("caf\u00e9 \u20ac \ud83d\ude00")").value().string() ==
        "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  CHECK(Parsed("\"\"").value().string().empty());
  const std::string long_text(100'000, 'y');
  CHECK(Parsed("\"" + long_text + "\"").value().string() == long_text);
}

TEST_CASE("members come in the order of the text, elements too") {
  const Parsed parsed(
      R"({"z":1,"a":[10,"x",[],{},[[1]],{"b":[2]},null,2.5,18446744073709551615],"":{"k":"v"},"m":true})");
  std::string keys;
  for (const JsonMember& member : parsed.value().members()) {
    keys += "<" + std::string(member.key) + ">";
  }
  CHECK(keys == "<z><a><><m>");
  std::vector<JsonKind> kinds;
  for (const JsonValue element : parsed["a"].elements()) {
    kinds.push_back(element.kind());
  }
  CHECK(kinds == std::vector<JsonKind>{JsonKind::kInteger, JsonKind::kString, JsonKind::kArray,
                                       JsonKind::kObject, JsonKind::kArray, JsonKind::kObject,
                                       JsonKind::kNull, JsonKind::kReal, JsonKind::kUnsigned});
}

TEST_CASE("a member is found by its decoded key, behind whatever stands in front") {
  const Parsed parsed(
      R"({"a":{"x":[1,{"y":2}]},"caf\u00e9":3,"n":-1.5,"u":18446744073709551615,"last":"here"})");
  CHECK(parsed["a"]["x"].is_array());
  CHECK(parsed["caf\xC3\xA9"].integer() == 3);
  CHECK(parsed["last"].string() == "here");
  CHECK_FALSE(parsed["x"].present());  // Not on this level.
  CHECK_FALSE(parsed["las"].present());
  CHECK_FALSE(parsed["lastt"].present());
  CHECK_FALSE(parsed[""].present());
}

TEST_CASE("large containers are walked to their end") {
  std::string text = "[";
  constexpr int kCount = 20'000;
  for (int i = 0; i < kCount; ++i) {
    text += (i == 0 ? "" : ",") + ("{\"i\":" + std::to_string(i) + ",\"s\":\"x\"}");
  }
  text += "]";
  const Parsed parsed(text);
  int expected = 0;
  for (const JsonValue element : parsed.value().elements()) {
    CHECK(element["i"].integer() == expected++);
  }
  CHECK(expected == kCount);
}

}  // namespace bmad_mem::test::value_test
