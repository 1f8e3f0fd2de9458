// writes_test.cpp - entries as C++ structs and as JSON: what becomes of them in the log.
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/json_cursor.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::writes_test {
namespace {

using Json = nlohmann::json;

/// The members that every typed entry of these tests has, and the JSON they must become.
EntryCommon full_common(const std::string& id) {
  return {.id = id,
          .timestamp = Timestamp(std::chrono::milliseconds(1'768'125'600'250)),
          .tags = {"one", "two \"quoted\""},
          .pinned = true,
          .sensitive = true,
          .source = {.kind = "user", .trust = 0.75},
          .extra = R"("ticket":42,"ratio":1.00)"};
}

Json with_common(const std::string& id, Json entry) {
  entry["id"] = id;
  entry["timestamp"] = "2026-01-11T10:00:00.250Z";
  entry["tags"] = {"one", "two \"quoted\""};
  entry["pinned"] = true;
  entry["sensitive"] = true;
  entry["source"] = {{"kind", "user"}, {"trust", 0.75}};
  entry["ticket"] = 42;
  entry["ratio"] = 1.0;
  entry["decay_factor"] = 1.0;
  return entry;
}

struct TypedRow {
  EntryType type;
  std::function<Result<std::string>(MemoryManager&)> add_full;
  Json full;
  std::function<Result<std::string>(MemoryManager&)> add_least;
  std::function<Result<std::string>(MemoryManager&)> add_nothing;
};

std::vector<TypedRow> typed_rows() {
  std::vector<TypedRow> rows;
  rows.push_back(
      {EntryType::kConversation,
       [](MemoryManager& memory) {
         return memory.add_conversation("s1", {.role = "assistant",
                                               .content = "Use PostgreSQL.\nReally.",
                                               .agent_id = "architect",
                                               .conversation_id = "conv-1",
                                               .parent_message_id = "msg-0",
                                               .topic = "database",
                                               .tokens = 12,
                                               .processing_time_ms = 3.5,
                                               .references = {"dec-1"},
                                               .common = full_common("e0")});
       },
       with_common("e0",
                   {{"role", "assistant"},
                    {"content", "Use PostgreSQL.\nReally."},
                    {"agent_id", "architect"},
                    {"context",
                     {{"conversation_id", "conv-1"},
                      {"parent_message_id", "msg-0"},
                      {"topic", "database"}}},
                    {"metadata",
                     {{"tokens", 12}, {"processing_time_ms", 3.5}, {"references", {"dec-1"}}}}}),
       [](MemoryManager& memory) {
         return memory.add_conversation("s1", {.role = "user", .content = "hello"});
       },
       [](MemoryManager& memory) { return memory.add_conversation("s1", {}); }});
  rows.push_back(
      {EntryType::kDecision,
       [](MemoryManager& memory) {
         return memory.add_decision(
             "s1", {.decision = "Use PostgreSQL",
                    .made_by = "architect",
                    .approved_by = {"pm", "user"},
                    .rationale = "ACID",
                    .alternatives_considered = {{.option = "MySQL", .rejected_reason = "JSON"},
                                                {.option = "SQLite", .rejected_reason = ""}},
                    .impact = "high",
                    .conversations = {"msg-1"},
                    .findings = {"finding-1", "finding-2"},
                    .common = full_common("e1")});
       },
       with_common("e1",
                   {{"decision", "Use PostgreSQL"},
                    {"made_by", "architect"},
                    {"approved_by", {"pm", "user"}},
                    {"rationale", "ACID"},
                    {"alternatives_considered",
                     {{{"option", "MySQL"}, {"rejected_reason", "JSON"}}, {{"option", "SQLite"}}}},
                    {"impact", "high"},
                    {"references",
                     {{"conversations", {"msg-1"}}, {"findings", {"finding-1", "finding-2"}}}}}),
       [](MemoryManager& memory) { return memory.add_decision("s1", {.decision = "d"}); },
       [](MemoryManager& memory) { return memory.add_decision("s1", {}); }});
  rows.push_back(
      {EntryType::kFinding,
       [](MemoryManager& memory) {
         return memory.add_finding("s1", {.description = "No pool",
                                          .discovered_by = "reviewer",
                                          .category = "performance",
                                          .severity = "critical",
                                          .evidence = "p99",
                                          .recommendation = "Add one",
                                          .status = "resolved",
                                          .common = full_common("e2")});
       },
       with_common("e2", {{"description", "No pool"},
                          {"discovered_by", "reviewer"},
                          {"category", "performance"},
                          {"severity", "critical"},
                          {"evidence", "p99"},
                          {"recommendation", "Add one"},
                          {"status", "resolved"}}),
       [](MemoryManager& memory) { return memory.add_finding("s1", {.description = "d"}); },
       [](MemoryManager& memory) { return memory.add_finding("s1", {}); }});
  rows.push_back({EntryType::kPreference,
                  [](MemoryManager& memory) {
                    return memory.update_preference("s1", {.key = "style",
                                                           .value = "concise",
                                                           .category = "answers",
                                                           .context = "reviews",
                                                           .confidence = 0.5,
                                                           .learned_from = {"sess-1"},
                                                           .common = full_common("e3")});
                  },
                  with_common("e3", {{"key", "style"},
                                     {"value", "concise"},
                                     {"category", "answers"},
                                     {"context", "reviews"},
                                     {"confidence", 0.5},
                                     {"learned_from", {"sess-1"}}}),
                  [](MemoryManager& memory) {
                    return memory.update_preference("s1", {.key = "k", .value = "v"});
                  },
                  [](MemoryManager& memory) { return memory.update_preference("s1", {}); }});
  rows.push_back({EntryType::kFact,
                  [](MemoryManager& memory) {
                    return memory.add_fact("s1", {.content = "Rebuilt every night",
                                                  .agent_id = "pm",
                                                  .category = "staging",
                                                  .key = "db",
                                                  .confidence = 1.0,
                                                  .learned_from = {"sess-1", "sess-2"},
                                                  .common = full_common("e4")});
                  },
                  with_common("e4", {{"content", "Rebuilt every night"},
                                     {"agent_id", "pm"},
                                     {"category", "staging"},
                                     {"key", "db"},
                                     {"confidence", 1.0},
                                     {"learned_from", {"sess-1", "sess-2"}}}),
                  [](MemoryManager& memory) { return memory.add_fact("s1", {.content = "c"}); },
                  [](MemoryManager& memory) { return memory.add_fact("s1", {}); }});
  rows.push_back({EntryType::kEvent,
                  [](MemoryManager& memory) {
                    return memory.add_event("s1",
                                            {.kind = "tool_use",
                                             .agent_id = "dev",
                                             .tool = "bash",
                                             .path = "src/a.cpp",
                                             .content = "make",
                                             .metadata_json = "{\"exit\":0,\n \"list\":[1,null]}",
                                             .common = full_common("e5")});
                  },
                  with_common("e5", {{"kind", "tool_use"},
                                     {"agent_id", "dev"},
                                     {"tool", "bash"},
                                     {"path", "src/a.cpp"},
                                     {"content", "make"},
                                     {"metadata", {{"exit", 0}, {"list", {1, nullptr}}}}}),
                  [](MemoryManager& memory) { return memory.add_event("s1", {.kind = "k"}); },
                  [](MemoryManager& memory) { return memory.add_event("s1", {}); }});
  rows.push_back(
      {EntryType::kAgentState,
       [](MemoryManager& memory) {
         return memory.set_agent_state("s1", {.agent_id = "dev",
                                              .state_json = R"({"step":2,"open":[]})",
                                              .common = full_common("e6")});
       },
       with_common("e6", {{"agent_id", "dev"}, {"state", {{"step", 2}, {"open", Json::array()}}}}),
       [](MemoryManager& memory) {
         return memory.set_agent_state("s1", {.agent_id = "dev", .state_json = "7"});
       },
       [](MemoryManager& memory) { return memory.set_agent_state("s1", {}); }});
  rows.push_back(
      {EntryType::kArtifact,
       [](MemoryManager& memory) {
         return memory.add_artifact("s1", {.path = "docs/a.md",
                                           .title = "Overview",
                                           .agent_id = "pm",
                                           .snippet = "It begins",
                                           .common = full_common("e7")});
       },
       with_common("e7", {{"path", "docs/a.md"},
                          {"title", "Overview"},
                          {"agent_id", "pm"},
                          {"snippet", "It begins"}}),
       [](MemoryManager& memory) { return memory.add_artifact("s1", {.path = "p", .title = "t"}); },
       [](MemoryManager& memory) { return memory.add_artifact("s1", {}); }});
  return rows;
}

/// The only entry of this type, parsed, as it stands in the log.
Json only_line(MemoryFixture& memory, EntryType type) {
  const std::string bytes = memory.read(type);
  REQUIRE(bytes.ends_with('\n'));
  REQUIRE(bytes.find('\n') == bytes.size() - 1);
  JsonParser parser;
  CHECK_FALSE(check_entry(type, parser.parse(bytes.substr(0, bytes.size() - 1)).value()));
  return Json::parse(bytes);
}

}  // namespace

TEST_CASE("every type is written with all its members, and found again after reopening") {
  const std::vector<TypedRow> rows = typed_rows();
  REQUIRE(rows.size() == kEntryTypeCount);
  for (const TypedRow& row : rows) {
    CAPTURE(entry_type_name(row.type));
    MemoryFixture memory;
    memory.session();
    const Result<std::string> id = row.add_full(*memory);
    REQUIRE(id.has_value());
    CHECK(*id == row.full.at("id").get<std::string>());
    CHECK(only_line(memory, row.type) == row.full);
    memory.reopen();
    const std::string ids[] = {*id};
    const std::vector<Entry> found = memory->get(ids).value();
    REQUIRE(found.size() == 1);
    CHECK(found[0].type == row.type);
    CHECK(found[0].pinned);
    CHECK(found[0].session_id == "s1");
    CHECK(found[0].json + "\n" == memory.read(row.type));
    // What the caller wrote as text keeps its bytes.
    CHECK(found[0].json.find("\"ratio\":1.00") != std::string::npos);
  }
}

TEST_CASE("every type is written with what it needs alone, and the rest is filled in") {
  for (const TypedRow& row : typed_rows()) {
    CAPTURE(entry_type_name(row.type));
    MemoryFixture memory;
    memory.session();
    const Result<std::string> id = row.add_least(*memory);
    REQUIRE(id.has_value());
    CHECK(id->starts_with(entry_type_info(row.type).id_prefix));
    const Json line = only_line(memory, row.type);
    CHECK(line.at("id") == *id);
    CHECK(line.at("timestamp") == "2026-01-11T10:00:00Z");
    CHECK(line.at("decay_factor") == 1.0);
    CHECK_FALSE(line.contains("pinned"));
    CHECK_FALSE(line.contains("tags"));
    CHECK_FALSE(line.contains("source"));
  }
}

TEST_CASE("every type is refused when what it needs is missing, and nothing is written") {
  for (const TypedRow& row : typed_rows()) {
    CAPTURE(entry_type_name(row.type));
    MemoryFixture memory;
    memory.session();
    const auto before = memory.files();
    const Result<std::string> id = row.add_nothing(*memory);
    CHECK(code_of(id) == ErrorCode::E_SCHEMA_INVALID);
    CHECK_FALSE(id.error().field.empty());
    CHECK(memory.files() == before);
  }
}

TEST_CASE("JSON of the caller's inside a struct is checked like any other") {
  MemoryFixture memory;
  memory.session();
  const auto add = [&](const std::string& extra) {
    return memory->add_fact("s1", {.content = "c", .common = {.extra = extra}});
  };
  CHECK(code_of(add("\"a\":")) == ErrorCode::E_INVALID_FORMAT);
  CHECK(code_of(add("\"a\":1},{\"b\":2")) == ErrorCode::E_INVALID_FORMAT);
  CHECK(code_of(add("\"content\":\"twice\"")) == ErrorCode::E_INVALID_FORMAT);
  CHECK(code_of(add("\"pinned\":\"yes\"")) == ErrorCode::E_SCHEMA_INVALID);
  CHECK(code_of(memory->set_agent_state("s1", {.agent_id = "a", .state_json = "{"})) ==
        ErrorCode::E_INVALID_FORMAT);
  CHECK(code_of(memory->set_agent_state("s1", {.agent_id = "a", .state_json = "null"})) ==
        ErrorCode::E_SCHEMA_INVALID);
  CHECK(code_of(memory->add_event("s1", {.kind = "k", .metadata_json = "[1]"})) ==
        ErrorCode::E_SCHEMA_INVALID);
  CHECK(memory->statistics("s1").value().versions() == 0);
}

TEST_CASE("text with bytes that JSON cannot hold is refused, not repaired in silence") {
  MemoryFixture memory;
  memory.session();
  for (const std::string& content :
       {std::string("\xFF"), std::string("a\0b", 3), std::string("\xED\xA0\x80")}) {
    CHECK(code_of(memory->add_fact("s1", {.content = content})) == ErrorCode::E_INVALID_FORMAT);
  }
  CHECK(memory->add_fact("s1", {.content = "\x01\x1F\x7F \xF0\x9F\x98\x80"}).has_value());
}

TEST_CASE("an entry is parsed once on its way to the log") {
  MemoryFixture memory;
  memory.session("s1");
  memory.add(EntryType::kEvent, R"({"kind":"tool_use","path":"src/a.cpp"})");
  const std::uint64_t before = json_texts_read();
  memory.add(EntryType::kEvent, R"({"kind":"tool_use","path":"src/b.cpp"})");
  CHECK(json_texts_read() == before + 1);
}

TEST_CASE("bad JSON is refused with column and field, and nothing is written") {
  struct Row {
    const char* name;
    std::string json;
    ErrorCode code;
  };
  const std::string head = R"({"timestamp":"2026-01-11T10:00:00Z","content":"x",)";
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  const Row rows[] = {
      {"empty", "", ErrorCode::E_INVALID_FORMAT},
      {"blank", "  \n ", ErrorCode::E_INVALID_FORMAT},
      {"broken", head, ErrorCode::E_INVALID_FORMAT},
      {"two objects", head + "\"a\":1} {}", ErrorCode::E_INVALID_FORMAT},
      {"an array", "[]", ErrorCode::E_SCHEMA_INVALID},
      {"a key twice", head + "\"a\":1,\"a\":2}", ErrorCode::E_INVALID_FORMAT},
      {"bad UTF-8", head + "\"a\":\"\xFF\"}", ErrorCode::E_INVALID_FORMAT},
      {"NUL", head + std::string("\"a\":\"\0\"}", 8), ErrorCode::E_INVALID_FORMAT},
      {"escaped NUL", head + R"("a":"\u0000"})", ErrorCode::E_INVALID_FORMAT},
      {"byte order mark", "\xEF\xBB\xBF" + head + "\"a\":1}", ErrorCode::E_INVALID_FORMAT},
      {"2^64", head + "\"a\":18446744073709551616}", ErrorCode::E_INVALID_FORMAT},
      {"1e400", head + "\"a\":1e400}", ErrorCode::E_INVALID_FORMAT},
      {"too deep", head + "\"a\":" + nested(64) + "}", ErrorCode::E_INVALID_FORMAT},
      {"a wrong field", head + "\"pinned\":1}", ErrorCode::E_SCHEMA_INVALID},
      {"a bad id", head + "\"id\":\"../x\"}", ErrorCode::E_SCHEMA_INVALID},
      {"another type", head + "\"type\":\"decision\"}", ErrorCode::E_SCHEMA_INVALID},
      {"too large", head + "\"a\":\"" + std::string(1U << 20U, 'x') + "\"}",
       ErrorCode::E_SIZE_LIMIT},
  };
  MemoryFixture memory;
  memory.session();
  const auto before = memory.files();
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Result<std::string> added = memory->add("s1", EntryType::kFact, row.json);
    CHECK(code_of(added) == row.code);
    CHECK_FALSE(added.error().message.empty());
    CHECK(added.error().line == 0);
  }
  CHECK(memory.files() == before);
  CHECK(memory->add("s1", EntryType::kFact, head + "\"a\":" + nested(63) + "}").has_value());
}

TEST_CASE("ids that the caller gives are kept, and the same id again is a new version") {
  MemoryFixture memory;
  memory.session();
  CHECK(memory.add_fact("my-id:1", "one") == "my-id:1");
  CHECK(memory.add_fact("my-id:1", "two") == "my-id:1");
  const std::string ids[] = {"my-id:1"};
  const std::vector<Entry> found = memory->get(ids).value();
  REQUIRE(found.size() == 1);
  CHECK(found[0].versions == 2);
  CHECK(found[0].json == MemoryFixture::fact("my-id:1", "two"));
  CHECK(memory.read(EntryType::kFact) == MemoryFixture::fact("my-id:1", "one") + "\n" +
                                             MemoryFixture::fact("my-id:1", "two") + "\n");
}

TEST_CASE("ids that the store gives sort in the order of the calls") {
  MemoryFixture memory;
  memory.session();
  std::vector<std::string> ids;
  for (int i = 0; i < 50; ++i) {
    ids.push_back(memory->add_fact("s1", {.content = "x"}).value());
    if (i % 10 == 0) {
      memory.clock.advance(std::chrono::milliseconds(i == 30 ? -5 : 1));
    }
  }
  CHECK(std::ranges::is_sorted(ids));
  CHECK(std::ranges::adjacent_find(ids) == ids.end());
}

TEST_CASE("every type goes to a log of its own, made on first use") {
  MemoryFixture memory;
  memory.session();
  for (const TypedRow& row : typed_rows()) {
    REQUIRE(row.add_least(*memory).has_value());
  }
  for (const EntryType type : kEntryTypes) {
    const std::string bytes = memory.read(type);
    CHECK(std::ranges::count(bytes, '\n') == 1);
  }
}

}  // namespace bmad_mem::test::writes_test
