// as_of_test.cpp - the memory as it was: versions, knowledge, pins, and what is archived, evicted
// or deleted since, in every question that takes a time.
#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/exports.hpp"
#include "bmad_mem/knowledge.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::as_of_test {
namespace {

using Texts = std::vector<std::string>;

/// A moment of the day that the clock starts on.
Timestamp at(const std::string& time) {
  return parse_rfc3339(fmt::format("2026-01-11T{}:00Z", time)).value();
}

class AsOf : public MemoryFixture {
 public:
  /// Without statements of what is evicted: they have the time of their source.
  AsOf() {
    session();
    folder.write("memory/config.json",
                 R"({"memory_config":{"knowledge":{"detect_preferences":false}}})");
    reopen();
  }

  /// Writes a version of a decision at its time.
  void decide(const std::string& id, const std::string& time, const std::string& text,
              const std::string& more = "") {
    clock.set(at(time));
    add(EntryType::kDecision,
        fmt::format(R"({{"id":"{}","timestamp":"2026-01-11T{}:00Z","decision":"{}"{}}})", id, time,
                    text, more));
  }

  /// "id text" of what each of the questions finds, sorted; all must say the same.
  Texts seen(const std::string& time) {
    const EntryFilter filter{.as_of = at(time), .limit = 0};
    const Texts listed = texts_of((*this)->list(filter).value());
    Texts ids;
    for (const auto all = (*this)->list({.limit = 0}); const Entry& entry : all.value()) {
      ids.push_back(entry.id);
    }
    for (const std::string& text : listed) {
      ids.push_back(text.substr(0, text.find(' ')));
    }
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    CHECK(texts_of((*this)->get(ids, {}, at(time)).value()) == listed);
    std::vector<Entry> hits;
    for (const auto all = (*this)->query({.text = "heron", .filter = filter});
         const Hit& hit : all.value()) {
      hits.push_back(hit.entry);
    }
    CHECK(texts_of(hits) == listed);
    return listed;
  }

  Texts exported(const std::string& time, bool all_versions = false) {
    class Visitor final : public ExportVisitor {
     public:
      Status on_session(const Session& session) override {
        sessions.push_back(session.session_id);
        return {};
      }
      Status on_entry(const Entry& entry) override {
        entries.push_back(entry);
        return {};
      }
      void on_problem(const Error& problem) override { FAIL(problem.to_string()); }

      std::vector<Entry> entries;
      Texts sessions;
    } visitor;
    (*this)
        ->export_entries(
            {.filter = {.as_of = at(time)}, .archived = true, .all_versions = all_versions},
            visitor)
        .value();
    Texts found = visitor.sessions;
    std::ranges::copy(texts_of(visitor.entries), std::back_inserter(found));
    return found;
  }

  static Texts texts_of(const std::vector<Entry>& entries) {
    Texts texts;
    for (const Entry& entry : entries) {
      texts.push_back(fmt::format("{} {}", entry.id, entry.headline));
    }
    std::ranges::sort(texts);
    return texts;
  }
};

}  // namespace

TEST_CASE("of each entry the version counts that was the latest then") {
  AsOf memory;
  memory.decide("d1", "10:00", "one heron");
  memory.decide("d1", "11:00", "two herons");
  memory.decide("d2", "12:00", "no heron");
  memory.decide("d1", "13:00", "three herons");
  const Texts now = memory.seen("13:00");
  for (int round = 0; round < 3; ++round) {  // In a folder, in another process, in an archive.
    CAPTURE(round);
    CHECK(memory.seen("09:59").empty());
    CHECK(memory.seen("10:00") == Texts{"d1 one heron"});
    CHECK(memory.seen("11:30") == Texts{"d1 two herons"});
    CHECK(memory.seen("12:00") == Texts{"d1 two herons", "d2 no heron"});
    CHECK(memory.seen("13:00") == Texts{"d1 three herons", "d2 no heron"});
    CHECK(memory.seen("23:00") == now);
    CHECK(memory.exported("11:00") == Texts{"s1", "d1 two herons"});
    CHECK(memory.exported("11:00", true) == Texts{"s1", "d1 one heron", "d1 two herons"});
    const Entry entry = memory->get(Texts{"d1"}, {}, at("11:30")).value().at(0);
    CHECK(entry.line == 2);
    CHECK(entry.versions == 2);
    CHECK(entry.archived == (round == 2));
    if (round == 1) {
      memory->archive_session("s1").value();
    }
    memory.reopen();
  }
}

TEST_CASE("a line that is damaged or torn is none, then as now") {
  AsOf memory;
  memory.decide("d1", "10:00", "one heron");
  memory.decide("d2", "11:00", "two herons");
  const std::string log = memory.read(EntryType::kDecision);
  memory.write(EntryType::kDecision, "{\"id\":\r\n" + log + "{\"id\":\"d3\"");
  CHECK(memory.seen("10:30") == Texts{"d1 one heron"});
  CHECK(memory->get(Texts{"d1"}, {}, at("10:30")).value().at(0).line == 2);
}

TEST_CASE("a question about the past leaves no trace, and the next one is about today") {
  AsOf memory;
  memory.decide("d1", "10:00", "one heron");
  memory.decide("d1", "11:00", "two herons");
  const auto files = memory.files();
  CHECK(memory.seen("10:00") == Texts{"d1 one heron"});
  memory.reopen();  // Writes what was noted of accesses.
  for (const auto& [name, bytes] : memory.files()) {
    CHECK_MESSAGE(name.find("access") == std::string::npos, name);
  }
  CHECK(files.size() == memory.files().size());
  CHECK(memory->query({.text = "herons"}).value().at(0).entry.headline == "two herons");
}

TEST_CASE("times in the question, and decay, are counted from then") {
  AsOf memory;
  memory.clock.set("2026-03-01T10:00:00Z");
  memory.add(EntryType::kDecision,
             R"({"id":"d1","timestamp":"2026-01-10T10:00:00Z","decision":"one heron"})");
  memory.add(EntryType::kDecision,
             R"({"id":"d2","timestamp":"2026-01-02T10:00:00Z","decision":"old heron"})");
  const EntryFilter then{.as_of = at("12:00")};
  const std::vector<Hit> hits = memory->query({.text = "heron since:2d", .filter = then}).value();
  REQUIRE(hits.size() == 1);
  CHECK(hits[0].entry.id == "d1");
  CHECK(hits[0].components.time > memory->query({.text = "heron"}).value().at(0).components.time);
  const std::vector<Hit> dated =
      memory->query({.text = "what about the heron yesterday", .filter = then}).value();
  CHECK(dated.at(0).entry.id == "d1");
}

TEST_CASE("knowledge: what held then") {
  AsOf memory;
  Knowledge knowledge(*memory);
  const auto remember = [&](const std::string& time, const std::string& value,
                            const std::string& session) {
    memory.clock.set(at(time));
    return knowledge
        .remember({.category = Category::kConstraint,
                   .key = "bird",
                   .value = value,
                   .confidence = 1,
                   .session_id = session})
        .value()
        .id;
  };
  const std::string id = remember("10:00", "the heron is grey", "s1");
  remember("11:00", "the heron is white", "s1");
  memory.session("s2");
  remember("12:00", "the heron is black", "s2");
  const auto told = [&](const std::string& time) {
    return knowledge.context({.task = "heron", .as_of = at(time)}).value().markdown;
  };
  const auto held = [&](const std::string& time) {
    for (const auto all = memory->query({.text = "heron", .filter = {.as_of = at(time)}});
         const Hit& hit : all.value()) {
      if (!hit.outdated) {
        return hit.entry.headline;
      }
    }
    return std::string();
  };
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    CHECK(told("09:00").empty());
    CHECK(told("10:30").find("grey") != std::string::npos);
    CHECK(told("10:30").find("white") == std::string::npos);
    CHECK(told("11:30").find("white") != std::string::npos);
    CHECK(told("12:30").find("black") != std::string::npos);
    CHECK(held("10:30").find("grey") != std::string::npos);
    CHECK(held("11:30").find("white") != std::string::npos);
    CHECK(held("12:30").find("black") != std::string::npos);
    CHECK(knowledge.recall({.as_of = at("10:30")}).value().at(0).value == "the heron is grey");
    // Compaction takes the older version away.
    memory.clock.set(at("14:00"));
    memory->compact("s1", {.keep_share = 1}).value();
    CHECK(memory.read(EntryType::kFact).find("grey") == std::string::npos);
  }
  CHECK(memory.exported("10:30").size() == 2);
}

TEST_CASE("what was seen at a time is what is seen of that time, whatever was done since") {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    std::minstd_rand random(seed);
    AsOf memory;
    std::vector<std::pair<std::string, Texts>> told;
    for (int minute = 0; minute < 40; ++minute) {
      const std::string time = fmt::format("10:{:02}", minute);
      const auto id = fmt::format("d{}", random() % 8);
      memory.decide(id, time, fmt::format("heron of {}", minute));
      switch (random() % 8) {
        case 0:
          memory->compact("s1", {.keep_share = static_cast<double>(random() % 3) / 2}).value();
          break;
        case 1:
          memory->pin(Texts{id}, true).value();
          break;
        case 2:
          memory->archive_session("s1").value();
          memory->restore_session("s1").value();
          break;
        case 3:
          memory.reopen();
          break;
        default:
          break;
      }
      told.emplace_back(time, AsOf::texts_of(memory->list({.limit = 0}).value()));
    }
    for (const auto& [time, texts] : told) {
      CAPTURE(time);
      CHECK(memory.seen(time) == texts);
    }
  }
}

TEST_CASE("a pin has a time of its own") {
  AsOf memory;
  memory.decide("d1", "10:00", "one heron");
  memory.clock.set(at("12:00"));
  memory->pin(Texts{"d1"}, true).value();
  CHECK_FALSE(memory->get(Texts{"d1"}, {}, at("11:00")).value().at(0).pinned);
  CHECK(memory->get(Texts{"d1"}, {}, at("12:00")).value().at(0).pinned);
  CHECK(memory->list({.as_of = at("09:00")}).value().empty());
}

TEST_CASE("what was evicted since was in its session then") {
  AsOf memory;
  memory.decide("d1", "10:00", "one heron");
  memory.decide("d1", "10:30", "two herons");
  for (int i = 2; i < 5; ++i) {
    memory.decide(fmt::format("d{}", i), "11:00", fmt::format("heron {}", i));
  }
  const Texts before = memory.seen("11:30");
  REQUIRE(before.size() == 4);
  memory.clock.set(at("12:00"));
  REQUIRE(memory->compact("s1", {.keep_share = 0}).value().evicted > 0);
  const Texts today = memory.listed(ArchivedSessions::kWithout);
  REQUIRE(today.size() < 4);
  memory.decide("d9", "13:00", "a later heron");
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    CHECK(memory.seen("10:10") == Texts{"d1 one heron"});
    CHECK(memory.seen("10:40") == Texts{"d1 two herons"});
    CHECK(memory.seen("11:30") == before);
    CHECK(memory.seen("12:30") == before);
    CHECK(memory.seen("13:00").size() == 5);
    CHECK(memory.exported("11:30").size() == 5);  // With the session.
    CHECK_FALSE(memory->list({.types = {}, .as_of = at("11:30")}).value().at(0).evicted);
    CHECK(std::ranges::any_of(memory->list({.as_of = at("12:30")}).value(), &Entry::evicted));
    if (round == 0) {
      memory->archive_session("s1").value();
    }
    memory.reopen();
  }
}

TEST_CASE("many ids are all found in the past, in their session and among what was evicted") {
  AsOf memory;
  std::vector<std::string> ids;
  for (int i = 0; i < 30; ++i) {
    ids.push_back(fmt::format("d{}", i));
    memory.decide(ids.back(), "11:00", fmt::format("heron {}", i));
  }
  memory.clock.set(at("12:00"));
  REQUIRE(memory->compact("s1", {.keep_share = 0.8}).value().evicted == 6);
  CHECK(memory->get(ids, {}, at("12:30")).value().size() == 30);
  CHECK(memory->list({.as_of = at("12:30"), .limit = 25}).value().size() == 25);
}

TEST_CASE("what was evicted and pinned is there once") {
  AsOf memory;
  memory.decide("d1", "10:00", "one heron");
  memory.clock.set(at("11:00"));
  REQUIRE(memory->compact("s1", {.keep_share = 0}).value().evicted == 1);
  memory.clock.set(at("12:00"));
  memory->pin(Texts{"d1"}, true).value();
  CHECK(memory.seen("10:30") == Texts{"d1 one heron"});
  CHECK(memory.seen("11:30") == Texts{"d1 one heron"});
  CHECK(memory.seen("12:30") == Texts{"d1 one heron"});
}

TEST_CASE("what was deleted since is gone, wherever it was") {
  AsOf memory;
  memory.decide("d1", "10:00", "one heron");
  memory.decide("d1", "10:30", "two herons");
  memory.decide("d2", "10:30", "another heron");
  memory.clock.set(at("11:00"));
  memory->compact("s1", {.keep_share = 1}).value();
  memory->delete_entries({.ids = {"d1"}}).value();
  CHECK(memory.seen("10:10").empty());
  CHECK(memory.seen("10:40") == Texts{"d2 another heron"});
}

TEST_CASE("a session of later on is not exported, and an empty one of then is") {
  AsOf memory;
  memory.clock.set(at("12:00"));
  memory.session("s2");
  CHECK(memory.exported("11:00") == Texts{"s1"});
  CHECK(memory.exported("12:00") == Texts{"s1", "s2"});
}

TEST_CASE("what was evicted and can't be read is named, and the rest is answered") {
  AsOf memory;
  memory.decide("d1", "10:00", "one heron");
  memory.clock.set(at("11:00"));
  REQUIRE(memory->compact("s1", {.keep_share = 0}).value().evicted == 1);
  memory.decide("d2", "10:00", "another heron");
  std::ofstream(memory.root() + "/archive/s1.evicted.jsonl.gz") << "no gzip";
  memory.reopen();
  CHECK(memory.seen("10:30") == Texts{"d2 another heron"});
  CHECK(memory.exported("10:30") == Texts{"s1", "d2 another heron"});
  CHECK(Knowledge(*memory).recall({.as_of = at("10:30")}).value().empty());
  CHECK(memory->problems().size() == 1);
}

TEST_CASE("an overview of then counts the versions of then") {
  AsOf memory;
  memory.decide("d1", "10:00", "one heron", R"(,"context":{"topic":"birds"})");
  memory.decide("d1", "11:00", "two herons", R"(,"context":{"topic":"herons"})");
  CHECK(memory->topics({.as_of = at("10:30")}).value().at(0).topic == "birds");
  CHECK(memory->timeline({.as_of = at("09:00")}, TimelineUnit::kDay).value().empty());
  CHECK(memory->timeline({.as_of = at("10:30")}, TimelineUnit::kDay).value().at(0).total() == 1);
}

}  // namespace bmad_mem::test::as_of_test
