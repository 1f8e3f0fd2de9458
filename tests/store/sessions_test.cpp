// sessions_test.cpp - creating, loading, listing and closing sessions.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/memory_fixture.hpp"

namespace bmad_mem::test::sessions_test {

TEST_CASE("a new session is there with everything that was said about it") {
  MemoryFixture memory;
  const std::string id = memory
                             ->create_session({.session_id = "payments",
                                               .user_id = "user-789",
                                               .agent_ids = {"architect", "pm"},
                                               .project_name = "shop",
                                               .session_type = "architecture_review",
                                               .tags = {"payments", "q1"}})
                             .value();
  CHECK(id == "payments");
  memory.reopen();
  const Session session = memory->load_session(id).value();
  CHECK(session.session_id == "payments");
  CHECK(session.user_id == "user-789");
  CHECK(session.agent_ids == std::vector<std::string>{"architect", "pm"});
  CHECK(session.project_name == "shop");
  CHECK(session.session_type == "architecture_review");
  CHECK(session.tags == std::vector<std::string>{"payments", "q1"});
  CHECK(session.created_at == memory.clock.now());
  CHECK(session.last_write == session.created_at);
  CHECK_FALSE(session.closed_at.has_value());
  CHECK_FALSE(session.problem.has_value());
  CHECK(session.size_bytes == memory.read("manifest.json", id).size());
  CHECK(nlohmann::json::parse(session.manifest).at("session_id") == "payments");
}

TEST_CASE("a session's folder has the logs that it is made with, and nothing unfinished") {
  MemoryFixture memory;
  memory.session();
  std::vector<std::string> names;
  for (const auto& [name, bytes] : memory.files()) {
    if (name.starts_with("sessions/")) {
      names.push_back(name);
    }
  }
  CHECK(names == std::vector<std::string>{"sessions/s1/conversation.jsonl",
                                          "sessions/s1/decisions.jsonl",
                                          "sessions/s1/findings.jsonl", "sessions/s1/manifest.json",
                                          "sessions/s1/preferences.jsonl"});
}

TEST_CASE("a session without an id gets one from the date, each another") {
  MemoryFixture memory;
  const std::string first = memory->create_session({}).value();
  const std::string second = memory->create_session({}).value();
  CHECK(first.starts_with("sess-2026-01-11-"));
  CHECK(first.size() == 22);
  CHECK(first != second);
}

TEST_CASE("an id that is taken, or cannot be one, makes no session") {
  MemoryFixture memory;
  memory.session("s1");
  const auto before = memory.files();
  const auto refused = memory->create_session({.session_id = "s1"});
  CHECK(code_of(refused) == ErrorCode::E_CONCURRENT_MOD);
  CHECK(refused.error().path == memory.root() + "/sessions/s1");
  for (const std::string& id :
       {std::string("../x"), std::string("a/b"), std::string("-rf"), std::string(".hidden"),
        std::string("Upper"), std::string("a b"), std::string("a\0b", 3), std::string("a\n"),
        std::string(65, 'x'), std::string(256, 'x'), std::string("caf\xC3\xA9")}) {
    CAPTURE(id);
    CHECK(code_of(memory->create_session({.session_id = id})) == ErrorCode::E_INVALID_FORMAT);
  }
  CHECK(memory.files() == before);
  CHECK(memory->create_session({.session_id = std::string(64, 'x')}).has_value());
}

TEST_CASE("an id is taken by whatever lies there, but for a folder without a manifest") {
  MemoryFixture memory;
  memory.session("s1");
  std::filesystem::create_directory(memory.root() + "/sessions/empty");
  std::filesystem::create_symlink("s1", memory.root() + "/sessions/link");
  memory.folder.write("memory/sessions/file", "");
  for (const char* id : {"s1", "link", "file"}) {
    CAPTURE(id);
    CHECK(code_of(memory->create_session({.session_id = id})) == ErrorCode::E_CONCURRENT_MOD);
  }
  CHECK(memory->create_session({.session_id = "empty"}).has_value());
}

TEST_CASE("no call takes an id that could lead elsewhere") {
  MemoryFixture memory;
  memory.session();
  for (const std::string id : {"../s1", "", ".", "..", "s1/", "-rf"}) {
    CAPTURE(id);
    CHECK(code_of(memory->load_session(id)) == ErrorCode::E_INVALID_FORMAT);
    CHECK(code_of(memory->close_session(id)) == ErrorCode::E_INVALID_FORMAT);
    CHECK(code_of(memory->statistics(id)) == ErrorCode::E_INVALID_FORMAT);
    CHECK(code_of(memory->add(id, EntryType::kFact, MemoryFixture::fact("f"))) ==
          ErrorCode::E_INVALID_FORMAT);
    CHECK(code_of(memory->list({.sessions = {id}})) == ErrorCode::E_INVALID_FORMAT);
    CHECK(code_of(memory->query({.text = "x", .filter = {.sessions = {id}}})) ==
          ErrorCode::E_INVALID_FORMAT);
    const std::string sessions[] = {id};
    CHECK(code_of(memory->verify(sessions)) == ErrorCode::E_INVALID_FORMAT);
    CHECK(code_of(memory->repair(sessions)) == ErrorCode::E_INVALID_FORMAT);
  }
}

TEST_CASE("a session that isn't there is not found, by any call") {
  MemoryFixture memory;
  const std::string id = "nowhere";
  CHECK(code_of(memory->load_session(id)) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(memory->close_session(id)) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(memory->statistics(id)) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(memory->add(id, EntryType::kFact, MemoryFixture::fact("f"))) ==
        ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(memory->list({.sessions = {id}})) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(memory->decisions(id)) == ErrorCode::E_SESSION_NOT_FOUND);
  const std::string sessions[] = {id};
  const std::string ids[] = {"f"};
  CHECK(code_of(memory->get(ids, sessions)) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(memory->history("f", sessions)) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(memory->verify(sessions)) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(memory->repair(sessions)) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK_FALSE(std::filesystem::exists(memory.root() + "/sessions/nowhere"));
}

TEST_CASE("sessions are listed oldest first, those that cannot be read with the reason") {
  MemoryFixture memory;
  CHECK(memory->list_sessions().value().empty());
  memory.session("later");
  memory.clock.advance(std::chrono::hours(-1));
  memory.session("earlier");
  memory.session("broken");
  memory.write("manifest.json", "{\"session_id\":", "broken");
  memory.session("bare");
  std::filesystem::remove(memory.path("manifest.json", "bare"));
  const std::vector<Session> sessions = memory->list_sessions().value();
  std::vector<std::string> good;
  for (const Session& session : sessions) {
    if (!session.problem) {
      good.push_back(session.session_id);
    } else if (session.session_id == "broken") {
      CHECK(session.problem->code == ErrorCode::E_SESSION_CORRUPT);
    } else {
      CHECK(session.session_id == "bare");
      CHECK(session.problem->code == ErrorCode::E_SESSION_NOT_FOUND);
    }
  }
  CHECK(sessions.size() == 4);
  CHECK(good == std::vector<std::string>{"earlier", "later"});
}

TEST_CASE("what is no session id is no session") {
  MemoryFixture memory;
  memory.session();
  for (const char* name : {".s2.tmp", "Upper", "with blank"}) {
    std::filesystem::create_directory(memory.root() + "/sessions/" + name);
  }
  CHECK(memory->list_sessions().value().size() == 1);
}

TEST_CASE("closing counts the entries into the manifest and notes the time") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  memory.add_fact("f1", "newer");
  memory.add_fact("f2");
  memory.add(EntryType::kConversation, R"({"role":"user","content":"hello"})");
  memory.add(EntryType::kEvent, R"({"kind":"build"})");  // Only this machine has it.
  const std::string open = memory.read("manifest.json");
  CHECK_FALSE(open.contains("statistics"));
  memory.clock.advance(std::chrono::hours(2));
  const Session closed = memory->close_session("s1").value();
  CHECK(closed.closed_at == memory.clock.now());
  const nlohmann::json manifest = nlohmann::json::parse(memory.read("manifest.json"));
  CHECK(manifest.at("closed_at") == "2026-01-11T12:00:00Z");
  CHECK(manifest.at("updated_at") == "2026-01-11T12:00:00Z");
  CHECK(manifest.at("created_at") == "2026-01-11T10:00:00Z");
  CHECK(manifest.at("statistics") == nlohmann::json{{"total_messages", 1}, {"total_facts", 2}});
}

TEST_CASE("a session is idle when it is closed, or nobody wrote to it for a day") {
  MemoryFixture memory;
  memory.session();
  const Session open = memory->load_session("s1").value();
  const Session closed = memory->close_session("s1").value();
  CHECK(memory->session_state(closed) == SessionState::kIdle);
  // Files carry the time of the disk, which no test can set.
  memory.clock.set(open.last_write + std::chrono::hours(24) - std::chrono::milliseconds(1));
  CHECK(memory->session_state(open) == SessionState::kActive);
  memory.clock.advance(std::chrono::milliseconds(1));
  CHECK(memory->session_state(open) == SessionState::kIdle);
}

TEST_CASE("the states of sessions have the names of the specification, in lower case") {
  CHECK(std::string(session_state_name(SessionState::kActive)) == "active");
  CHECK(std::string(session_state_name(SessionState::kIdle)) == "idle");
  CHECK(std::string(session_state_name(SessionState::kArchived)) == "archived");
  CHECK(std::string(session_state_name(SessionState::kDeleted)) == "deleted");
}

TEST_CASE("the table of decay has a line for each model and type, and names the model in use") {
  MemoryFixture memory;
  const std::vector<DecayTableLine> lines = memory->decay_table();
  REQUIRE(lines.size() == 2 * kEntryTypeCount);
  for (const DecayTableLine& line : lines) {
    CHECK(line.is_used == (line.model == "exponential"));
    CHECK(std::ranges::is_sorted(line.factors, std::ranges::greater()));
  }
  CHECK(lines[0].type == EntryType::kConversation);
  CHECK(lines[0].factors[0] == 1.0);
}

TEST_CASE("members of a manifest that nobody knows survive closing and reopening") {
  MemoryFixture memory;
  memory.session();
  std::string manifest = memory.read("manifest.json");
  manifest.insert(manifest.find('{') + 1, "\n  \"ticket\": 1.00,");
  memory.write("manifest.json", manifest);
  REQUIRE(memory->close_session("s1").has_value());
  CHECK(memory.read("manifest.json").find("\"ticket\": 1.00") != std::string::npos);
  memory.add_fact("f1");
  CHECK(memory.read("manifest.json").find("\"ticket\": 1.00") != std::string::npos);
}

TEST_CASE("the next write opens a closed session again, and no read does") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  REQUIRE(memory->close_session("s1").has_value());

  SUBCASE("in the same process") {}
  SUBCASE("in another") { memory.reopen(); }
  CHECK(memory->list({}).value().size() == 1);
  CHECK(memory->query({.text = "x"}).has_value());
  CHECK(memory->verify().has_value());
  CHECK(memory->load_session("s1").value().closed_at.has_value());
  memory.clock.advance(std::chrono::hours(1));
  memory.add_fact("f2");
  const Session session = memory->load_session("s1").value();
  CHECK_FALSE(session.closed_at.has_value());
  CHECK(nlohmann::json::parse(session.manifest).at("updated_at") == "2026-01-11T11:00:00Z");
}

TEST_CASE("a write that is refused does not open a closed session") {
  MemoryFixture memory;
  memory.session();
  REQUIRE(memory->close_session("s1").has_value());
  CHECK_FALSE(memory->add("s1", EntryType::kFact, "{}").has_value());
  CHECK(memory->load_session("s1").value().closed_at.has_value());
}

TEST_CASE("a session closed by another process is noticed by a warm writer") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  Result<MemoryManager> other =
      MemoryManager::open({.root = memory.root(), .clock = &memory.clock});
  REQUIRE(other->close_session("s1").has_value());
  memory.add_fact("f2");
  CHECK_FALSE(memory->load_session("s1").value().closed_at.has_value());
}

TEST_CASE("a damaged manifest is named by every call that needs it, and reads go on") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  memory.write("manifest.json", "{\"session_id\":\"s1\",\"created_at\":7,\"version\":\"1.0\"}\n");
  memory.reopen();
  const auto loaded = memory->load_session("s1");
  CHECK(code_of(loaded) == ErrorCode::E_SESSION_CORRUPT);
  CHECK(loaded.error().field == "created_at");
  CHECK(loaded.error().message.find("bmad-mem repair") != std::string::npos);
  CHECK(code_of(memory->close_session("s1")) == ErrorCode::E_SESSION_CORRUPT);
  CHECK(code_of(memory->add("s1", EntryType::kFact, MemoryFixture::fact("f2"))) ==
        ErrorCode::E_SESSION_CORRUPT);
  CHECK(memory->list({}).value().size() == 1);
  CHECK(memory->statistics("s1").value().entries() == 1);
}

TEST_CASE("a file or link in a session's place is named as that") {
  MemoryFixture memory;
  memory.session();
  std::filesystem::create_symlink("s1", memory.root() + "/sessions/link");
  memory.folder.write("memory/sessions/file", "");
  for (const char* id : {"link", "file"}) {
    CHECK(code_of(memory->load_session(id)) == ErrorCode::E_SESSION_CORRUPT);
    CHECK(code_of(memory->statistics(id)) == ErrorCode::E_SESSION_CORRUPT);
    CHECK_FALSE(memory->add(id, EntryType::kFact, MemoryFixture::fact("f")).has_value());
  }
  CHECK(memory.read(EntryType::kFact).empty());
}

TEST_CASE("a session is made again in what git left of it, and what was derived goes") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  memory.write("index.json", "{}");
  memory.write(".lock.seal.json", "{}");
  for (const char* name : {"manifest.json", "facts.jsonl", "conversation.jsonl", "decisions.jsonl",
                           "findings.jsonl", "preferences.jsonl"}) {
    std::filesystem::remove(memory.path(name));
  }
  CHECK(memory->list_sessions().value().empty());
  CHECK(memory->verify().value().findings.empty());
  CHECK(memory->repair().value().actions.empty());
  CHECK(code_of(memory->load_session("s1")) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(memory->add("s1", EntryType::kFact, MemoryFixture::fact("lost"))) ==
        ErrorCode::E_SESSION_NOT_FOUND);
  memory.session("s1");
  memory.add_fact("f2");
  CHECK(memory.listed() == std::vector<std::string>{"f2"});
  CHECK(memory->verify().value().changes.empty());  // The encrypt is of the new lines.
  CHECK_FALSE(std::filesystem::exists(memory.path("index.json")));
  CHECK(memory->verify().value().findings.empty());
}

TEST_CASE("maintenance removes what git left of sessions, and nothing else") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  memory.add_fact("f1", "x", "s2");
  std::filesystem::remove_all(memory.path("", "s1"));
  std::filesystem::create_directory(memory.path("", "s1"));
  memory.write(".lock", "", "s1");
  REQUIRE(memory->maintain({.dry_run = true}).has_value());
  CHECK(std::filesystem::exists(memory.path("", "s1")));
  REQUIRE(memory->maintain({}).has_value());
  CHECK_FALSE(std::filesystem::exists(memory.path("", "s1")));
  CHECK(memory.listed() == std::vector<std::string>{"f1"});
}

TEST_CASE("maintenance leaves manifests alone, and gives a killed session its index.json") {
  MemoryFixture memory;
  memory.session();
  memory.session("empty");
  memory.add_fact("f1");
  memory.add_fact("f2");
  memory.add(EntryType::kEvent, R"({"kind":"build"})");
  const std::string before = memory.read("manifest.json");
  REQUIRE(memory->maintain({}).has_value());
  const nlohmann::json index = nlohmann::json::parse(memory.read("index.json"));
  CHECK(index.at("counts") == nlohmann::json{{"fact", 2}, {"event", 1}});
  CHECK_FALSE(std::filesystem::exists(memory.path("index.json", "empty")));
  const std::string at_first = memory.read("index.json");
  memory.clock.advance(std::chrono::hours(1));
  REQUIRE(memory->maintain({}).has_value());
  CHECK(memory.read("index.json") == at_first);
  memory.add_fact("f3");
  REQUIRE(memory->maintain({}).has_value());
  CHECK(nlohmann::json::parse(memory.read("index.json")).at("counts").at("fact") == 3);
  CHECK(memory.read("manifest.json") == before);
}

TEST_CASE("a rest of the process gives the sessions that it wrote their index.json") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  memory->index_new_entries(false);
  CHECK_FALSE(std::filesystem::exists(memory.path("index.json", "s1")));
  memory->index_new_entries();
  CHECK(nlohmann::json::parse(memory.read("index.json")).at("entries") == 1);
}

TEST_CASE("when a session was last written to is what its lines say, not what the files say") {
  MemoryFixture memory;
  memory.session();
  memory.session("empty");
  const Timestamp created = memory.clock.now();
  memory.clock.advance(std::chrono::hours(3));
  memory.add(EntryType::kFact,  // Longer than what is read at first.
             fmt::format(R"({{"id":"f1","content":"{:x>20000}"}})", ""));
  const Timestamp written = memory.clock.now();
  const auto touch = [&] {
    for (const auto& file : std::filesystem::recursive_directory_iterator(memory.root())) {
      std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now());
    }
  };
  const auto last = [&](const char* id) { return memory->load_session(id).value().last_write; };
  touch();
  CHECK(last("s1") == written);
  CHECK(last("empty") == created);
  memory.write("facts.jsonl", memory.read("facts.jsonl") + "\n\n{\"id\":\"torn\"");
  CHECK(last("s1") == written);
  memory.clock.advance(std::chrono::hours(1));
  memory.add(EntryType::kEvent, R"({"kind":"build"})");
  CHECK(last("s1") == memory.clock.now());
  memory.clock.advance(std::chrono::hours(1));
  REQUIRE(memory->close_session("s1").has_value());
  touch();
  CHECK(last("s1") == memory.clock.now());
}

TEST_CASE("what a crash left of a session in the making goes with the next one") {
  MemoryFixture memory;
  std::filesystem::create_directory(memory.root() + "/sessions/.s1.tmp");
  memory.folder.write("memory/sessions/.s1.tmp/manifest.json", "{");
  memory.session("s1");
  CHECK_FALSE(std::filesystem::exists(memory.root() + "/sessions/.s1.tmp"));
  CHECK(memory->list_sessions().value().size() == 1);
}

}  // namespace bmad_mem::test::sessions_test
