#include "bmad_mem/log_merge.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

namespace bmad_mem::log_merge_test {
namespace {

/// A tiny language for logs: "a1 b2*" is entry a at second 1, then entry b at second 2 with another
/// text. The letter is the id.
std::string log_of(std::string_view words) {
  std::string log;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    std::size_t digits = 0;
    while (1 + digits < word.size() && word[1 + digits] >= '0' && word[1 + digits] <= '9') {
      ++digits;
    }
    log += fmt::format(R"({{"id":"{}","timestamp":"2026-01-11T10:{:0>2}:00Z","content":"{}"}})",
                       word[0], word.substr(1, digits), word.substr(1 + digits));
    log += '\n';
  }
  return log;
}

std::string merged(std::string_view base, std::string_view ours, std::string_view theirs) {
  const Result<std::string> result = merge_logs(base, ours, theirs);
  REQUIRE_MESSAGE(result.has_value(), result.error().to_string());
  const Result<std::string> other_way = merge_logs(base, theirs, ours);
  REQUIRE(other_way.has_value());
  CHECK(*result == *other_way);
  return *result;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::set<std::string> set_of(std::string_view text) {
  const std::vector<std::string> lines = lines_of(text);
  return {lines.begin(), lines.end()};
}

}  // namespace

TEST_CASE("two branches of a log become one") {
  struct Row {
    const char* name;
    std::string_view base;
    std::string_view ours;
    std::string_view theirs;
    std::string_view merged;
  };
  static constexpr Row kRows[] = {
      {"both added, by time", "a1", "a1 b2 c5", "a1 d3 e6", "a1 b2 d3 c5 e6"},
      {"no common begin", "", "a1 c3", "b2", "a1 b2 c3"},
      {"only one side changed", "a1", "a1", "a1 b2", "a1 b2"},
      {"both added the same", "a1", "a1 b2", "a1 b2", "a1 b2"},
      {"the same and more", "a1", "a1 b2 c3", "a1 b2 d4", "a1 b2 c3 d4"},
      {"one removed", "a1 b2 c3", "a1 c3 d4", "a1 b2 c3 e5", "a1 c3 d4 e5"},
      {"both removed", "a1 b2 c3", "a1 c3 d4", "a1 c3 e5", "a1 c3 d4 e5"},
      {"each removed another", "a1 b2 c3", "a1 b2 d4", "b2 c3", "b2 d4"},
      {"removed here, a new version there", "a1 b2", "b2 c3", "a1 b2 a4x", "b2 c3 a4x"},
      {"folded here, a new version there", "a1 a2x b3", "a2x b3", "a1 a2x b3 a4y", "a2x b3 a4y"},
      {"two new versions", "a1", "a1 a4x", "a1 a3y", "a1 a3y a4x"},
      {"the newest version wins, whatever stands between", "a1", "a1 a5x", "a1 z9 a3y",
       "a1 a3y z9 a5x"},
      {"versions keep the order of their log, not of their times", "a5", "a5 a3x a4y", "a5 b6",
       "a5 a3x a4y b6"},
      {"one side came back to an older version", "a1", "a1 a2x a1", "a1 b3", "a1 a2x a1 b3"},
      {"a log that is in no order stays as it is", "d9 b2 c5", "d9 b2 c5 a1", "d9 b2 c5 e3",
       "d9 b2 c5 a1 e3"},
      {"rewritten here, longer there", "a1 b2", "a1x b2x", "a1 b2 c3", "a1x b2x c3"},
      {"lines added in the middle", "a1 z9", "a1 b2 z9", "a1 c3 z9", "a1 b2 c3 z9"},
      {"all gone here, all kept there", "a1 b2", "", "a1 b2 c3", "c3"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      CHECK(merged(log_of(row.base), log_of(row.ours), log_of(row.theirs)) == log_of(row.merged));
    }
  }
}

TEST_CASE("an entry that both branches linked has the links of both") {
  const auto entry = [](std::string_view content, std::string_view links) {
    return fmt::format(R"({{"id":"a","timestamp":"2026-01-11T10:00:00Z","content":"{}"{}{}}})",
                       content, links.empty() ? "" : ",\"links\":", links) +
           "\n";
  };
  struct Row {
    const char* name;
    std::string_view base;
    std::string_view ours;
    std::string_view theirs;
    std::string_view last;  ///< The links of the last line.
  };
  static constexpr Row kRows[] = {
      {"each added one", "", R"({"solves":["x"]})", R"({"solves":["y"]})",
       R"("links":{"solves":["x","y"]})"},
      {"of different kinds", "", R"({"solves":["x"]})", R"({"superseded_by":["y"]})",
       R"("superseded_by":["y"])"},
      {"one was taken away", R"({"solves":["x"]})", R"({"solves":["x","y"]})",
       R"({"causes":["z"]})", R"("solves":["y"])"},
      {"both say the same", "", R"({"solves":["x"]})", R"({"solves":["x"]})",
       R"("links":{"solves":["x"]})"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      const std::string base = entry("old", row.base);
      const std::vector<std::string> lines = lines_of(
          merged(base, base + entry("ours", row.ours), base + entry("theirs", row.theirs)));
      CHECK(lines.back().contains(row.last));
      CHECK(lines.size() == (std::string_view(row.name) == "both say the same" ? 3 : 4));
    }
  }
  const std::string base = entry("old", "");
  CHECK(lines_of(merged(base, base + entry("x", ""), base + entry("y", ""))).size() == 3);
}

TEST_CASE("of two edits of an entry the later one holds, whose it may be") {
  const auto version = [](std::string_view content, std::string_view updated_at) {
    return fmt::format(
               R"({{"id":"a","timestamp":"2026-01-11T10:00:00Z","content":"{}","updated_at":"{}"}})",
               content, updated_at) +
           '\n';
  };
  const std::string base = log_of("a0");
  for (int i = 0; i < 20; ++i) {  // Whatever the lines' bytes are.
    const std::string earlier = version(fmt::format("early {}", i), "2026-02-10T10:00:00Z");
    const std::string later = version(fmt::format("late {}", i), "2026-02-20T10:00:00Z");
    CHECK(merged(base, base + earlier, base + later) == base + earlier + later);
  }
}

TEST_CASE("versions that state the same are ordered by when they were written, behind none newer") {
  const auto version = [](std::string_view marks, std::string_view times) {
    return fmt::format(R"({{"id":"a","timestamp":"2026-01-11T10:00:00Z","content":"x"{},{}}})",
                       marks, times) +
           '\n';
  };
  const std::string base = log_of("a0");
  for (int i = 0; i < 20; ++i) {
    const std::string pinned = version(fmt::format(R"(,"pinned":true,"n":{})", i),
                                       R"("written_at":"2026-02-10T10:00:00Z")");
    const std::string unpinned =
        version(fmt::format(R"(,"n":{})", i), R"("written_at":"2026-02-20T10:00:00Z")");
    CHECK(merged(base, base + pinned, base + unpinned) == base + pinned + unpinned);
    const std::string edited =
        version(fmt::format(R"(,"topic":"y","n":{})", i), R"("updated_at":"2026-02-15T10:00:00Z")");
    CHECK(merged(base, base + unpinned, base + edited) == base + unpinned + edited);
  }
  const std::string ours =
      version(R"(,"links":{"solves":["x"]})", R"("written_at":"2026-02-10T10:00:00Z")");
  const std::string theirs =
      version(R"(,"links":{"solves":["y"]})", R"("written_at":"2026-02-20T10:00:00Z")");
  const std::string both = merged(base, base + ours, base + theirs);
  CHECK(lines_of(both).back().contains(R"({"solves":["x","y"]})"));
  CHECK(lines_of(both).back().contains(R"("written_at":"2026-02-20T10:00:00Z")"));
}

TEST_CASE("equal times are ordered by what the lines are, not by whose they are") {
  CHECK(set_of(merged("", log_of("a1 b1 c1"), log_of("d1 e1 f1"))).size() == 6);
}

TEST_CASE("what a line holds is kept byte for byte") {
  const std::string odd = R"({ "id" : "x", "n": 1.00, "later":{"é":[ ]},"e":"\u00e9" })"
                          "\n";
  const std::string without_time = R"({"at":"2026-01-11T10:02:00Z","action":"delete"})"
                                   "\n";
  const std::string kept =
      R"({"type":"fact","entry":{"id":"k","timestamp":"2026-01-11T10:04:00Z"}})"
      "\n";
  CHECK(merged("", log_of("a1 b3") + kept, odd + without_time + log_of("c5")) ==
        odd + log_of("a1") + without_time + log_of("b3") + kept + log_of("c5"));
}

TEST_CASE("line ends of another system, and blank lines, make no line another one") {
  CHECK(merged(log_of("a1"), "\n" + log_of("a1") + " \n" + log_of("b2"), [] {
          std::string text = log_of("a1 c3");
          for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
            text.insert(at, "\r");
          }
          return text;
        }()) == log_of("a1 b2 c3"));
}

TEST_CASE("a damaged line stays where both have it") {
  CHECK(merged("{bad\n" + log_of("a1"), "{bad\n" + log_of("a1 b2"), "{bad\n" + log_of("a1 c3")) ==
        "{bad\n" + log_of("a1 b2 c3"));
  CHECK(merged("", "{bad\n" + log_of("b2"), "{bad\n" + log_of("c3")) == "{bad\n" + log_of("b2 c3"));
  CHECK(merged("{bad\n", log_of("b2"), "{bad\n" + log_of("c3")) == log_of("b2 c3"));
}

TEST_CASE("a damaged line that one side added is named") {
  struct Row {
    const char* name;
    std::string_view line;
  };
  static constexpr Row kRows[] = {
      {"cut off", R"({"id":"x",)"},          {"no object", "[1]"},
      {"a conflict marker", "<<<<<<< HEAD"}, {"a key twice", R"({"id":"x","id":"y"})"},
      {"not UTF-8", "{\"id\":\"\xff\"}"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      const std::string damaged = log_of("a1") + std::string(row.line) + "\n" + log_of("b2");
      const Result<std::string> in_ours = merge_logs(log_of("a1"), damaged, log_of("a1 c3"));
      REQUIRE(!in_ours);
      CHECK(in_ours.error().code == ErrorCode::E_STORAGE_CORRUPT);
      CHECK(in_ours.error().path == "ours");
      CHECK(in_ours.error().line == 2);
      const Result<std::string> in_theirs = merge_logs(log_of("a1"), log_of("a1 c3"), damaged);
      REQUIRE(!in_theirs);
      CHECK(in_theirs.error().path == "theirs");
    }
  }
}

TEST_CASE("an unfinished last line loses nothing") {
  const std::string whole = log_of("a1 b2");
  const std::string_view no_end = std::string_view(whole).substr(0, whole.size() - 1);
  const std::string torn = R"({"id":"t","ti)";
  const std::string base = log_of("a1");
  SUBCASE("a whole object gets its line end") {
    CHECK(merged(base, no_end, log_of("a1 c3")) == log_of("a1 b2 c3"));
  }
  SUBCASE("another stays the last") {
    CHECK(merged(base, whole + torn, log_of("a1 c3")) == log_of("a1 b2 c3") + torn);
  }
  SUBCASE("one that was mended here is mended") {
    CHECK(merged(base + torn, whole, log_of("a1 c3") + torn) == log_of("a1 b2 c3"));
  }
  SUBCASE("two different ones are for a person to choose") {
    const Result<std::string> result = merge_logs(base, whole + torn, base + "{\"id\":\"u");
    REQUIRE(!result);
    CHECK(result.error().path == "theirs");
    CHECK(result.error().line == 2);
  }
}

TEST_CASE("a conflict shows what differs, and only that") {
  CHECK(conflict_text("a\nb\nd\n", "a\nc\nd\n", 7) ==
        "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\nd\n");
  CHECK(conflict_text("", "x", 3) == "<<< ours\n===\nx\n>>> theirs\n");
  CHECK(conflict_text("a\nab\n", "a\nbb\n", 1) == "a\n< ours\nab\n=\nbb\n> theirs\n");
  CHECK(conflict_text("a\nb", "a\n", 1) == "a\n< ours\nb\n=\n> theirs\n");
}

TEST_CASE("the merge of large logs is linear") {
  std::string base;
  std::string ours;
  std::string theirs;
  for (int i = 0; i < 20000; ++i) {
    const auto line = [&](std::string_view who) {
      return fmt::format(
          R"({{"id":"{}{}","timestamp":"2026-01-11T10:00:{:02}Z","content":"{:.<200}"}})"
          "\n",
          who, i, i % 60, "text");
    };
    base += line("base-");
    ours += line("both-") + line("ours-");
    theirs += line("both-") + line("their-");
  }
  const auto begin = std::chrono::steady_clock::now();
  const Result<std::string> result = merge_logs(base, base + ours, base + theirs);
  const auto spent = std::chrono::steady_clock::now() - begin;
  REQUIRE(result);
  CHECK(std::ranges::count(*result, '\n') == 80000);
  CHECK(spent < std::chrono::seconds(20));  // Sanitizers are slow; quadratic would take minutes.
}

namespace {

/// `base` without some of its lines, and with new ones, many of one id or of one time; some of them
/// may be made by any `who`.
std::vector<std::string> grown(const std::vector<std::string>& base, const std::string& who) {
  std::vector<std::string> lines;
  for (const std::string& line : base) {
    if (*rc::gen::inRange(0, 8) != 0) {
      lines.push_back(line);
    }
  }
  const int count = *rc::gen::inRange(base.empty() ? 1 : 0, 6);
  for (int i = 0; i < count; ++i) {
    lines.push_back(fmt::format(
        R"({{"id":"{}","timestamp":"2026-01-11T10:{:02}:00Z","by":"{}{}"}})",
        *rc::gen::elementOf(std::string("abcd")), *rc::gen::inRange(0, 5),
        *rc::gen::element(who, base.empty() ? who : std::string("both")), *rc::gen::inRange(0, 3)));
  }
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("whoever merges gets the same bytes, and no line is lost") {
  CHECK(rc::check([] {
    const std::vector<std::string> base = grown({}, "base");
    const std::string old = text_of(base);
    const std::string ours = text_of(grown(base, "ours"));
    const std::string theirs = text_of(grown(base, "theirs"));
    const std::string both = merge_logs(old, ours, theirs).value();
    RC_ASSERT(both == merge_logs(old, theirs, ours).value());
    RC_ASSERT(both == merge_logs(ours, ours, both).value());
    // Merging what was merged already adds nothing.
    RC_ASSERT(set_of(merge_logs(old, ours, both).value()) == set_of(both));
    const std::set<std::string> in_base = set_of(old);
    const std::set<std::string> in_ours = set_of(ours);
    const std::set<std::string> in_theirs = set_of(theirs);
    const std::set<std::string> in_both = set_of(both);
    for (const auto* side : {&in_ours, &in_theirs}) {
      for (const std::string& line : *side) {
        RC_ASSERT(in_base.contains(line) || in_both.contains(line));
      }
    }
    for (const std::string& line : in_both) {
      RC_ASSERT(in_ours.contains(line) || in_theirs.contains(line));
    }
  }));
}

TEST_CASE("any bytes are merged, or refused, alike from both sides") {
  const std::vector<std::string> pieces = {
      "\n",  "\r\n", "{}", R"({"id":"a"})", R"({"id":"a","timestamp":"2026-01-11T10:00:00Z"})",
      "{",   "\xff", " ",  R"({"at":5})",   R"({"entry":{"id":"a"}})",
      "[1]", "null"};
  CHECK(rc::check([&] {
    const auto any_text = [&] {
      std::string text;
      const int count = *rc::gen::inRange(0, 8);
      for (int i = 0; i < count; ++i) {
        text += *rc::gen::elementOf(pieces);
      }
      return text;
    };
    const std::string base = any_text();
    const std::string ours = *rc::gen::element(base, std::string()) + any_text();
    const std::string theirs = *rc::gen::element(base, std::string()) + any_text();
    const Result<std::string> one = merge_logs(base, ours, theirs);
    const Result<std::string> other = merge_logs(base, theirs, ours);
    RC_ASSERT(one.has_value() == other.has_value());
    if (one && base != ours && base != theirs) {
      RC_ASSERT(*one == *other);
    }
    const std::string conflict = conflict_text(ours, theirs, 7);
    RC_ASSERT(conflict.find("<<<<<<< ours\n") != std::string::npos);
    RC_ASSERT(conflict.size() >= std::max(ours.size(), theirs.size()));
    RC_ASSERT(looks_like_manifest(ours) == false);
    static_cast<void>(merge_manifests(base, ours, theirs));
  }));
}

TEST_CASE("three branches hold the same lines, in whatever order they were merged") {
  CHECK(rc::check([] {
    const std::vector<std::string> base = grown({}, "base");
    const std::string old = text_of(base);
    const std::string a = text_of(grown(base, "a"));
    const std::string b = text_of(grown(base, "b"));
    const std::string c = text_of(grown(base, "c"));
    const auto merge = [&](const std::string& ours, const std::string& theirs) {
      return merge_logs(old, ours, theirs).value();
    };
    const auto lines = [](const std::string& text) {
      const std::vector<std::string> all = lines_of(text);
      return std::multiset<std::string>(all.begin(), all.end());
    };
    RC_ASSERT(lines(merge(merge(a, b), c)) == lines(merge(a, merge(b, c))));
    RC_ASSERT(lines(merge(merge(a, b), c)) == lines(merge(merge(c, a), b)));
  }));
}

}  // namespace bmad_mem::log_merge_test
