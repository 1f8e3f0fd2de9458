#include "cli/json_text.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cli/entry_options.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli::json_text_test {
namespace {

TEST_CASE("a value ends where its bracket or quote closes") {
  struct Row {
    const char* text;
    std::size_t end;
  };
  static constexpr std::size_t kNever = std::string_view::npos;
  static constexpr Row kRows[] = {
      {R"({"a":1} x)", 7}, {R"({"a":"}"} x)", 9},  {R"({"a":"\"}"} x)", 11}, {R"([[1],[2]],3)", 9},
      {R"("a\\" ,)", 5},   {R"(12,)", 2},          {R"(true})", 4},          {R"({"a":1)", kNever},
      {R"("a)", kNever},   {R"({"a":"\)", kNever}, {R"(,)", kNever},         {R"(-1.5e3)", 6},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(json_value_end(row.text, 0) == row.end);
  }
}

TEST_CASE("members keep their bytes") {
  const auto members = json_members(R"( { "a" : 1.00 , "b\"c":{"d":[ 1, 2 ]},"e":"" } )");
  REQUIRE(members.size() == 3);
  CHECK(members[0].key == "a");
  CHECK(members[0].value == "1.00");
  CHECK(members[1].key == R"(b\"c)");
  CHECK(members[1].value == R"({"d":[ 1, 2 ]})");
  CHECK(members[2].value == R"("")");
  CHECK(json_members("{}").empty());
  CHECK(json_members("{ }").empty());
}

TEST_CASE("elements keep their bytes") {
  const auto elements = json_elements(R"([ 1 , "a,]" ,{"b":[2]}])");
  REQUIRE(elements.size() == 3);
  CHECK(elements[0] == "1");
  CHECK(elements[1] == R"("a,]")");
  CHECK(elements[2] == R"({"b":[2]})");
  CHECK(json_elements("[ ]").empty());
}

TEST_CASE("compacting drops blanks between tokens only") {
  CHECK(json_compact("{ \"a b\" :\n [ 1 , \"c \\\" d\" ] }") == R"({"a b":[1,"c \" d"]})");
  CHECK(json_compact("{\"never ends") == "{\"never ends");
}

/// The pieces as "line:column text".
std::vector<std::string> pieces_of(std::string_view input) {
  std::vector<std::string> out;
  for (const InputPiece& piece : split_input(input)) {
    out.push_back(std::to_string(piece.line) + ":" + std::to_string(piece.column) + " " +
                  std::string(piece.text));
  }
  return out;
}

TEST_CASE("entries on stdin come in lines, in an array, or one behind the other") {
  using Pieces = std::vector<std::string>;
  CHECK(pieces_of("").empty());
  CHECK(pieces_of(" \n\n").empty());
  CHECK(pieces_of("{\"a\":1}\n\n{\"b\":2}") == Pieces{"1:1 {\"a\":1}", "3:1 {\"b\":2}"});
  CHECK(pieces_of("{\"a\":1}\r\n{\"b\":2}\r\n") == Pieces{"1:1 {\"a\":1}", "2:1 {\"b\":2}"});
  CHECK(pieces_of("[{\"a\":1}, {\"b\":2}]\n") == Pieces{"1:2 {\"a\":1}", "1:11 {\"b\":2}"});
  CHECK(pieces_of("\n[\n {\"a\":1},\n {\"b\":2}\n]") == Pieces{"3:2 {\"a\":1}", "4:2 {\"b\":2}"});
  CHECK(pieces_of("[]").empty());
  CHECK(pieces_of("{\n\"a\":1\n}\n{\n\"b\":2}\n") ==
        Pieces{"1:1 {\n\"a\":1\n}", "4:1 {\n\"b\":2}"});
}

TEST_CASE("a broken line of JSONL is not taken together with the next") {
  using Pieces = std::vector<std::string>;
  CHECK(pieces_of("{\"a\":1}\n{\"b\":\n{\"c\":3}") ==
        Pieces{"1:1 {\"a\":1}", "2:1 {\"b\":", "3:1 {\"c\":3}"});
  CHECK(pieces_of("{\"b\":\n{\"c\":3}") == Pieces{"1:1 {\"b\":", "2:1 {\"c\":3}"});
  CHECK(pieces_of("[{\"a\":1}\n") == Pieces{"1:1 [{\"a\":1}"});
  CHECK(pieces_of("[{\"a\":1} {\"b\":2}]") == Pieces{"1:1 [{\"a\":1} {\"b\":2}]"});
}

TEST_CASE("an error in a piece is placed in the input") {
  const std::string input = "[\n {\"a\":1,\n  \"b\":}]";
  const std::vector<InputPiece> pieces = split_input(input);
  REQUIRE(pieces.size() == 1);
  Error error{.code = ErrorCode::E_INVALID_FORMAT, .column = 15};
  place_error(error, pieces[0]);
  CHECK(error.path == "<stdin>");
  CHECK(error.line == 3);
  CHECK(error.column == 7);
  Error first{.code = ErrorCode::E_INVALID_FORMAT, .column = 2};
  place_error(first, pieces[0]);
  CHECK(first.line == 2);
  CHECK(first.column == 3);
}

TEST_CASE("foreign JSON is mended where only single characters are wrong") {
  struct Row {
    const char* name;
    std::string_view text;
    std::string_view mended;
  };
  using namespace std::string_view_literals;
  static constexpr Row kRows[] = {
      {"good text stays", R"("a\u00e9 \ud83d\ude00 \\u0000 \n")",
       R"("a\u00e9 \ud83d\ude00 \\u0000 \n")"},
      {"NUL as an escape", R"("a\u0000b")", R"("a\ufffdb")"},
      {"NUL behind a backslash", R"("\\\u0000")", R"("\\\ufffd")"},
      {"first half of a pair", R"("\ud83d!")", R"("\ufffd!")"},
      {"first half, then a character", R"("\ud83d\u0041")", R"("\ufffd\u0041")"},
      {"second half of a pair", R"("\ude00!")", R"("\ufffd!")"},
      {"two first halves", R"("\ud83d\ud83d\ude00")", R"("\ufffd\ud83d\ude00")"},
      {"raw NUL", "\"a\0b\""sv,
       "\"a\xEF\xBF\xBD"
       "b\""},
      {"a byte that is no UTF-8", "\"caf\xE9\"", "\"caf\xEF\xBF\xBD\""},
      {"an escape cut off", R"("\ud8)", R"("\ud8)"},
      {"a backslash at the end", R"("\)", R"("\)"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) { CHECK(repaired_json(row.text) == row.mended); }
  }
}

}  // namespace
}  // namespace bmad_mem::cli::json_text_test
