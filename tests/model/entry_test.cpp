#include "model/entry.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "entry_text.hpp"

namespace bmad_mem::entry_test {
namespace {

std::string searchable(EntryType type, const char* text) {
  const EntryText entry(text);
  std::string out;
  entry_searchable_text(type, entry.value(), out);
  return out;
}

std::string headline(EntryType type, const char* text) {
  return entry_headline(type, EntryText(text).value());
}

double importance(EntryType type, const char* text) {
  const EntryText entry(text);
  const EntryHead head = entry_head(type, entry.value());
  return importance_of(type, head.severe, head.approved);
}

}  // namespace

TEST_CASE("the head of an entry holds what filters look at") {
  const EntryText entry(
      R"({"id":"msg-1","timestamp":"2026-10-02T10:00:00+02:00","agent_id":"skipper",
      "role":"user","content":"x","context":{"topic":"fares"},"tags":["a","b"],"pinned":true,
      "sensitive":true,"decay_factor":0.5})");
  const EntryHead head = entry_head(EntryType::kConversation, entry.value());
  CHECK(head.id == "msg-1");
  CHECK(head.timestamp == parse_rfc3339("2026-10-02T08:00:00Z").value());
  CHECK(head.who == "skipper");
  CHECK(head.topic == "fares");
  CHECK(head.tags.is_array());
  CHECK(head.pinned);
  CHECK(head.sensitive);
  CHECK(head.decay_factor == 0.5);
}

TEST_CASE("the single accessors agree with the head") {
  const EntryText entry(
      R"({"id":"f","timestamp":"2026-10-02T08:00:00.250Z","agent_id":"a","topic":"t"})");
  const EntryHead head = entry_head(EntryType::kFact, entry.value());
  CHECK(entry_id(entry.value()) == head.id);
  CHECK(entry_timestamp(entry.value()) == head.timestamp);
  CHECK(entry_who(EntryType::kFact, entry.value()) == head.who);
  CHECK(entry_topic(entry.value()) == head.topic);
  CHECK(head.topic == "t");
}

TEST_CASE("what is absent or of the wrong kind is empty") {
  for (const char* text : {"{}", "[]", "7",
                           R"({"id":7,"timestamp":"soon","agent_id":[],"context":"c","tags":"x",
                               "references":"r","metadata":1,"approved_by":"me"})"}) {
    CAPTURE(text);
    const EntryText entry(text);
    for (const EntryType type : kEntryTypes) {
      const EntryHead head = entry_head(type, entry.value());
      CHECK(head.id.empty());
      CHECK(head.timestamp == Timestamp{});
      CHECK(head.who.empty());
      CHECK(head.topic.empty());
      CHECK_FALSE(head.pinned);
      CHECK_FALSE(head.sensitive);
      CHECK(head.decay_factor == 1.0);
      CHECK(entry_references(entry.value()).empty());
      CHECK(importance_of(type, head.severe, head.approved) == entry_type_info(type).importance);
      CHECK_FALSE(entry_headline(type, entry.value()).size() > 100);
    }
  }
}

TEST_CASE("who it is from is the type's own field, or else the agent") {
  struct Row {
    EntryType type;
    const char* text;
    const char* who;
  };
  static constexpr Row kRows[] = {
      {EntryType::kDecision, R"({"made_by":"m","agent_id":"a"})", "m"},
      {EntryType::kDecision, R"({"agent_id":"a","discovered_by":"d"})", "a"},
      {EntryType::kFinding, R"({"agent_id":"a","discovered_by":"d"})", "d"},
      {EntryType::kPreference, R"({"agent_id":"a"})", "a"},
      {EntryType::kConversation, R"({"made_by":"m"})", ""},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const EntryText entry(row.text);
    CHECK(entry_who(row.type, entry.value()) == row.who);
    CHECK(entry_head(row.type, entry.value()).who == row.who);
  }
}

TEST_CASE("importance follows the specification and never exceeds 1") {
  struct Row {
    EntryType type;
    const char* text;
    double importance;
  };
  static constexpr Row kRows[] = {
      {EntryType::kConversation, "{}", 0.5},
      {EntryType::kDecision, "{}", 1.0},
      {EntryType::kFinding, "{}", 0.8},
      {EntryType::kPreference, "{}", 0.7},
      {EntryType::kFact, "{}", 0.7},
      {EntryType::kArtifact, "{}", 0.6},
      {EntryType::kEvent, "{}", 0.4},
      {EntryType::kAgentState, "{}", 0.4},
      {EntryType::kFinding, R"({"severity":"high"})", 0.8},
      {EntryType::kFinding, R"({"severity":"critical"})", 1.0},
      {EntryType::kDecision, R"({"impact":"high","approved_by":["u"]})", 1.0},
      {EntryType::kEvent, R"({"impact":"critical"})", 0.4 * 1.3},
      {EntryType::kEvent, R"({"impact":"high","severity":"critical"})", 0.4 * 1.3},
      {EntryType::kEvent, R"({"impact":"high","approved_by":["u"]})", 0.4 * 1.3 * 1.2},
      {EntryType::kEvent, R"({"approved_by":[]})", 0.4},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(importance(row.type, row.text) == doctest::Approx(row.importance));
  }
}

TEST_CASE("search sees the text of an entry in one order, whatever the order of the members") {
  CHECK(searchable(EntryType::kConversation,
                   R"({"tags":["fares"],"content":"Hello","role":"user","mine":"no"})") ==
        "Hello\nfares");
  CHECK(searchable(EntryType::kDecision,
                   R"({"rationale":"r","decision":"d","made_by":"no","alternatives_considered":
                       [{"option":"o1","rejected_reason":"w1"},{"option":"o2"}],"tags":["t"]})") ==
        "d\nr\no1\nw1\no2\nt");
  CHECK(searchable(EntryType::kFinding,
                   R"({"description":"d","evidence":"e","recommendation":"r","category":"c",
                       "severity":"high","status":"open"})") == "c\nd\ne\nr");
  CHECK(searchable(EntryType::kPreference,
                   R"({"category":"no","key":"k","value":{"tabs":4,"on":true},"context":"c"})") ==
        "k\ntabs\n4\non\nc");
  CHECK(searchable(EntryType::kFact, R"({"key":"k","content":"c","learned_from":["no"]})") ==
        "k\nc");
  CHECK(searchable(EntryType::kEvent,
                   R"({"kind":"no","tool":"t","path":"p","content":"c","metadata":{"x":"no"}})") ==
        "t\np\nc");
  CHECK(searchable(EntryType::kAgentState, R"({"agent_id":"no","state":{"task":"dock"}})") ==
        "task\ndock");
  CHECK(searchable(EntryType::kArtifact, R"({"path":"p","title":"t","snippet":"s"})") == "p\nt\ns");
}

TEST_CASE("search does not see what tells of a file outside the workspace") {
  CHECK(searchable(
            EntryType::kEvent,
            R"({"tool":"t","path":"p","content":"c","tags":["x"],"outside_workspace":true})") ==
        "t\nc\nx");
  CHECK(searchable(EntryType::kArtifact,
                   R"({"outside_workspace":true,"path":"p","title":"t","snippet":"s"})") == "t");
  CHECK(searchable(EntryType::kArtifact,
                   R"({"outside_workspace":false,"path":"p","title":"t","snippet":"s"})") ==
        "p\nt\ns");
  CHECK(searchable(EntryType::kArtifact, R"({"outside_workspace":"yes","path":"p"})") == "p");
  CHECK(searchable(EntryType::kFact, R"({"outside_workspace":true,"content":"c"})") == "c");
}

TEST_CASE("searchable text is appended behind what is there, and nothing for nothing") {
  const EntryText entry(R"({"content":"c","role":"user"})");
  std::string out = "before";
  entry_searchable_text(EntryType::kConversation, entry.value(), out);
  CHECK(out == "before\nc");
  CHECK(searchable(EntryType::kConversation, R"({"role":"user","content":"","tags":[]})").empty());
}

TEST_CASE("a headline says the most on one line") {
  CHECK(headline(EntryType::kConversation, R"({"role":"user","content":"one\n\ttwo"})") ==
        "user: one two");
  CHECK(headline(EntryType::kDecision, R"({"decision":"d","impact":"high"})") == "[high] d");
  CHECK(headline(EntryType::kDecision, R"({"decision":"d"})") == "d");
  CHECK(headline(EntryType::kFinding, R"({"description":"d","severity":"low","status":"open"})") ==
        "[low] d");
  CHECK(headline(EntryType::kFinding,
                 R"({"description":"d","severity":"low","status":"resolved"})") ==
        "[low, resolved] d");
  CHECK(headline(EntryType::kFinding, R"({"description":"d","status":"dismissed"})") ==
        "[dismissed] d");
  CHECK(headline(EntryType::kPreference, R"({"key":"k","value":"v"})") == "k = v");
  CHECK(headline(EntryType::kPreference, R"({"key":"k","value":["v",1]})") == R"(k = ["v",1])");
  CHECK(headline(EntryType::kFact, R"({"key":"k","content":"c"})") == "k: c");
  CHECK(headline(EntryType::kFact, R"({"content":"c"})") == "c");
  CHECK(headline(EntryType::kEvent, R"({"kind":"tool_use","tool":"Bash","content":"ls"})") ==
        "tool_use Bash: ls");
  CHECK(headline(EntryType::kEvent, R"({"kind":"k","path":"p"})") == "k p");
  CHECK(headline(EntryType::kAgentState, R"({"agent_id":"a","state":{"x":1}})") == R"(a: {"x":1})");
  CHECK(headline(EntryType::kArtifact, R"({"title":"t","path":"p"})") == "t (p)");
}

TEST_CASE("a headline keeps to its width") {
  const EntryText entry(R"({"content":"a long statement about ferries"})");
  CHECK(entry_headline(EntryType::kFact, entry.value(), 7) == "a long…");
  CHECK(entry_headline(EntryType::kFact, entry.value(), 0) == "…");
}

TEST_CASE("references come from lists, metadata and the parent message, each once") {
  const EntryText entry(R"({"references":{"findings":["finding-1"],"decisions":["dec-1","dec-1"]},
      "metadata":{"references":["dec-1","fact-1"]},"context":{"parent_message_id":"msg-1"},
      "learned_from":["sess-1"]})");
  const std::vector<std::string_view> expected = {"finding-1", "dec-1", "fact-1", "msg-1"};
  CHECK(entry_references(entry.value()) == expected);
  // A plain list is how other programs write it.
  const EntryText list(R"({"references":["a","b","",7]})");
  CHECK(entry_references(list.value()) == std::vector<std::string_view>{"a", "b"});
}

}  // namespace bmad_mem::entry_test
