#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "exchange/memory_tool/memory_tool.hpp"

namespace bmad_mem::cli::memory_tool_parts_test {

TEST_CASE("sizes are short") {
  struct Row {
    std::uint64_t bytes;
    std::string_view text;
  };
  static constexpr Row kRows[] = {
      {0, "0B"},           {24, "24B"},
      {1023, "1023B"},     {1024, "1K"},
      {1500, "1.5K"},      {4096, "4K"},
      {1024 * 1024, "1M"}, {5'600'000, "5.3M"},
      {1U << 30U, "1G"},   {std::uint64_t{3} << 40U, "3072G"},
  };
  for (const Row& row : kRows) {
    CHECK(short_size(row.bytes) == row.text);
  }
}

TEST_CASE("lines are numbered from one, with the empty one behind the last line end") {
  CHECK(numbered_lines("a\nb\n", 1, 99) == "     1\ta\n     2\tb\n     3\t");
  CHECK(numbered_lines("a\nb", 2, 2) == "     2\tb");
  CHECK(numbered_lines("a\nb", 3, 9).empty());
  CHECK(numbered_lines("a", 2, 1).empty());
  CHECK(numbered_lines("", 1, 99) == "     1\t");
  CHECK(line_count("") == 1);
  CHECK(line_count("a\nb\n") == 3);
}

TEST_CASE("a text is replaced where it stands once") {
  const auto replaced = [](std::string_view text, std::string_view old_text,
                           std::string_view new_text) {
    const Result<Replacement> done = replace_once(text, old_text, new_text, "P");
    return done ? done->text : done.error().message;
  };
  CHECK(replaced("a\nb\nc", "b", "x\ny") == "a\nx\ny\nc");
  CHECK(replaced("a\nb\nc", "a\nb", "") == "\nc");
  CHECK(replaced("aa", "a", "x") == "xa");
  CHECK(replaced("one", "", "x") == "xone");
  CHECK(replaced("a\nb\nab", "a", "x") ==
        "No replacement was performed. Multiple occurrences of old_str `a` in lines: 1, 3. Please "
        "ensure it is unique");
  CHECK(replaced("a\nb\na\nb\n", "a\nb", "x").find("in lines: 1, 3.") != std::string::npos);
  CHECK(replaced("a", "b", "x") ==
        "No replacement was performed, old_str `b` did not appear verbatim in P.");
  CHECK(replaced("", "b", "x").starts_with("No replacement"));
}

TEST_CASE("a replacement shows two lines before it and two after") {
  CHECK(replace_once("1\n2\n3\n4\n5\n6\n7", "4", "x", "P")->snippet ==
        "     2\t2\n     3\t3\n     4\tx\n     5\t5\n     6\t6");
  CHECK(replace_once("1", "1", "x", "P")->snippet == "     1\tx");
}

TEST_CASE("lines are inserted behind a line") {
  const auto inserted = [](std::string_view text, std::int64_t line, std::string_view what) {
    const Result<std::string> done = insert_lines(text, line, what);
    return done ? *done : done.error().message;
  };
  CHECK(inserted("a\nb\n", 0, "x\n") == "x\na\nb\n");
  CHECK(inserted("a\nb\n", 1, "x") == "a\nx\nb\n");
  CHECK(inserted("a\nb\n", 2, "x\n\n") == "a\nb\nx\n\n");
  CHECK(inserted("a\nb", 2, "x") == "a\nb\nx");
  CHECK(inserted("a\nb\n", 3, "x") == "a\nb\n\nx");
  CHECK(inserted("", 0, "x") == "x\n");
  for (const std::int64_t line : {std::int64_t{-1}, std::int64_t{3}}) {
    CHECK(inserted("a\nb", line, "x").find("[0, 2]") != std::string::npos);
  }
}

TEST_CASE("a path is taken apart into names") {
  const VirtualPath path = parse_virtual_path("/memories//a/./b c/").value();
  CHECK(path.given == "/memories//a/./b c/");
  CHECK(path.names == std::vector<std::string>{"a", "b c"});
  CHECK(parse_virtual_path("/memories")->is_root());
  CHECK(parse_virtual_path("/memories/.")->is_root());
  CHECK(parse_virtual_path("/memories/a..b/...")->names == std::vector<std::string>{"a..b", "..."});
  CHECK(parse_virtual_path("/memories/100%")->names == std::vector<std::string>{"100%"});
}

TEST_CASE("a path that leads out is refused, however it is written") {
  for (const std::string_view path :
       {"/memories/..", "/memories/a/../b", "/memories/%2e%2e/x", "/memories/%252E%252e/x",
        "/memories/%25252e%25252e/x", "/memories/.%2e", "/memories/a%00", "/memories/a\\..\\b",
        "/memories/..%2fx", "/memories/%2e%2e%5cx"}) {
    CAPTURE(path);
    const Result<VirtualPath> parsed = parse_virtual_path(path);
    REQUIRE(!parsed);
    CHECK(parsed.error().message.find("would escape /memories directory") != std::string::npos);
  }
  CHECK(!parse_virtual_path(std::string_view("/memories/a\0b", 13)));
  for (const std::string_view path : {"", "/", "memories", "/memoriesX", "/etc", "/memorie"}) {
    CAPTURE(path);
    const Result<VirtualPath> parsed = parse_virtual_path(path);
    REQUIRE(!parsed);
    CHECK(parsed.error().message.starts_with("Path must start with /memories, got: "));
  }
}

TEST_CASE("a folder is within itself and above what is below it") {
  const auto within = [](std::string_view inner, std::string_view outer) {
    return is_within(parse_virtual_path(inner).value(), parse_virtual_path(outer).value());
  };
  CHECK(within("/memories/a", "/memories/a/"));
  CHECK(within("/memories/a/b", "/memories/a"));
  CHECK(!within("/memories/ab", "/memories/a"));
  CHECK(!within("/memories", "/memories/a"));
}

}  // namespace bmad_mem::cli::memory_tool_parts_test
