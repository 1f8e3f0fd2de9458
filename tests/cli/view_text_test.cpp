// What views.toml may hold, and what becomes of it.
#include "cli/view_text.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"

namespace bmad_mem::cli::view_text_test {
namespace {

std::string shown(std::string_view view, std::string_view object) {
  return fill_view(view, object, Style(false), 0).text;
}

TEST_CASE("members stand for themselves") {
  constexpr std::string_view kObject =
      R"({"a":"x\ny","n":1234,"r":0.5,"list":["p","q","r"],"in":{"b":"z"},"at":"2026-01-11T10:05:00Z"})";
  struct Row {
    std::string_view view;
    std::string_view says;
  };
  static constexpr Row kRows[] = {
      {"{a} {n} {r} {list} {in.b} {none}", "x y 1234 0.5 p, q, r z \n"},
      {"{n|n} {n|n entry/entries} {list|n thing/things} {n|size}",
       "1,234 1,234 entries 3 things 1.2 KiB\n"},
      {"{r|decimals 2} {r|percent} {n|digits 2} {r|bar 4}", "0.50 50 1.2e+03 ##..\n"},
      {"{at|minute}; {at|time}; {at|day}; {none|due}",
       "2026-01-11 10:05; 2026-01-11T10:05:00Z; 2026-01-11; never\n"},
      {"[{in.b|left 3}][{in.b|right 3}][{n|cut 3}]", "[z  ][  z][12…]\n"},
      {"{list|first 2} {list|first 3}", "p, q, … p, q, r\n"},
      {"{a|raw}{a|line}", "x\nyx\n"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.view);
    CHECK(shown(row.view, kObject) == row.says);
  }
}

TEST_CASE("what is shown hangs on conditions") {
  constexpr std::string_view kObject = R"({"a":"x","b":"x","n":3,"zero":0,"no":false,"none":[]})";
  constexpr std::string_view kView = "{?@}yes{:}no{/}";
  struct Row {
    std::string_view when;
    bool holds;
  };
  static constexpr Row kRows[] = {
      {"a", true},       {"!a", false},   {"zero", false},    {"no", false},
      {"none", false},   {"gone", false}, {"a=x", true},      {"a=y", false},
      {"a=@b", true},    {"n>2", true},   {"n<3", false},     {"a~x", true},
      {"a&!zero", true}, {"a&no", false}, {"no|a&n=3", true}, {"no|zero", false},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.when);
    CHECK(shown(std::string(kView).replace(2, 1, row.when), kObject) ==
          (row.holds ? "yes\n" : "no\n"));
  }
  CHECK(shown("{?no}1{:zero}2{:n}3{:}4{/}", kObject) == "3\n");
}

TEST_CASE("lists, objects and maps are walked") {
  constexpr std::string_view kObject =
      R"({"name":"out","all":[{"id":1},{"id":2}],"map":{"a":1,"b":2},"one":{"id":7}})";
  CHECK(shown("{#all}{id}{name}{/}", kObject) == "1out2out\n");
  CHECK(shown("{#all 1}{id}{/}", kObject) == "1\n");
  CHECK(shown("{@map}{@}={.};{/}", kObject) == "a=1;b=2;\n");
  CHECK(shown("{#one}{id}{/}{#gone}never{/}", kObject) == "7\n");
}

TEST_CASE("a line that is a tag alone is no line") {
  CHECK(shown("a\n{?x}\nb\n{:}\nc\n{/}\nd\n", R"({"x":1})") == "a\nb\nd\n");
  CHECK(shown("{#l}\n{.}\n{/}\n", R"({"l":[1,2]})") == "1\n2\n");
}

TEST_CASE("tables, lists and fields are aligned") {
  constexpr std::string_view kObject = R"({"l":[{"a":"x","n":5},{"a":"long | er","n":1234}]})";
  CHECK(shown("{>table}\na | n\n{#l}\n{a} | {n|n}\n{/}\n{/}\n", kObject) ==
        "a              n\nx              5\nlong | er  1,234\n");
  CHECK(shown("{>list rl}\n{#l}\n{n} | {a}\n{/}\n{/}\n", kObject) == "   5  x\n1234  long | er\n");
  CHECK(shown("{>fields}\nname | {.|lines}\nx | y\n{/}\n", R"("1\n2")") ==
        "  name  1\n        2\n  x     y\n");
  CHECK(shown("{>indent 2}a\nb\n{/}", "{}") == "  a\n  b\n");
  CHECK(shown("{>join ; }a\nb\n{/}", "{}") == "a; b\n");
}

TEST_CASE("notes go apart, and what was said once is not said again") {
  const ViewText made =
      fill_view("{#l}\n{>once}{.}!\n{/}\n{/}\n{>note l}many{/}\n{>note !l}none{/}\n",
                R"({"l":["a","b","a"]})", Style(false), 0);
  CHECK(made.text == "a!\nb!\n");
  CHECK(made.notes == std::vector<std::string>{"many"});
}

/// The view with all that it may show: every condition holds, every list has an element.
std::string whole(std::string_view view) {
  std::string out;
  while (!view.empty()) {
    const std::size_t begin = std::min(view.find('{'), view.size());
    const std::size_t end = std::min(view.find('}', begin), view.size());
    const std::string_view tag = view.substr(begin, end - begin);
    out += view.substr(0, begin);
    out += tag.starts_with("{?")                                      ? "{?t"
           : tag.starts_with("{:")                                    ? "{/}{?t"
           : tag.starts_with("{#")                                    ? "{#l"
           : tag.starts_with("{@") && tag.size() > 2 && tag[2] != '|' ? "{@m"
           : tag.starts_with("{>note")                                ? std::string_view("{>note")
                                                                      : tag;
    view.remove_prefix(end);
    out += view.substr(0, 1);
    view.remove_prefix(std::min<std::size_t>(1, view.size()));
  }
  return out;
}

TEST_CASE("views name forms and views that there are, and end what they begin") {
  JsonParser parser;
  const Result<JsonValue> views = parser.parse(views_json());
  REQUIRE(views);
  for (const JsonMember& view : views->members()) {
    CAPTURE(view.key);
    const std::string_view text = view.value.string();
    CHECK_FALSE(
        fill_view(whole(text), R"({"t":true,"l":[{"t":true}],"m":{"k":1}})", Style(false), 0)
            .text.contains('{'));
    std::ptrdiff_t depth = 0;
    for (std::size_t at = text.find('{'); at != std::string_view::npos;
         at = text.find('{', at + 1)) {
      const char kind = text[at + 1];
      const bool begins = kind == '?' || kind == '#' || kind == '>' ||
                          (kind == '@' && text[at + 2] != '}' && text[at + 2] != '|');
      depth += begins ? 1 : kind == '/' ? -1 : 0;
      CHECK(depth >= 0);
    }
    CHECK(depth == 0);
  }
}

}  // namespace
}  // namespace bmad_mem::cli::view_text_test
