// export_text_test.cpp - single values as YAML, Markdown and lines of an export.
#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "exchange/export/export_writer.hpp"

namespace bmad_mem::cli::export_text_test {
namespace {

/// What an entry of these members looks like in an export as YAML.
std::string yaml_of(std::string_view json) {
  std::string text;
  Output out([&](std::string_view piece) {
    text += piece;
    return true;
  });
  const auto writer = make_export_writer("yaml", out, Timestamp());
  Session session;
  session.session_id = "s1";
  Entry entry;
  entry.json = json;
  writer->begin();
  writer->session(session);
  writer->entry(entry);
  writer->end_session();
  writer->end();
  static_cast<void>(out.flush());
  const std::size_t begin = text.find("  - type: conversation\n");
  REQUIRE(begin != std::string::npos);
  std::string members;
  // libyaml may write the end of the document, "...".
  for (std::string_view rest = std::string_view(text).substr(text.find('\n', begin) + 1);
       !rest.empty() && rest != "...\n";) {
    const std::string_view line = take_line(rest);
    members += fmt::format("{}\n", line.substr(std::min<std::size_t>(4, line.size())));
  }
  return members;
}

TEST_CASE("a YAML scalar is plain only where it can mean nothing but the string") {
  struct Row {
    std::string_view text;
    std::string_view yaml;
  };
  static constexpr Row kRows[] = {
      {"dec-1", "dec-1"},
      {"two words", "two words"},
      {"", R"("")"},
      {"No", R"("No")"},
      {"null", R"("null")"},
      {"1.0", R"("1.0")"},
      {"2026-01-11T10:00:00Z", R"("2026-01-11T10:00:00Z")"},
      {"a: b", R"("a: b")"},
      {"a #b", R"("a #b")"},
      {"- a", R"("- a")"},
      {"a ", R"("a ")"},
      {"say \"hi\" \\", R"("say \"hi\" \\")"},
      {"tab\tand\x01", R"("tab\tand\x01")"},
      {"caf\u00e9", "\"caf\u00e9\""},
      {"\u2028\ufeff\u0085", R"("\L\uFEFF\N")"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(yaml_of(fmt::format(R"({{"a":{}}})", json_quoted(row.text))) ==
          fmt::format("a: {}\n", row.yaml));
  }
}

TEST_CASE("objects, lists and texts of many lines are blocks") {
  CHECK(yaml_of(R"({"a":[],"b":{},"c":[1.00,[2,[]],{"d":null}],"e":1e5})") ==
        "a: []\nb: {}\nc:\n- 1.00\n- - 2\n  - []\n- d: null\ne: 1.0e+5\n");
  CHECK(yaml_of(R"({"a":"x\n\ny","b":"x\ny\n","c":"x\n\n","d":" x\ny","e":"x\r\ny"})") ==
        "a: |-\n  x\n\n  y\nb: |\n  x\n  y\nc: |+\n  x\n\nd: \" x\\ny\"\ne: \"x\\r\\ny\"\n");
}

TEST_CASE("quoted texts keep code and lists, and nothing that breaks the page") {
  struct Row {
    std::string_view text;
    std::string_view quote;
  };
  static constexpr Row kRows[] = {
      {"plain\n\n- a list", "> plain\n>\n> - a list\n"},
      {"# Heading", "> \\# Heading\n"},
      {"Title\n===", "> Title\n> \\===\n"},
      {"---", "> \\---\n"},
      {"<script>x</script>", "> \\<script>x\\</script>\n"},
      {"`std::vector<int>` <b>", "> `std::vector<int>` \\<b>\n"},
      {"one ` only\n<b>`", "> one \\` only\n> \\<b>\\`\n"},
      {"\\`<b>`", "> \\\\`<b>`\n"},
      {"&lt;script&gt; & co", "> \\&lt;script\\&gt; & co\n"},
      {"![x](http://t)", "> \\![x\\](http://t)\n"},
      {"[id]: http://x", "> \\[id]: http://x\n"},
      {"```cpp\na<b>\n```\nafter", "> ```cpp\n> a<b>\n> ```\n> after\n"},
      {"```\nnever closed\n# x", "> ```\n> never closed\n> # x\n> ```\n"},
      {"~~~\n```\n~~~", "> ````\n> ```\n> ````\n"},
      {"  ```js <x>", ">   \\`\\`\\`js \\<x>\n"},
      {"bell\aand\r\nreturn", "> belland\n> return\n"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(markdown_quote(row.text) == row.quote);
  }
}

TEST_CASE("inline texts are one line without Markdown") {
  CHECK(markdown_inline("a\nb  c") == "a b c");
  CHECK(markdown_inline("a | *b* _c_ snake_case `d` [e](f) <g>") ==
        "a \\| \\*b\\* \\_c\\_ snake_case \\`d\\` \\[e\\](f) \\<g>");
  CHECK(markdown_code("a`b") == "``a`b``");
  CHECK(markdown_code("`") == "`` ` ``");
  CHECK(markdown_code("") == "");
}

TEST_CASE("an entry comes back from its line byte for byte, whatever members it has") {
  JsonParser parser;
  for (const std::string_view json :
       {R"({"id":"f1","n":1.00,"s":"\u00e9"})", R"({"id":"f1","type":"bug","session_id":"x"})",
        R"({"id":"f1","finding_type":"y","finding_finding_type":2})"}) {
    Entry entry;
    entry.session_id = "s1";
    entry.type = EntryType::kFinding;
    entry.json = json;
    const std::string line = exported_entry(entry);
    CAPTURE(line);
    CHECK(line.starts_with(R"({"session_id":"s1","type":"finding","id":"f1",)"));
    CHECK(parser.parse(line).has_value());
    CHECK(stored_entry(line, "finding") == json);
  }
}

TEST_CASE("an identity that is none is refused with its field") {
  JsonParser parser;
  const auto field_of = [&](std::string_view json) {
    const Result<Session> session = read_session_identity(parser.parse(json).value());
    return session ? std::string("good") : session.error().field;
  };
  CHECK(field_of(R"({"session_id":"s1","created_at":"2026-01-11T10:00:00Z"})") == "good");
  CHECK(field_of(R"({"created_at":"2026-01-11T10:00:00Z"})") == "session.session_id");
  CHECK(field_of(R"({"session_id":"s1","closed_at":"now"})") == "session.closed_at");
  CHECK(field_of(R"({"session_id":"s1","tags":[1]})") == "session.tags");
  CHECK(field_of("[]") == "session");
}

}  // namespace
}  // namespace bmad_mem::cli::export_text_test
