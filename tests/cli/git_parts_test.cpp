#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "cli/text.hpp"
#include "exchange/git/installation.hpp"
#include "store/layout.hpp"

namespace bmad_mem::cli::git_parts_test {
namespace {

std::vector<std::uint64_t> lines_of(const std::vector<GitFinding>& findings) {
  std::vector<std::uint64_t> lines;
  for (const GitFinding& finding : findings) {
    lines.push_back(finding.line);
  }
  return lines;
}

}  // namespace

TEST_CASE("our lines come into .gitattributes once, and go without a trace") {
  for (const std::string_view before :
       {"", "*.png binary\n", "*.png binary", "\n\n# bmad-mem: begin"}) {
    CAPTURE(before);
    const std::string with = with_attributes(before);
    CHECK(with.find("merge=bmadmem") != std::string::npos);
    CHECK(with_attributes(with) == with);
    const std::string without = without_attributes(with);
    CHECK((without == before || without == std::string(before) + "\n"));
  }
  const std::string old =
      "a\n# bmad-mem: begin of an older version\nx merge=old\n# bmad-mem: end\nb\n";
  CHECK(without_attributes(old) == "a\nb\n");
  CHECK(with_attributes(old).find("merge=old") == std::string::npos);
  CHECK(with_attributes(old).ends_with("# bmad-mem: end\nb\n"));
}

TEST_CASE("a word of the shell stays one word") {
  CHECK(shell_quoted("/usr/bin/bmad-mem") == "/usr/bin/bmad-mem");
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("it's") == R"('it'\''s')");
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("$(x)") == "'$(x)'");
}

TEST_CASE("the driver is written before its name, and per cent signs are not git's") {
  const std::vector<GitSetting> settings = driver_settings("/opt/100% mem");
  REQUIRE(settings.size() == 3);
  CHECK(settings[0].key == "merge.bmadmem.driver");
  CHECK(settings[0].value.find("'/opt/100%% mem' merge-driver %O %A %B %P %L") !=
        std::string::npos);
  CHECK(settings[1].key == "merge.bmadmem.name");
  CHECK(settings[2].value.find("'/opt/100% mem' textconv") != std::string::npos);
}

TEST_CASE("a log reads like prose") {
  struct Row {
    const char* name;
    std::string_view file;
    std::string_view log;
    std::string_view prose;
  };
  static constexpr Row kRows[] = {
      {"a decision", "x/decisions.jsonl",
       R"({"id":"d1","timestamp":"2026-01-11T10:10:00Z","made_by":"ann","decision":"Use it","rationale":"ACID","tags":["a","b"],"references":{"findings":["f1"]},"decay_factor":1.0})"
       "\n",
       "2026-01-11 10:10:00  ann  decision d1\n  Use it\n  rationale: ACID\n  tags: [\"a\",\"b\"]\n"
       "  references.findings: [\"f1\"]\n"},
      {"git's own name for a copy", "/tmp/Ab3_facts.jsonl",
       R"({"id":"x","timestamp":"2026-01-11T10:10:00.250+01:00","content":"c","decay_factor":0.5})",
       "2026-01-11 09:10:00.250  fact x\n  c\n  decay_factor: 0.5\n"},
      {"the kind by the id", "blob", R"({"id":"msg-01kaxx8v04q7m2s","content":"c"})",
       "  conversation msg-01kaxx8v04q7m2s\n  c\n"},
      {"versions are numbered", "facts.jsonl",
       R"({"id":"x","content":"1"})"
       "\n"
       R"({"id":"y","content":"2"})"
       "\n"
       R"({"id":"x","content":"3"})",
       "  fact x\n  1\n\n  fact y\n  2\n\n  fact x, version 2\n  3\n"},
      {"what is kept of an archive", "kept/s.jsonl",
       R"({"type":"fact","entry":{"id":"x","agent_id":"ann","content":"c"}})",
       "  ann  fact x\n  c\n"},
      {"an audit", "s/audit.jsonl",
       R"({"at":"2026-01-11T10:00:00Z","agent_id":"ann","action":"delete","count":2})",
       "2026-01-11 10:00:00  ann  audit\n  action: delete\n  count: 2\n"},
      {"damage is shown", "facts.jsonl", "<<<<<<< ours\n\n{\"id\":",
       "a line that is no entry\n  <<<<<<< ours\n\na line that is no entry\n  {\"id\":\n"},
      {"nothing steers a terminal", "facts.jsonl",
       "{\"id\":\"x\",\"content\":\"a\\u001b[31m\\u0007b\\u009b1m\",\"k\\u001b\":1}\n\x1b[2J",
       "  fact x\n  a [31m b 1m\n  k : 1\n\na line that is no entry\n   [2J\n"},
      {"an empty text", "facts.jsonl", R"({"id":"x","content":"","category":"c\n\nd"})",
       "  fact x\n  \n  category: c\n  \n  d\n"},
      {"an empty log", "facts.jsonl", "", ""},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) { CHECK(log_as_prose(row.log, row.file) == row.prose); }
  }
}

TEST_CASE("prose leaves out what says nothing") {
  CHECK(log_as_prose(R"({"id":"m1","role":"user","content":"c","metadata":{"recorded_by":"hook"},)"
                     R"("source":{"kind":"user"}})",
                     "conversation.jsonl") == " (user)  conversation m1\n  c\n");
  CHECK(log_as_prose(R"({"id":"m1","role":"user","content":"c","source":{"kind":"web"}})",
                     "conversation.jsonl") ==
        " (user)  conversation m1\n  c\n  source.kind: web\n");
}

TEST_CASE("a manifest is one paragraph, without what follows from the logs") {
  CHECK(log_as_prose(R"({
  "session_id": "s1",
  "created_at": "2026-01-11T10:00:00Z",
  "updated_at": "2026-01-11T12:00:00Z",
  "agent_ids": ["architect"],
  "metadata": {"title": "Boats"},
  "statistics": {"total_messages": 8},
  "closed_at": "2026-01-11T12:00:00Z",
  "version": "1.0"
}
)",
                     "x_manifest.json") ==
        "2026-01-11 10:00:00  session s1\n  agent_ids: [\"architect\"]\n"
        "  metadata.title: Boats\n  closed_at: 2026-01-11T12:00:00Z\n");
}

TEST_CASE("the line of events comes into a .gitignore, and out of it") {
  const std::string with(gitignore_text());
  CHECK(ignores_events(with));
  const std::string without = with_events_ignored(with, false);
  CHECK_FALSE(ignores_events(without));
  CHECK(with_events_ignored(without, true) == with);
  CHECK(with_events_ignored("/mine", true) == "/mine\n/sessions/*/events.jsonl\n");
  CHECK_FALSE(ignores_events("/mine/sessions/*/events.jsonl\n"));
  CHECK(with_events_ignored("/mine/sessions/*/events.jsonl\n/sessions/*/events.jsonl\n", false) ==
        "/mine/sessions/*/events.jsonl\n");
}

TEST_CASE("adding lines changes no paragraph") {
  std::string log;
  std::string before;
  for (int i = 0; i < 20; ++i) {
    log += fmt::format(R"({{"id":"x{}","content":"text {}"}})"
                       "\n",
                       i % 3, i);
    const std::string prose = log_as_prose(log, "facts.jsonl");
    CHECK(prose.starts_with(before));
    before = prose;
  }
}

TEST_CASE("long lines are broken at blanks, and no word is") {
  CHECK(wrapped("a bb ccc dddd", 5, "- ") == "- a bb\n- ccc\n- dddd\n");
  CHECK(wrapped("abcdefgh i", 3, "") == "abcdefgh\ni\n");
  CHECK(wrapped("", 3, "  ") == "  \n");
}

TEST_CASE("what git should not track is known by its place") {
  for (const std::string_view path :
       {".lock", "sessions/s/.lock.json", "sessions/s/index.json", "sessions/s/access.jsonl",
        "catalog.json", "maintenance.json", ".redaction-key", "shared/user-preferences.json",
        "deleted/s/entries.jsonl", "sessions/s/manifest.json.tmp"}) {
    CAPTURE(path);
    CHECK(!reason_against_tracking(path).empty());
  }
  for (const std::string_view path :
       {"config.json", "sessions/index.json/manifest.json", "sessions/deleted/facts.jsonl",
        "shared/kept/s.jsonl", "archive/s.manifest.json", "memories/index.json",
        "memories/a.tmp"}) {
    CAPTURE(path);
    CHECK(reason_against_tracking(path).empty());
  }
}

TEST_CASE("conflict markers are found, headings are none") {
  CHECK(lines_of(find_conflict_markers(
            "a.md",
            "title\n=======\n<<<<<<< ours\nx\n||||||| base\n=======\ny\n>>>>>>> theirs\r\n")) ==
        std::vector<std::uint64_t>{3, 5, 8});
  CHECK(find_conflict_markers("a.md", "<<<<<< six\n<<<<<<<seven\n> quoted\n").empty());
}

TEST_CASE("a line is repeated when it says what its entry is already") {
  const std::string a = R"({"id":"a","v":1})"
                        "\n";
  const std::string b = R"({"id":"a","v":2})"
                        "\n";
  CHECK(find_repeated_lines("x", a + b + a).empty());
  CHECK(lines_of(find_repeated_lines("x", a + b + b + "{}\n{}\nbad\nbad\n" + a + a)) ==
        std::vector<std::uint64_t>{3, 9});
}

}  // namespace bmad_mem::cli::git_parts_test
