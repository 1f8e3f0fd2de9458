#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "base/json_text.hpp"
#include "bmad_mem/json.hpp"

namespace bmad_mem::test::writer_test {

TEST_CASE("a quoted string escapes what must be, and nothing else") {
  struct Row {
    std::string_view text;
    const char* quoted;
  };
  constexpr Row kRows[] = {
      {"", R"("")"},
      {"plain", R"("plain")"},
      {"say \"hi\"", R"("say \"hi\"")"},
      {"a\\b", R"("a\\b")"},
      {"a/b", R"("a/b")"},
      {"\n\r\t", R"("\n\r\t")"},
      {"\b\f", R"("\u0008\u000c")"},
      {"\x01\x1b\x1f", R"("\u0001\u001b\u001f")"},
      {"\x7f", "\"\x7f\""},
      {"caf\xC3\xA9 \xF0\x9F\x98\x80", "\"caf\xC3\xA9 \xF0\x9F\x98\x80\""},
      {"\"", R"("\"")"},
      {"\\\\", R"("\\\\")"},
      {"x\n", R"("x\n")"},
      {"\nx", R"("\nx")"},
  };
  for (const Row& row : kRows) {
    CHECK(json_quoted(row.text) == row.quoted);
    std::string out = "before ";
    append_json_quoted(out, row.text);
    CHECK(out == std::string("before ") + row.quoted);
  }
}

TEST_CASE("every string reads back as it was written") {
  for (int c = 1; c < 128; ++c) {
    const std::string text = "a" + std::string(1, static_cast<char>(c)) + "b";
    CHECK(Parsed(json_quoted(text)).value().string() == text);
    CHECK(json_quoted(text).find('\n') == std::string::npos);
  }
  const std::string wide =
      "\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF";
  CHECK(Parsed(json_quoted(wide)).value().string() == wide);
}

TEST_CASE("a number is as short as it can be and says that it is no integer") {
  struct Row {
    double number;
    const char* text;
  };
  constexpr Row kRows[] = {
      {0, "0.0"},        {-0.0, "-0.0"},
      {1, "1.0"},        {-17, "-17.0"},
      {0.1, "0.1"},      {0.02, "0.02"},
      {1e21, "1e+21"},   {1.5e-7, "1.5e-07"},
      {1e100, "1e+100"}, {0.30000000000000004, "0.30000000000000004"},
  };
  for (const Row& row : kRows) {
    CHECK(json_number(row.number) == row.text);
  }
}

TEST_CASE("every finite number reads back the same") {
  std::mt19937_64 random(42);
  const auto check = [](double number) {
    const std::string text = json_number(number);
    CAPTURE(text);
    const Parsed parsed(text);
    CHECK(parsed.value().kind() == JsonKind::kReal);
    CHECK(parsed.value().number() == number);
  };
  for (const double number :
       {std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest(),
        std::numeric_limits<double>::min(), std::numeric_limits<double>::denorm_min(), 1e15, 1e16,
        1e17, 123456789012345680.0, 9007199254740993.0}) {
    check(number);
  }
  for (int i = 0; i < 5000; ++i) {
    const double number = std::bit_cast<double>(random());
    if (std::isfinite(number)) {
      check(number);
    }
  }
}

TEST_CASE("a writer puts the commas") {
  JsonWriter writer;
  writer.begin_object()
      .member("s", "text")
      .member("view", std::string_view("v\""))
      .member("i", 7)
      .member("i64", std::int64_t{-9'000'000'000})
      .member("u64", std::uint64_t{18446744073709551615U})
      .member("d", 0.5)
      .member("b", true)
      .key("a")
      .begin_array()
      .integer(1)
      .real(2)
      .boolean(false)
      .string("x")
      .raw("{\"raw\":null}")
      .begin_array()
      .end_array()
      .begin_object()
      .end_object()
      .end_array()
      .key("o")
      .begin_object()
      .member("p", 1)
      .end_object()
      .member("last", "")
      .end_object();
  const std::string expected =
      R"({"s":"text","view":"v\"","i":7,"i64":-9000000000,"u64":18446744073709551615,"d":0.5,)"
      R"("b":true,"a":[1,2.0,false,"x",{"raw":null},[],{}],"o":{"p":1},"last":""})";
  CHECK(writer.text() == expected);
  CHECK(writer.take() == expected);
  CHECK(writer.text().empty());
}

TEST_CASE("a writer starts anew after its text was taken") {
  JsonWriter writer;
  CHECK(writer.begin_array().integer(1).end_array().take() == "[1]");
  CHECK(writer.begin_object().member("a\n", 2).end_object().take() == R"({"a\n":2})");
  CHECK(writer.string("x").take() == "\"x\"");
}

}  // namespace bmad_mem::test::writer_test
