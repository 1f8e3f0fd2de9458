// anonymizer_test.cpp - what gets a pseudonym in a text, and what must not.
#include "privacy/anonymizer.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"

namespace bmad_mem::anonymizer_test {
namespace {

Anonymizer anonymizer_that_knows_ada(bool all_paths = false) {
  Anonymizer anonymizer({.key = {1}, .workspace = "/home/ada/tern", .all_paths = all_paths});
  Session session;
  session.user_id = "user-ada";
  session.agent_ids = {"architect"};
  anonymizer.learn(session);
  JsonParser parser;
  anonymizer.learn(EntryType::kDecision,
                   parser.parse(R"({"made_by":"architect","approved_by":["Bo Berg"]})").value());
  anonymizer.finish_learning();
  return anonymizer;
}

/// `text` with "#" in the place of each hash.
std::string veiled(Anonymizer& anonymizer, std::string_view text) {
  std::string out = anonymizer.text(text);
  for (const std::string_view kind : {"person", "host", "user", "ip", "path", "phone", "iban",
                                      "card", "national-id", "mac", "share"}) {
    for (std::size_t at = 0; (at = out.find(std::string(kind) + "-", at)) != std::string::npos;) {
      at += kind.size() + 1;
      if (is_pseudonym(kind, std::string_view(out).substr(at - kind.size() - 1, kind.size() + 9))) {
        out.replace(at, 8, "#");
      }
    }
  }
  return out;
}

TEST_CASE("texts lose people, hosts, addresses and paths") {
  struct Row {
    std::string_view text;
    std::string_view veiled;
  };
  static constexpr Row kRows[] = {
      {"Ada and bo berg, not Adam", "person-# and person-#, not Adam"},
      {"user-ada's", "person-#'s"},
      {"ping @cleo, please", "ping @person-#, please"},
      {"import @types/node", "import @types/node"},
      {"architect agreed", "architect agreed"},
      {"write to x.y@firm.test.", "write to user-#@example.invalid."},
      {"from 10.11.12.13:80", "from ip-#:80"},
      {"https://git.firm.test/a/b?c", "https://host-#/a/b?c"},
      {"http://localhost:8080/x", "http://localhost:8080/x"},
      {"ssh deploy@box.firm.test", "ssh user-#@example.invalid"},
      {"db1.internal is down", "host-# is down"},
      {"/home/cleo/x/y.cpp:12", "/home/user-#/path-#/path-#.cpp:12"},
      {"/Users/cleo", "/home/user-#"},
      {"open /home/ada/tern/src/a.cpp", "open /workspace/src/a.cpp"},
      {"/home/ada/ternary", "/home/user-#/path-#"},
      {"GET /api/users/7", "GET /api/users/7"},
      {"src/a.cpp and/or b", "src/a.cpp and/or b"},
      {"it begins with file://", "it begins with file://"},
      {R"(C:\Users\cleo\x)", R"(C:\Users\user-#\x)"},
      {"", ""},
  };
  Anonymizer anonymizer = anonymizer_that_knows_ada();
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(veiled(anonymizer, row.text) == row.veiled);
  }
}

TEST_CASE("the same thing has the same pseudonym under one key, and twice is once") {
  Anonymizer one = anonymizer_that_knows_ada();
  Anonymizer other = anonymizer_that_knows_ada();
  const std::string text = one.text("Ada, x@firm.test, 10.1.2.3, /home/cleo/y, http://a.firm.test");
  CHECK(other.text("ADA, X@firm.test, 10.1.2.3, /home/cleo/y, http://A.firm.test") == text);
  CHECK(one.text(text) == text);
  CHECK(Pseudonyms({2}).name("person", "user-ada") != Pseudonyms({1}).name("person", "user-ada"));
}

TEST_CASE("ids, references, types and numbers of an entry keep their bytes") {
  Anonymizer anonymizer = anonymizer_that_knows_ada();
  const std::string kept =
      R"({"id":"ada","timestamp":"2026-01-11T10:00:00Z","n":1.00,"references":{"x":["ada"]},"agent_id":"architect"})";
  CHECK(anonymizer.json(kept) == kept);
  CHECK(anonymizer.json(R"({"id":"f1","content":"ada","n":1.00})") ==
        R"({"id":"f1","content":")" + anonymizer.text("ada") + R"(","n":1.00})");
}

TEST_CASE("with all paths names below the workspace become pseudonyms too") {
  Anonymizer anonymizer = anonymizer_that_knows_ada(true);
  CHECK(veiled(anonymizer, "/home/ada/tern/src/a.cpp") == "/workspace/path-#/path-#.cpp");
  CHECK(anonymizer.json(R"({"path":"src/a.cpp"})").find("src") == std::string::npos);
}

/// One that knows people as members and trailers name them.
Anonymizer anonymizer_that_knows_many() {
  Anonymizer anonymizer({.key = {1}, .workspace = "/w", .all_paths = false});
  Session session;
  session.user_id = "marit";
  anonymizer.learn(session);
  JsonParser parser;
  for (const std::string_view entry : {
           R"({"AUTHOR":"Jürgen Groß","assignee":"李小龙","owner":"ИВАН"})",
           R"({"content":"fix\n\nCo-authored-by: Bea Long <bea@firm.test>"})",
           R"({"content":"Co-authored-by: 王小明 <wang@corp.cn>"})",
           R"({"content":"Signed-off-by: GitHub <noreply@github.test>"})",
       }) {
    anonymizer.learn(EntryType::kFact, parser.parse(entry).value());
  }
  anonymizer.finish_learning();
  return anonymizer;
}

TEST_CASE("people are known by trailers, in any script, case and form") {
  struct Row {
    std::string_view text;
    std::string_view veiled;
  };
  static constexpr Row kRows[] = {
      {"Co-authored-by: Bea Long <bea@firm.test>",
       "Co-authored-by: person-# <user-#@example.invalid>"},
      {"ask Bea, not bea", "ask person-#, not bea"},
      {"a long way", "a long way"},
      {"GitHub is down", "GitHub is down"},
      {"JÜRGEN GROSS and JÜRGEN GROß", "person-# GROSS and person-#"},
      {"Co-authored-by: 王小明 <wang@corp.cn>, 问王小明",
       "Co-authored-by: person-# <user-#@example.invalid>, 问person-#"},
      {"昨天李小龙说过了", "昨天person-#说过了"},
      {"Иван пришёл", "person-# пришёл"},
      {"Marits Rechner, Marit’s and MARIT'S", "person-# Rechner, person-#’s and person-#'S"},
      {"“marit”… «Marit»", "“person-#”… «person-#»"},
      {"branch fix_marit-login", "branch fix_person-#-login"},
      {"cd ~marit/src; ls ~cleo/x ~5 a~b", "cd ~person-#/src; ls ~user-#/x ~5 a~b"},
      {"file:///home/cleo/x.txt", "file:///home/user-#/path-#.txt"},
      {"/Users/First Last/Documents/a b", "/home/user-#/path-#/path-# b"},
      {"C:\\Users\\First Last\\Documents", "C:\\Users\\user-#\\Documents"},
      {"\\\\nas01\\team$\\x", "\\\\host-#\\share-#\\x"},
      {"call +47 22 85 50 50", "call phone-#"},
      {"DE89 3704 0044 0532 0130 00", "iban-#"},
      {"card 4111 1111 1111 1111", "card card-#"},
      {"SSN 536-22-1234", "SSN national-id-#"},
      {"mac 00:1a:2b:3c:4d:5e up", "mac mac-# up"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    Anonymizer anonymizer = anonymizer_that_knows_many();
    CHECK(veiled(anonymizer, row.text) == row.veiled);
    const std::string once = anonymizer.text(row.text);
    CHECK(anonymizer.text(once) == once);
  }
}

TEST_CASE("names in ids go with those in the references, or are named") {
  Anonymizer anonymizer({.key = {1}, .workspace = {}, .all_paths = false, .ids = true});
  Session session;
  session.user_id = "marit";
  session.session_id = "work-marit";
  session.project_name = "tern";
  session.tags = {"marit-todo", "ui"};
  anonymizer.learn(session);
  anonymizer.finish_learning();
  const std::string id = anonymizer.id("marit-1");
  CHECK(id.ends_with("-1"));
  CHECK_FALSE(id.contains("marit"));
  CHECK(anonymizer.json(R"({"id":"marit-1","references":["marit-1","x"]})") ==
        R"({"id":")" + id + R"(","references":[")" + id + R"(","x"]})");
  const Session other = anonymizer.session(session);
  CHECK_FALSE(other.session_id.contains("marit"));
  CHECK_FALSE(other.tags[0].contains("marit"));

  Anonymizer in_place({.key = {1}, .workspace = {}, .all_paths = false});
  in_place.learn(session);
  in_place.finish_learning();
  CHECK(in_place.session(session).session_id == "work-marit");
  static_cast<void>(in_place.text("Then Cleo Brandt said so. Cleo Brandt left."));
  std::string left;
  for (const AnonymizeLeft& each : in_place.left()) {
    left += each.kind + ":" + each.text + ":" + std::to_string(each.count) + " ";
  }
  CHECK(left.contains("id:work-marit:1 "));
  CHECK(left.contains("project:tern:1 "));
  CHECK(left.contains("tag:ui:1 "));
  CHECK(left.contains("Cleo Brandt:2 "));
}

}  // namespace
}  // namespace bmad_mem::anonymizer_test
