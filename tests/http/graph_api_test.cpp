#include <set>
#include <string>

#include <doctest/doctest.h>

#include "http/api_fixture.hpp"

namespace bmad_mem::cli::test::graph_api_test {
namespace {

std::set<std::string> nodes(const Answer& answer) {
  std::set<std::string> out;
  for (const JsonValue node : answer.json["nodes"].elements()) {
    CHECK(out.emplace(node["id"].string()).second);
  }
  return out;
}

std::set<std::string> edges(const Answer& answer, std::string_view relation) {
  std::set<std::string> out;
  for (const JsonValue edge : answer.json["edges"].elements()) {
    if (edge["relation"].string() == relation) {
      out.insert(fmt::format("{} {}", edge["from"].string(), edge["to"].string()));
    }
  }
  return out;
}

class Linked : public ApiFixture {
 public:
  Linked() {
    make_session("s1");
    make_session("s2");
    add("s1", EntryType::kConversation,
        R"({"id":"msg-1","timestamp":"2026-01-11T10:00:01Z","role":"user","content":"Which one?"})");
    add("s1", EntryType::kConversation,
        R"({"id":"msg-2","timestamp":"2026-01-11T10:00:02Z","role":"user","content":"Alone"})");
    add("s1", EntryType::kDecision,
        R"({"id":"dec-1","timestamp":"2026-01-11T10:00:03Z","decision":"A","topic":"db","references":{"conversations":["msg-1"],)"
        R"("findings":["finding-1","gone"]}})");
    add("s2", EntryType::kFinding,
        R"({"id":"finding-1","timestamp":"2026-01-11T10:00:04Z","description":"F","topic":"db"})");
    add("s2", EntryType::kFinding,
        R"({"id":"finding-2","timestamp":"2026-01-11T10:00:05Z","description":"G","topic":"alone"})");
    add("s2", EntryType::kEvent,
        R"({"id":"evt-1","timestamp":"2026-01-11T10:00:06Z","kind":"k","references":{"findings":["finding-2"]}})");
  }
};

TEST_CASE_FIXTURE(Linked, "the graph has decisions, findings and what has to do with them") {
  const Answer answer = get("/memory/graph");
  CHECK(nodes(answer) == std::set<std::string>{"s:s1", "s:s2", "t:db", "e:s1/msg-1", "e:s1/dec-1",
                                               "e:s2/finding-1", "e:s2/finding-2", "e:s2/evt-1"});
  CHECK(edges(answer, "references") == std::set<std::string>{"e:s1/dec-1 e:s1/msg-1",
                                                             "e:s1/dec-1 e:s2/finding-1",
                                                             "e:s2/evt-1 e:s2/finding-2"});
  CHECK(edges(answer, "same_topic") ==
        std::set<std::string>{"e:s1/dec-1 t:db", "e:s2/finding-1 t:db"});
  CHECK(edges(answer, "in_session").size() == 5);
  CHECK_FALSE(answer.json["truncated"].boolean(true));
}

TEST_CASE_FIXTURE(Linked, "a graph never has more entries than were asked for, and says so") {
  const Answer answer = get("/memory/graph?limit=2");
  CHECK(nodes(answer).size() == 3);  // Two entries and their session.
  CHECK(answer.json["truncated"].boolean());
}

TEST_CASE_FIXTURE(Linked, "a graph of one session stays in it") {
  CHECK(nodes(get("/memory/graph?session_id=s1")) ==
        std::set<std::string>{"s:s1", "e:s1/msg-1", "e:s1/dec-1"});
}

}  // namespace
}  // namespace bmad_mem::cli::test::graph_api_test
