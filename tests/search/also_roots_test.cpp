// also_roots_test.cpp - Query::also_roots: the memories of several projects answer as one that has
// all their sessions, and nothing is written into those of others.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/memory_fixture.hpp"

namespace bmad_mem::test::also_roots_test {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

/// Everything below `root` with its size and the time of its last change.
std::vector<std::tuple<std::string, std::uintmax_t, fs::file_time_type>> listing(
    const std::string& root) {
  std::vector<std::tuple<std::string, std::uintmax_t, fs::file_time_type>> all;
  all.emplace_back("", 0, fs::last_write_time(root));
  for (const auto& each : fs::recursive_directory_iterator(root)) {
    all.emplace_back(each.path().string(), each.is_regular_file() ? each.file_size() : 0,
                     each.last_write_time());
  }
  std::ranges::sort(all);
  return all;
}

/// The hits as text, in their order.
Texts shown(const std::vector<Hit>& hits) {
  Texts lines;
  for (const Hit& hit : hits) {
    const RelevanceComponents& parts = hit.components;
    lines.push_back(fmt::format("{}/{} {:.12f} {:.12f} {:.12f} {} {} {}", hit.entry.session_id,
                                hit.entry.id, hit.relevance, parts.text, parts.time, hit.outdated,
                                hit.entry.archived, hit.snippet));
  }
  return lines;
}

Texts ids_of(const std::vector<Hit>& hits) {
  Texts ids;
  for (const Hit& hit : hits) {
    ids.push_back(hit.entry.id);
  }
  std::ranges::sort(ids);
  return ids;
}

std::vector<Hit> answer_of(MemoryFixture& memory, const Query& query) {
  Result<std::vector<Hit>> hits = memory->query(query);
  CHECK((hits ? "" : hits.error().to_string()) == "");
  return hits ? *std::move(hits) : std::vector<Hit>();
}

/// Writes over the middle of each segment.
void damage_segments(const MemoryFixture& memory) {
  for (const auto& file : fs::directory_iterator(memory.root() + "/index")) {
    if (file.path().extension() == ".seg") {
      std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
      bytes.seekp(static_cast<std::streamoff>(fs::file_size(file.path()) / 3));
      bytes << std::string(fs::file_size(file.path()) / 3, 'x');
    }
  }
}

/// Six sessions in one memory, and the same ones divided among a project and two others.
class Divided {
 public:
  Divided() {
    for (int session = 0; session < 6; ++session) {
      MemoryFixture& its = parts.at(static_cast<std::size_t>(session) % parts.size());
      const std::string id = fmt::format("s{}", 6 - session);
      its.session(id);
      whole.session(id);
      for (int i = 0; i < 12; ++i) {
        const auto [type, line] = entry(fmt::format("{}-{}", id, i));
        its.add(type, line, id);
        whole.add(type, line, id);
      }
      if (session >= 4) {
        its->archive_session(id).value();
        whole->archive_session(id).value();
      }
    }
    reopen();
  }

  void reopen() {
    for (MemoryFixture* memory : {&parts[0], &parts[1], &parts[2], &whole}) {
      REQUIRE(memory->reopen({.note_accesses = false}));
    }
  }

  void check(const Query& query) {
    Query divided = query;
    divided.also_roots = {parts[1].root(), parts[2].root()};
    CAPTURE(query.text);
    const std::vector<Hit> right = answer_of(whole, query);
    const std::vector<Hit> got = answer_of(parts[0], divided);
    CHECK(shown(got) == shown(right));
    hits += right.size();
    if (query.explain) {
      REQUIRE(got.size() == right.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i].explanation->terms.size() == right[i].explanation->terms.size());
        CHECK(got[i].explanation->question == right[i].explanation->question);
      }
    }
  }

  /// Few words and few times, so that many entries are equally relevant.
  std::pair<EntryType, std::string> entry(const std::string& id) {
    static constexpr std::array kWords = {"ledger", "pool", "harbour", "boats", "deploy",
                                          "cache",  "wind", "mast",    "rope",  "sail"};
    std::string text;
    for (unsigned i = 0; i < 2 + random() % 5; ++i) {
      text += fmt::format("{}{}", text.empty() ? "" : " ", kWords.at(random() % kWords.size()));
    }
    const std::string head =
        fmt::format(R"({{"id":"{}","timestamp":"2026-01-{:02}T10:00:00Z",)", id, 1 + random() % 4);
    switch (random() % 4) {
      case 0:
        return {EntryType::kFact, fmt::format(R"({}"content":"{}"}})", head, text)};
      case 1:
        return {EntryType::kDecision,
                fmt::format(R"({}"decision":"{}","made_by":"Ann"}})", head, text)};
      case 2:
        return {EntryType::kFinding,
                fmt::format(R"({}"description":"{}","severity":"high","discovered_by":"Ann"}})",
                            head, text)};
      default:
        return {EntryType::kConversation,
                fmt::format(R"({}"role":"user","agent_id":"Ann","content":"{}",)"
                            R"("context":{{"conversation_id":"c1","topic":"sea"}}}})",
                            head, text)};
    }
  }

  std::array<MemoryFixture, 3> parts;
  MemoryFixture whole;
  std::mt19937 random{7};
  std::size_t hits = 0;
};

}  // namespace

TEST_CASE("the hits of several roots are those of one that has all their sessions") {
  Divided memory;
  const auto check_all = [&] {
    for (const char* text :
         {"ledger", "harbour boats", "what did Ann say about the mast", "+pool -rope", "sai*",
          "\"wind mast\"", "type:decision deploy", "cahce~", "topic:sea rope", "archived:only pool",
          "session:s3 boats", "since:2026-01-02 sail", "type:fact", "on 2 January 2026 sail"}) {
      memory.check({.text = text, .filter = {.limit = 0}});
      memory.check({.text = text, .filter = {.limit = 5}, .explain = true});
    }
    memory.check({.text = "boats wind", .sort = SortOrder::kTimeAsc});
    memory.check({.text = "boats wind", .ranking = TextRanking::kPlain});
    memory.check({.text = "boats wind", .weights = RelevanceWeights{}, .context = 2});
    memory.check({.text = "the pool of boats, and its rope", .text_is_prose = true});
    memory.check({.text = "rope", .filter = {.offset = 3}});
    memory.check({.text = "rope", .filter = {.as_of = memory.whole.clock.now()}});
  };
  check_all();  // With what archiving made.
  for (MemoryFixture* each :
       {&memory.parts[0], &memory.parts[1], &memory.parts[2], &memory.whole}) {
    fs::remove_all(each->root() + "/index");
  }
  memory.reopen();
  check_all();
  CHECK(!fs::exists(memory.parts[1].root() + "/index"));
  memory.parts[1]->rebuild_index().value();
  memory.reopen();
  check_all();
  for (MemoryFixture* each : {&memory.parts[0], &memory.parts[2], &memory.whole}) {
    (*each)->rebuild_index().value();
  }
  memory.reopen();
  check_all();
  REQUIRE(fs::exists(memory.parts[1].root() + "/index/CURRENT"));
  memory.parts[1].add_fact("late", "boats in the wind", "s5");  // Its index is behind.
  memory.whole.add_fact("late", "boats in the wind", "s5");
  check_all();
  CHECK(memory.hits > 1000);
}

TEST_CASE("nothing is written into another root") {
  Divided memory;
  const std::string& root = memory.parts[1].root();
  const auto ask = [&] {
    REQUIRE(memory.parts[0].reopen({}));
    for (int i = 0; i < 3; ++i) {
      memory.check({.text = "boats wind", .filter = {.limit = 0}});
    }
    REQUIRE(memory.parts[0].reopen({}));  // What is noted of accesses is written at the end.
  };
  fs::remove_all(root + "/index");
  const auto without_index = listing(root);
  ask();
  CHECK(listing(root) == without_index);
  memory.parts[1]->rebuild_index().value();
  memory.parts[1].add_fact("late", "boats", "s5");
  memory.whole.add_fact("late", "boats", "s5");
  const auto with_index = listing(root);
  ask();
  CHECK(listing(root) == with_index);
}

TEST_CASE("sessions of the same id in two roots are two sessions") {
  MemoryFixture memory;
  MemoryFixture other;
  memory.session();
  memory.add_fact("f1", "boats here");
  other.session();
  other.add_fact("f2", "boats there");
  other.session("far");
  other.add_fact("f3", "boats far away", "far");
  const auto found = [&](std::vector<std::string> sessions) {
    return memory->query({.text = "boats",
                          .filter = {.sessions = std::move(sessions)},
                          .also_roots = {other.root()}});
  };
  const std::vector<Hit> all = found({}).value();
  CHECK(ids_of(all) == Texts{"f1", "f2", "f3"});
  for (const Hit& hit : all) {
    CHECK(hit.root == (hit.entry.id == "f1" ? memory.root() : other.root()));
    CHECK(!hit.from_elsewhere);
  }
  CHECK(ids_of(found({"s1"}).value()) == Texts{"f1", "f2"});
  CHECK(ids_of(found({"far"}).value()) == Texts{"f3"});
  CHECK(ids_of(found({"far", "s1"}).value()) == Texts{"f1", "f2", "f3"});
  CHECK(code_of(found({"none"})) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(memory->query({.text = "boats"}).value().front().root == "");

  other.add_fact("f1", "boats here");  // The same entry, as in a copy.
  CHECK(ids_of(found({}).value()) == Texts{"f1", "f2", "f3"});
}

TEST_CASE("a root is searched once, whatever names it, and the user's own beside it") {
  MemoryFixture users;
  users.session();
  users.add_fact("mine", "boats of mine");
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1", "boats here");
  REQUIRE(memory.reopen({.user_root = users.root()}));
  const std::string shop = memory.folder.path("shop");
  REQUIRE(MemoryManager::init(shop + "/.bmad/memory"));
  MemoryManager theirs = MemoryManager::open({.root = shop + "/.bmad/memory"}).value();
  theirs.create_session({.session_id = "s1"}).value();
  theirs.add("s1", EntryType::kFact, MemoryFixture::fact("f2", "boats there")).value();
  const std::vector<Hit> hits =
      memory
          ->query({.text = "boats",
                   .also_roots = {shop, shop + "/", shop + "/.bmad/../.bmad/memory", memory.root(),
                                  users.root()}})
          .value();
  CHECK(ids_of(hits) == Texts{"f1", "f2", "mine"});
  for (const Hit& hit : hits) {
    CHECK(hit.entry.of_user == (hit.entry.id == "mine"));
    CHECK(hit.root == (hit.entry.id == "mine" ? users.root()
                       : hit.entry.id == "f1" ? memory.root()
                                              : shop + "/.bmad/memory"));
  }
}

TEST_CASE("a statement replaces those of its own project only") {
  const auto states = [](MemoryFixture& memory, const std::string& id, const std::string& port) {
    memory.clock.advance(std::chrono::hours(1));
    memory.add(EntryType::kFact,
               fmt::format(R"({{"id":"{}","key":"port","content":"the port is {}"}})", id, port));
  };
  MemoryFixture memory;
  MemoryFixture other;
  memory.session();
  other.session();
  states(memory, "here", "8080");
  memory.clock.advance(std::chrono::hours(5));
  other.clock.advance(std::chrono::hours(2));
  states(other, "old", "1");
  states(other, "new", "2");
  for (const bool has_many : {false, true}) {  // Then all statements are gathered.
    for (int i = 0; has_many && i < 50; ++i) {
      for (MemoryFixture* each : {&memory, &other}) {
        each->add(EntryType::kFact,
                  fmt::format(R"({{"id":"f{0}","key":"k{0}","content":"the port {0}"}})", i));
      }
    }
    Texts outdated;
    const std::vector<Hit> hits =
        memory->query({.text = "port", .filter = {.limit = 0}, .also_roots = {other.root()}})
            .value();
    for (const Hit& hit : hits) {
      if (hit.outdated) {
        outdated.push_back(hit.entry.id);
      }
    }
    CHECK(outdated == Texts{"old"});
  }
}

TEST_CASE("what is no memory is an error that names it") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1", "boats");
  const std::string empty = memory.folder.path("empty");
  fs::create_directory(empty);
  memory.folder.write("file", "x");
  for (const std::string& folder : {empty, memory.folder.path("missing")}) {
    const auto answer = memory->query({.text = "boats", .also_roots = {folder}});
    CHECK(code_of(answer) == ErrorCode::E_SESSION_NOT_FOUND);
    CHECK(answer.error().path == folder);
  }
  const auto answer = memory->query({.text = "boats", .also_roots = {memory.folder.path("file")}});
  REQUIRE(!answer);
  CHECK(answer.error().path == memory.folder.path("file"));
}

TEST_CASE("the config of another root says nothing") {
  Divided memory;
  const std::string& root = memory.parts[1].root();
  const auto write_config = [&](std::string_view text) {
    memory.parts[1].folder.write("memory/config.json", text);
  };
  write_config(R"({"memory_config":{"indexing":{"language":"german"},)"
               R"("relevance":{"combine":"sum"},"encoder":{"command":["/bin/false"]}}})");
  REQUIRE(memory.parts[1].reopen({}));
  memory.parts[1]->rebuild_index().value();
  REQUIRE(fs::exists(root + "/index/CURRENT"));
  memory.check({.text = "boats deploying", .filter = {.limit = 0}});
  write_config("{");
  memory.check({.text = "boats deploying", .filter = {.limit = 0}});
  fs::remove(root + "/config.json");
  memory.check({.text = "boats deploying", .filter = {.limit = 0}});
}

TEST_CASE("a root that nobody trusts is from elsewhere") {
  MemoryFixture memory;
  MemoryFixture other;
  other.session();
  other.add_fact("f1", "boats");
  REQUIRE(memory.reopen({.state_folder = memory.folder.path("state")}));
  const auto is_from_elsewhere = [&] {
    return memory->query({.text = "boats", .also_roots = {other.root()}})
        .value()
        .at(0)
        .from_elsewhere;
  };
  CHECK(is_from_elsewhere());
  REQUIRE(other.reopen({.state_folder = memory.folder.path("state")}));
  other->trust().value();
  CHECK(!is_from_elsewhere());
}

TEST_CASE("what is damaged in another root is named, and the rest is answered") {
  Divided memory;
  for (MemoryFixture* each : {&memory.parts[0], &memory.parts[1], &memory.whole}) {
    (*each)->rebuild_index().value();
  }
  Texts told;
  REQUIRE(memory.parts[0].reopen({.note_accesses = false, .on_problem = [&](const Error& error) {
                                    told.push_back(error.path);
                                  }}));
  // An index is never more than a shortcut, here and there.
  for (const std::size_t part : {0U, 1U}) {
    damage_segments(memory.parts.at(part));
    memory.check({.text = "boats wind", .filter = {.limit = 0}});
  }
  CHECK(told == Texts{});
  const std::string folder = memory.parts[1].root() + "/sessions/s5";
  fs::remove_all(folder);
  memory.parts[1].folder.write("memory/sessions/s5", "no folder");
  const auto hits = memory.parts[0]->query(
      {.text = "boats", .filter = {.limit = 0}, .also_roots = {memory.parts[1].root()}});
  CHECK(!hits.value().empty());
  CHECK(told == Texts{folder});
}

TEST_CASE("a damaged index, here or there, costs no answer, also where sessions have one id") {
  MemoryFixture memory;
  MemoryFixture other;
  for (MemoryFixture* each : {&memory, &other}) {
    each->session();
    for (int i = 100; i < 300; ++i) {
      each->add_fact(fmt::format("{}{}", each == &memory ? "here" : "there", i),
                     fmt::format("boats number {}", i));
    }
    each->clock.advance(std::chrono::hours(100000));  // Times of change tell by now.
    (*each)->rebuild_index().value();
  }
  const auto check = [&] {
    Texts told;
    const auto tell = [&](const Error& error) { told.push_back(error.to_string()); };
    REQUIRE(memory.reopen({.note_accesses = false, .on_problem = tell}));
    const Query query{.text = "boats", .filter = {.limit = 0}, .also_roots = {other.root()}};
    CHECK(answer_of(memory, query).size() == 400);
    CHECK(told == Texts{});
  };
  for (const MemoryFixture* damaged : {&memory, &other}) {
    const std::string index = damaged->root() + "/index";
    const std::string kept = damaged->folder.path("kept");
    fs::copy(index, kept, fs::copy_options::recursive);
    const std::string segment = index + "/1.seg";
    const std::uintmax_t size = fs::file_size(segment);
    constexpr std::uintmax_t kPlaces = 40;
    for (std::uintmax_t i = 0; i < kPlaces; ++i) {
      CAPTURE(i);
      std::fstream bytes(segment, std::ios::in | std::ios::out | std::ios::binary);
      bytes.seekp(static_cast<std::streamoff>(size * i / kPlaces)) << "xxxxxxxx";
      bytes.close();
      check();
      fs::remove_all(index);  // Ours is made anew by now.
      fs::copy(kept, index, fs::copy_options::recursive);
    }
  }
}

}  // namespace bmad_mem::test::also_roots_test
