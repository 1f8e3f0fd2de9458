#include "knowledge/context/context_builder.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "bmad_mem/json.hpp"
#include "context_reader.hpp"
#include "hostile_texts.hpp"
#include "knowledge/knowledge_item.hpp"
#include "model/entry.hpp"

namespace bmad_mem::test::context_builder_test {
namespace {

/// What a context is made of, stated line by line.
class Stage {
 public:
  Stage() { rules.workspace = {.folder = "/home/ann/app", .resolved = "/home/ann/app"}; }

  /// A fact or a preference; `json` has the members behind id and timestamp.
  void know(EntryType type, const std::string& id, const std::string& json) {
    lines_.push_back({.session_id = "s1", .type = type, .text = line(id, json)});
  }
  void fact(const std::string& id, const std::string& json) { know(EntryType::kFact, id, json); }

  /// The task brings up what is known as `id`.
  void finds(const std::string& id, EntryType type = EntryType::kFact) {
    known.push_back({.entry = {.session_id = "s1", .type = type, .id = id}, .relevance = 0.5});
  }

  /// The task brings up an entry; returns it, so that neighbours can be added.
  Hit& says(EntryType type, const std::string& id, const std::string& json) {
    said.push_back({.entry = entry(type, id, json), .relevance = 0.4});
    return said.back();
  }
  Hit& pins(EntryType type, const std::string& id, const std::string& json) {
    pinned.push_back({.entry = entry(type, id, json), .relevance = 0.4});
    return pinned.back();
  }

  static Entry entry(EntryType type, const std::string& id, const std::string& json) {
    const std::string text = line(id, json);
    JsonParser parser;
    const JsonValue value = parser.parse(text).value();
    return {.session_id = "s1",
            .type = type,
            .id = id,
            .timestamp = entry_timestamp(value),
            .json = text,
            .sensitive = value["sensitive"].boolean()};
  }

  [[nodiscard]] Context build() const {
    std::vector<KnowledgeLine> views;
    for (const Line& each : lines_) {
      views.push_back({.session_id = each.session_id, .type = each.type, .text = each.text});
    }
    const std::vector<KnowledgeItem> items = collect_knowledge(views);
    REQUIRE(std::ranges::all_of(items, [](const KnowledgeItem& item) { return !item.id.empty(); }));
    return build_context(
        {.agent_id = agent, .items = items, .known = known, .said = said, .pinned = pinned}, rules);
  }

  ContextRules rules;
  std::string agent;
  std::vector<Hit> known;
  std::vector<Hit> said;
  std::vector<Hit> pinned;

 private:
  struct Line {
    std::string session_id;
    EntryType type;
    std::string text;
  };
  static std::string line(const std::string& id, const std::string& json) {
    const bool has_time = json.find("\"timestamp\"") != std::string::npos;
    return fmt::format("{{\"id\":\"{}\",{}{}}}", id,
                       has_time ? "" : "\"timestamp\":\"2026-01-11T10:00:00Z\",", json);
  }

  std::deque<Line> lines_;
};

/// "section:id" of each item.
std::vector<std::string> said_in(const Context& context) {
  std::vector<std::string> ids;
  for (const ContextItem& item : context.items) {
    ids.push_back(fmt::format("{}:{}", context_section_name(item.section), item.id));
  }
  return ids;
}

using Ids = std::vector<std::string>;

std::string constraint(std::string_view text) {
  return fmt::format(R"("category":"constraint","confidence":1.0,"content":"{}")", text);
}

}  // namespace

TEST_CASE("of nothing there is nothing to say") {
  const Context context = Stage().build();
  CHECK(context.markdown.empty());
  CHECK(context.tokens == 0);
  CHECK(context.items.empty());
}

TEST_CASE("constraints and architecture are critical from the usual confidence on, pins always") {
  Stage stage;
  stage.fact("c1", constraint("never REST"));
  stage.fact("c2", R"("category":"constraint","confidence":0.79,"content":"perhaps no SOAP")");
  stage.fact("a1", R"("category":"architecture","confidence":0.8,"content":"one process")");
  stage.fact("p1", R"("category":"pattern","pinned":true,"content":"first auth, then work")");
  stage.fact("x1", R"("category":"pattern","confidence":1.0,"content":"not critical")");
  const Context context = stage.build();
  CHECK(said_in(context) == Ids{"constraints:p1", "constraints:c1", "constraints:a1"});
  CHECK(context.items[0].why == "pinned");
  CHECK(context.items[1].why == "constraint, confidence 1.00");
}

TEST_CASE("a pinned entry of another type is critical, behind what is known") {
  Stage stage;
  stage.fact("c1", constraint("never REST"));
  stage.pins(EntryType::kDecision, "d1", R"("decision":"Use PostgreSQL","pinned":true)");
  CHECK(said_in(stage.build()) == Ids{"constraints:c1", "constraints:d1"});
}

TEST_CASE("each section has its most, the surest and newest first") {
  Stage stage;
  stage.agent = "VENUS";
  stage.rules.max_tokens = 5000;
  for (int i = 0; i < 9; ++i) {
    stage.fact(
        fmt::format("c{}", i),
        fmt::format(R"("category":"constraint","confidence":0.9{0},"content":"rule {0}")", i));
    stage.fact(fmt::format("v{}", i),
               fmt::format(R"("agent_id":"VENUS","confidence":0.8,"content":"pattern {0}",)"
                           R"("timestamp":"2026-01-1{0}T10:00:00Z")",
                           i));
    stage.fact(fmt::format("t{}", i), fmt::format(R"("content":"fact {}")", i));
    stage.finds(fmt::format("t{}", i));
    stage.fact(fmt::format("e{}", i),
               fmt::format(R"("category":"error_solution","content":"error {}")", i));
    stage.finds(fmt::format("e{}", i));
    stage.know(EntryType::kPreference, fmt::format("u{}", i),
               fmt::format(R"("key":"k{0}","value":"wish {0}")", i));
    stage.says(EntryType::kFinding, fmt::format("f{}", i),
               fmt::format(R"("description":"finding {}")", i));
  }
  CHECK(said_in(stage.build()) ==
        Ids{"constraints:c8",    "constraints:c7",    "constraints:c6",     "constraints:c5",
            "constraints:c4",    "agent_patterns:v8", "agent_patterns:v7",  "agent_patterns:v6",
            "agent_patterns:v5", "agent_patterns:v4", "task_facts:t0",      "task_facts:t1",
            "task_facts:t2",     "task_facts:t3",     "task_facts:t4",      "task_snippets:f0",
            "task_snippets:f1",  "task_snippets:f2",  "task_snippets:f3",   "task_snippets:f4",
            "task_snippets:f5",  "preferences:u0",    "preferences:u1",     "preferences:u2",
            "preferences:u3",    "preferences:u4",    "error_solutions:e0", "error_solutions:e1",
            "error_solutions:e2"});
}

TEST_CASE("an agent reads of itself only what it has learned itself") {
  Stage stage;
  stage.fact("m1", R"("agent_id":"MARS","content":"by MARS")");
  stage.fact("v1", R"("agent_id":"VENUS","content":"by VENUS")");
  stage.agent = "VENUS";
  const Context context = stage.build();
  CHECK(said_in(context) == Ids{"agent_patterns:v1"});
  CHECK(context.markdown.find("### What VENUS has learned\n") != std::string::npos);
}

TEST_CASE("a preference that fits the task goes before one that is surer") {
  Stage stage;
  stage.know(EntryType::kPreference, "sure",
             R"("key":"a","value":"short answers","confidence":1.0)");
  stage.know(EntryType::kPreference, "fits", R"("key":"b","value":"dark charts","confidence":0.5)");
  stage.finds("fits", EntryType::kPreference);
  CHECK(said_in(stage.build()) == Ids{"preferences:fits", "preferences:sure"});
}

TEST_CASE("candidates, dropped, sensitive and superseded ones are not said") {
  Stage stage;
  stage.agent = "A";
  stage.fact("cand", constraint("guessed") + R"(,"review":"candidate")");
  stage.fact("drop", constraint("refused") + R"(,"review":"dropped")");
  stage.fact("sens", constraint("secret") + R"(,"sensitive":true)");
  stage.fact("old", constraint("REST") + R"(,"key":"api")");
  stage.fact("new", constraint("Convex") + R"(,"key":"api","timestamp":"2026-01-12T10:00:00Z")");
  stage.fact("acc", constraint("accepted") + R"(,"review":"accepted")");
  for (const char* id : {"cand", "drop", "sens", "old"}) {
    stage.finds(id);
  }
  stage.says(EntryType::kFinding, "f1", R"("description":"private","sensitive":true)");
  const Context context = stage.build();
  CHECK(said_in(context) == Ids{"constraints:new", "constraints:acc"});
  CHECK(context.markdown.find("REST") == std::string::npos);
}

TEST_CASE("a candidate is said, as data, where the message that it is from is not found") {
  Stage stage;
  stage.fact("left",
             R"("category":"decision","content":"We decided on Redis","review":"candidate",)"
             R"("source":{"kind":"user"},"references":{"messages":["gone"]})");
  stage.fact("twin", R"("category":"decision","content":"We agreed on tabs","review":"candidate",)"
                     R"("source":{"kind":"user"},"references":{"messages":["m1"]})");
  stage.fact("unfit",
             R"("category":"decision","content":"We decided on mail","review":"candidate",)"
             R"("references":{"messages":["gone"]})");
  stage.finds("left");
  stage.finds("twin");
  stage.says(EntryType::kConversation, "m1", R"("role":"user","content":"We agreed on tabs")");
  const Context context = stage.build();
  CHECK(said_in(context) == Ids{"task_facts:left", "task_snippets:m1"});
  CHECK(context.items[0].quoted);
  CHECK(context.markdown.contains("Not accepted: fact (user"));
}

TEST_CASE("a sensitive neighbour is not said") {
  Stage stage;
  Hit& hit = stage.says(EntryType::kConversation, "m2", R"("role":"user","content":"and then")");
  hit.nearness = {.before_adds = true, .after_adds = true};
  hit.before.push_back(Stage::entry(EntryType::kConversation, "m1",
                                    R"("role":"user","content":"hush","sensitive":true)"));
  hit.after.push_back(Stage::entry(EntryType::kConversation, "m3",
                                   R"("role":"assistant","content":"it was done")"));
  const Context context = stage.build();
  CHECK(context.markdown.find("hush") == std::string::npos);
  CHECK(context.markdown.find("  - after: assistant: it was done\n") != std::string::npos);
}

TEST_CASE("what lies outside the workspace is left out, and so is what names another one") {
  Stage stage;
  stage.fact("in", constraint("inside") + R"(,"workspace":"/home/ann/app/ui")");
  stage.fact("out", constraint("other") + R"(,"workspace":"/home/ann/other")");
  stage.says(EntryType::kEvent, "e1", R"("kind":"edit","content":"one","outside_workspace":true)");
  stage.says(EntryType::kEvent, "e2",
             R"("kind":"edit","content":"two","metadata":{"workspace":"/home/ann/other"})");
  stage.says(EntryType::kEvent, "e3",
             R"("kind":"edit","content":"three","metadata":{"workspace":"/home/ann/app"})");
  CHECK(said_in(stage.build()) == Ids{"constraints:in", "task_snippets:e3"});
}

TEST_CASE("nothing is said twice") {
  Stage stage;
  stage.agent = "A";
  stage.fact("c1", constraint("Always use Math.floor() for chips") +
                       R"(,"agent_id":"A","learned_from":["m9"])");
  stage.fact("f1", R"("agent_id":"A","content":"always use math floor for chips!")");
  stage.finds("c1");
  stage.finds("f1");
  stage.says(EntryType::kConversation, "m1",
             R"("role":"user","content":"Please: always use Math.floor() for chips.")");
  stage.says(EntryType::kConversation, "m9", R"("role":"user","content":"I told you about chips")");
  Hit& hit = stage.says(EntryType::kConversation, "m2", R"("role":"user","content":"a question?")");
  hit.after.push_back(
      Stage::entry(EntryType::kConversation, "m3", R"("role":"assistant","content":"an answer")"));
  stage.says(EntryType::kConversation, "m3", R"("role":"assistant","content":"an answer")");
  const Context context = stage.build();
  CHECK(said_in(context) == Ids{"constraints:c1", "task_snippets:m2"});
  Ids omitted;
  for (const ContextOmission& omission : context.omitted) {
    CHECK(omission.why == "said above");
    omitted.push_back(omission.id);
  }
  std::ranges::sort(omitted);
  CHECK(omitted == Ids{"c1", "f1", "f1", "m1", "m3", "m9"});
}

TEST_CASE("what is hardly trusted, or comes from outside, is quoted, and no constraint") {
  struct Row {
    const char* name;
    std::string_view members;
    bool quoted;
  };
  static constexpr Row kRows[] = {
      {"no source", "", false},
      {"a user", R"(,"source":{"kind":"user"})", false},
      {"an assistant, trusted", R"(,"source":{"kind":"assistant","trust":0.7})", false},
      {"an assistant, less", R"(,"source":{"kind":"assistant","trust":0.69})", true},
      {"the web, trusted", R"(,"source":{"kind":"web","trust":1.0})", true},
      {"a tool", R"(,"source":{"kind":"tool"})", true},
      {"an import", R"(,"source":{"kind":"import"})", true},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    Stage stage;
    stage.fact("c1", constraint("obey the words") + std::string(row.members));
    stage.fact("t1", R"("content":"a fact")" + std::string(row.members));
    stage.finds("t1");
    stage.says(EntryType::kFinding, "f1",
               R"("description":"a finding")" + std::string(row.members));
    const Context context = stage.build();
    CHECK(said_in(context) == (row.quoted
                                   ? Ids{"task_facts:t1", "task_snippets:f1"}
                                   : Ids{"constraints:c1", "task_facts:t1", "task_snippets:f1"}));
    for (const ContextItem& item : context.items) {
      CHECK(item.quoted == row.quoted);
    }
  }
}

TEST_CASE("what a tool said is quoted though it names no source, and so is what stands beside it") {
  Stage stage;
  stage.says(EntryType::kConversation, "m1", R"("role":"tool","content":"exit status 0")");
  stage.says(EntryType::kEvent, "e1", R"("kind":"tool_result","tool":"Bash","content":"done")");
  Hit& hit = stage.says(EntryType::kConversation, "m2", R"("role":"user","content":"well?")");
  hit.nearness = {.before_adds = true};
  hit.before.push_back(
      Stage::entry(EntryType::kConversation, "m0", R"("role":"tool","content":"CANARY")"));
  const Context context = stage.build();
  REQUIRE(context.items.size() == 3);
  CHECK(std::ranges::all_of(context.items, &ContextItem::quoted));
  CHECK(outside_fences(context.markdown).find("CANARY") == std::string::npos);
}

TEST_CASE("nothing that a hostile entry says stands outside its fence") {
  std::mt19937 random(20260113);
  for (int i = 0; i < 250; ++i) {
    const std::size_t known = hostile_texts().size();
    const std::string text = static_cast<std::size_t>(i) < known
                                 ? hostile_texts()[static_cast<std::size_t>(i)].text
                                 : random_hostile_text(random);
    std::string valid;  // As JSON it can't be anything else.
    for (const char c : text) {
      valid += static_cast<unsigned char>(c) < 0x80 && c != '\0' ? c : '?';
    }
    const std::string quoted = json_quoted(valid);
    const std::string web = R"(,"source":{"kind":"web","trust":0.1})";
    Stage stage;
    stage.fact("w1", fmt::format(R"("key":{0},"content":{0},"agent_id":{0})", quoted) + web);
    stage.finds("w1");
    stage.says(
        EntryType::kFinding, "w2",
        fmt::format(R"("description":{0},"discovered_by":{0},"recommendation":{0})", quoted) + web);
    stage.says(EntryType::kConversation, "w3",
               fmt::format(R"("role":"user","agent_id":{0},"content":{0})", quoted) + web);
    stage.fact("c1", constraint("the only constraint"));
    const Context context = stage.build();
    CAPTURE(context.markdown);
    const ReadContext read = read_context(context.markdown);
    CHECK(read.problem == "");
    CHECK(read.items.size() == context.items.size());
    CHECK(context.items.size() >= 2);
    CHECK(outside_fences(context.markdown).find("CANARY") == std::string::npos);
    CHECK(context.tokens <= 800);
  }
}

TEST_CASE("a context is never above its ceiling, whatever is known") {
  CHECK(rc::check([] {
    Stage stage;
    stage.agent = "A";
    stage.rules.max_tokens = static_cast<std::size_t>(*rc::gen::inRange(50, 2001));
    const int count = *rc::gen::inRange(0, 12);
    for (int i = 0; i < count; ++i) {
      const std::string word = *rc::gen::element<std::string>("word ", "größer ", "数据库", "x",
                                                              "a_b.c(1)[2] ", "🚀", "\\n\\n");
      std::string text = fmt::format("n{} ", i);
      for (int n = *rc::gen::inRange(1, 300); n > 0; --n) {
        text += word;
      }
      const std::string source = *rc::gen::arbitrary<bool>() ? R"(,"source":{"kind":"web"})" : "";
      stage.fact(fmt::format("c{}", i), constraint(text) + source);
      stage.fact(fmt::format("f{}", i), fmt::format(R"("agent_id":"A","content":"f {}")", text));
      stage.fact(fmt::format("t{}", i), fmt::format(R"("content":"t {}")", text));
      stage.finds(fmt::format("t{}", i));
      Hit& hit = stage.says(EntryType::kDecision, fmt::format("d{}", i),
                            fmt::format(R"("decision":"d {}")", text) + source);
      hit.before.push_back(Stage::entry(EntryType::kDecision, fmt::format("b{}", i),
                                        fmt::format(R"("decision":"b {}")", text)));
    }
    const Context context = stage.build();
    RC_ASSERT(estimate_tokens(context.markdown) <= stage.rules.max_tokens);
    RC_ASSERT(context.tokens == estimate_tokens(context.markdown));
    RC_ASSERT(read_context(context.markdown).problem.empty());
    RC_ASSERT(read_context(context.markdown).items.size() == context.items.size());
    RC_ASSERT(count == 0 || !context.items.empty());
  }));
}

TEST_CASE("a context does not depend on the order of what it is made of") {
  Stage stage;
  stage.agent = "A";
  std::vector<KnowledgeItem> items;
  std::vector<std::string> texts;
  for (int i = 0; i < 30; ++i) {
    texts.push_back(fmt::format(
        R"({{"id":"f{0}","timestamp":"2026-01-{1}T10:00:00Z","agent_id":"A","category":"{2}",)"
        R"("content":"says {0}","confidence":{3}}})",
        i, 10 + i % 3, i % 2 == 0 ? "constraint" : "pattern", i % 5 == 0 ? 0.7 : 0.95));
  }
  const auto built = [&] {
    std::vector<KnowledgeLine> lines;
    for (const std::string& text : texts) {
      lines.push_back({.session_id = "s1", .type = EntryType::kFact, .text = text});
    }
    items = collect_knowledge(lines);
    return items;
  };
  std::mt19937 random(7);
  std::string first;
  for (int i = 0; i < 20; ++i) {
    std::vector<KnowledgeItem> known = built();
    std::ranges::shuffle(known, random);
    const std::string markdown =
        build_context({.agent_id = "A", .items = known, .known = {}, .said = {}, .pinned = {}},
                      stage.rules)
            .markdown;
    first = first.empty() ? markdown : first;
    CHECK(markdown == first);
    std::ranges::shuffle(texts, random);
  }
}

TEST_CASE("a long text is cut rather than left out, and one that doesn't fit at all is named") {
  Stage stage;
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "many words ";
  }
  stage.fact("c1", constraint(text));
  stage.rules.max_tokens = 60;
  Context context = stage.build();
  REQUIRE(context.items.size() == 1);
  CHECK(context.items.front().text.ends_with("…"));
  CHECK(context.tokens <= 60);
  stage.rules.max_tokens = 10;
  context = stage.build();
  CHECK(context.markdown.empty());
  REQUIRE(context.omitted.size() == 1);
  CHECK(context.omitted.front().why == "over the ceiling");
}

TEST_CASE("when room is short every section gets its best before any gets its second") {
  Stage stage;
  stage.agent = "A";
  for (int i = 0; i < 3; ++i) {
    stage.fact(fmt::format("v{}", i), fmt::format(R"("agent_id":"A","content":"own words {}")", i));
    stage.fact(fmt::format("t{}", i), fmt::format(R"("content":"task words {}")", i));
    stage.finds(fmt::format("t{}", i));
  }
  stage.fact("c1", constraint("obey"));
  stage.rules.max_tokens = 60;
  const Ids ids = said_in(stage.build());
  CHECK(std::ranges::count(ids, "constraints:c1") == 1);
  CHECK(std::ranges::count(ids, "agent_patterns:v0") == 1);
  CHECK(std::ranges::count(ids, "task_facts:t0") == 1);
}

}  // namespace bmad_mem::test::context_builder_test
