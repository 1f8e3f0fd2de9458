// archived_reads_test.cpp - what is in archives, and what was evicted, is found like all else: by
// the index beside the packed file, which is never more than a shortcut.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/knowledge.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::archived_reads_test {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::string>;

fs::path in_archive(const MemoryFixture& memory, std::string_view name) {
  return fs::path(memory.root()) / "archive" / name;
}

/// Two archived sessions: s1 with a fact and a message, s2 with a fact.
void archive_two(MemoryFixture& memory) {
  memory.session();
  memory.add_fact("f1", "the heron eats fish");
  memory.add(EntryType::kConversation,
             R"({"id":"m1","timestamp":"2026-01-11T10:00:00Z","role":"user",)"
             R"("content":"where does the heron sleep"})");
  memory.session("s2");
  memory.add_fact("f2", "the heron flies south", "s2");
  memory->archive_session("s1").value();
  memory->archive_session("s2").value();
  memory.reopen();
}

void damage(const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); }

/// Files below the root whose bytes hold `text`.
std::vector<std::string> files_with(const MemoryFixture& memory, std::string_view text) {
  std::vector<std::string> found;
  for (const auto& [name, bytes] : memory.files()) {
    if (bytes.find(text) != std::string::npos) {
      found.push_back(name);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("an archive that can't be read is named, and the rest is answered") {
  for (const bool has_index : {true, false}) {
    CAPTURE(has_index);
    MemoryFixture memory;
    archive_two(memory);
    damage(in_archive(memory, "s1.tar.gz"));
    if (!has_index) {
      fs::remove_all(memory.root() + "/index");
      fs::remove(in_archive(memory, "s1.known.jsonl"));
    }
    std::vector<std::string> told;
    REQUIRE(memory.reopen({.on_problem = [&](const Error& error) { told.push_back(error.path); }}));
    CHECK(memory.found("heron") == Ids{"f2"});
    CHECK(memory.listed() == Ids{"f2"});
    CHECK(memory->get(Ids{"m1", "f2"}).value().size() == 1);
    CHECK(memory->history("m1").value().empty());
    CHECK(Knowledge(*memory).recall({}).value().size() == 1);
    CHECK(Knowledge(*memory).context({.task = "heron"}).value().markdown.find("south") !=
          std::string::npos);
    CHECK(memory->query({.text = "heron", .filter = {.sessions = {"s1"}}}).value().empty());
    REQUIRE(memory->problems().size() == 1);
    CHECK(memory->problems()[0].path.ends_with("archive/s1.tar.gz"));
    CHECK(told == std::vector<std::string>{memory->problems()[0].path});
    CHECK(code_of(memory->restore_session("s1")) == ErrorCode::E_STORAGE_CORRUPT);
  }
}

TEST_CASE("many damaged archives are no more in the way than one") {
  MemoryFixture memory;
  for (int i = 0; i < 12; ++i) {
    const std::string id = fmt::format("s{}", i);
    memory.session(id);
    memory.add_fact(fmt::format("f{}", i), "heron", id);
    memory->archive_session(id).value();
    if (i > 0) {
      damage(in_archive(memory, id + ".tar.gz"));
    }
  }
  memory.reopen();
  CHECK(memory.found("heron") == Ids{"f0"});
  CHECK(memory->problems().size() == 11);
}

TEST_CASE("an archive that was damaged is read again when it is whole again") {
  MemoryFixture memory;
  archive_two(memory);
  const fs::path archive = in_archive(memory, "s1.tar.gz");
  fs::copy_file(archive, in_archive(memory, "aside"));
  damage(archive);
  CHECK(memory.found("heron") == Ids{"f2"});
  fs::rename(in_archive(memory, "aside"), archive);
  CHECK(memory.found("heron") == Ids{"f1", "f2", "m1"});
  CHECK(memory->problems().empty());
}

TEST_CASE("what version 0.1 kept answers for a damaged archive, and goes with the next") {
  MemoryFixture memory;
  archive_two(memory);
  memory.folder.make_folder("memory/shared/kept");
  memory.folder.write(
      "memory/shared/kept/s1.jsonl",
      R"({"type":"fact","entry":)" + MemoryFixture::fact("f1", "the heron eats fish") + "}\n");
  CHECK(memory.found("heron") == Ids{"f1", "f2", "m1"});  // Not twice.
  fs::copy_file(in_archive(memory, "s1.tar.gz"), in_archive(memory, "aside"));
  damage(in_archive(memory, "s1.tar.gz"));
  memory.reopen();
  CHECK(memory.found("heron") == Ids{"f1", "f2"});
  CHECK(Knowledge(*memory).recall({}).value().size() == 2);
  CHECK(memory->problems().size() == 1);
  fs::rename(in_archive(memory, "aside"), in_archive(memory, "s1.tar.gz"));
  memory->restore_session("s1").value();
  CHECK_FALSE(fs::exists(fs::path(memory.root()) / "shared/kept/s1.jsonl"));
}

namespace {

constexpr const char* kKeptPath = "shared/kept/s1.jsonl";

/// As version 0.1 kept f1, and a fact that is nowhere else.
void keep(MemoryFixture& memory) {
  memory.folder.make_folder("memory/shared/kept");
  std::string text;
  for (const std::string& fact :
       {MemoryFixture::fact("f1", "the heron eats fish"), MemoryFixture::fact("f9", "an egret")}) {
    text += R"({"type":"fact","entry":)" + fact + "}\n";
  }
  memory.folder.write(std::string("memory/") + kKeptPath, text);
}

bool is_kept(const MemoryFixture& memory) {
  return fs::exists(fs::path(memory.root()) / kKeptPath);
}

}  // namespace

TEST_CASE("what version 0.1 kept goes when its session is restored, archived again or changed") {
  MemoryFixture memory;
  archive_two(memory);
  keep(memory);
  memory->restore_session("s1").value();
  CHECK_FALSE(is_kept(memory));
  keep(memory);
  memory->archive_session("s1").value();
  CHECK_FALSE(is_kept(memory));
  keep(memory);
  memory->delete_entries({.ids = {"m1"}}, {.purge = true}).value();
  CHECK(is_kept(memory) == fs::exists(in_archive(memory, "s1.tar.gz")));
  keep(memory);
  memory->delete_entries({.ids = {"f1"}}, {.purge = true}).value();
  CHECK_FALSE(is_kept(memory));
  CHECK(files_with(memory, "fish").empty());
}

TEST_CASE("what version 0.1 kept is not removed where it is all that is left") {
  MemoryFixture memory;
  archive_two(memory);
  keep(memory);
  for (const char* name : {"s1.tar.gz", "s1.manifest.json", "s1.index.json", "s1.known.jsonl"}) {
    fs::remove(in_archive(memory, name));
  }
  memory.reopen();
  for (const DeletionCriteria& which :
       {DeletionCriteria{.ids = {"f1"}}, DeletionCriteria{.ids = {"f1"}, .sessions = {"s1"}}}) {
    const auto purged = memory->delete_entries(which, {.purge = true});
    CHECK(code_of(purged) == ErrorCode::E_STORAGE_CORRUPT);
    CHECK(purged.error().path.ends_with(kKeptPath));
    CHECK(is_kept(memory));
  }
}

TEST_CASE("what is known beside another archive, or damaged, answers nothing") {
  MemoryFixture memory;
  archive_two(memory);
  const std::string known = in_archive(memory, "s1.known.jsonl");
  fs::copy_file(known, known + ".old");
  memory->restore_session("s1").value();
  CHECK_FALSE(fs::exists(in_archive(memory, "s1.index.json")));
  CHECK_FALSE(fs::exists(known));
  memory.add_fact("f3", "no heron swims");
  memory->archive_session("s1").value();
  fs::rename(known + ".old", known);
  memory.reopen();
  CHECK(memory.found("heron") == Ids{"f1", "f2", "f3", "m1"});
  CHECK(Knowledge(*memory).recall({}).value().size() == 3);
  for (const std::uintmax_t size : {0U, 20U, 400U}) {
    CAPTURE(size);
    memory.reopen();
    CHECK(memory.found("heron").size() == 4);  // Makes it anew.
    fs::resize_file(known, size);
    memory.reopen();
    CHECK(memory.found("heron") == Ids{"f1", "f2", "f3", "m1"});
    CHECK(Knowledge(*memory).recall({}).value().size() == 3);
    CHECK(memory->get(Ids{"f3"}).value().size() == 1);
  }
}

TEST_CASE("an archive stands in the index at once, and git sees nothing beside it") {
  MemoryFixture memory;
  memory.folder.write("memory/.gitignore", "/mine\n");
  archive_two(memory);
  CHECK(fs::exists(in_archive(memory, "s1.index.json")));
  CHECK(memory.folder.read("memory/.gitignore") ==
        "/mine\n/archive/*.known.jsonl\n/archive/*.index.json\n");
  CHECK(memory.folder.read("memory/index/CURRENT").find("\"s1\": {\"segment\"") !=
        std::string::npos);
  memory.reopen();
  CHECK(memory.found("heron") == Ids{"f1", "f2", "m1"});
}

TEST_CASE("what is purged from an archive is in no file beside it") {
  MemoryFixture memory;
  archive_two(memory);
  REQUIRE(memory.found("fish") == Ids{"f1"});
  CHECK(files_with(memory, "fish").size() == 3);  // Segment, readable index and facts; not packed.
  memory->delete_entries({.ids = {"f1"}}, {.purge = true}).value();
  CHECK(files_with(memory, "fish").empty());
  CHECK(memory.found("heron") == Ids{"f2", "m1"});
  CHECK(files_with(memory, "fish").empty());
}

TEST_CASE("of an archive the newest entries are listed among the others") {
  MemoryFixture memory;
  archive_two(memory);
  memory.session("s3");
  memory.clock.advance(std::chrono::hours(1));
  memory.add_fact("f3", "later", "s3");
  const std::vector<Entry> newest = memory->list({.limit = 2}).value();
  REQUIRE(newest.size() == 2);
  CHECK(newest[0].id == "f3");
  CHECK(newest[1].archived);
}

namespace {

/// Ten facts, and the ids of those that compaction evicted.
Ids evict_some(MemoryFixture& memory) {
  memory.session();
  for (int i = 0; i < 10; ++i) {
    memory.add_fact(fmt::format("f{}", i), fmt::format("heron number{}", i));
    memory.clock.advance(std::chrono::seconds(1));
  }
  Ids evicted;
  const CompactionReport report = memory->compact("s1", {.force = true}).value();
  for (const RemovedEntry& removed : report.removed) {
    evicted.push_back(removed.id);
  }
  std::ranges::sort(evicted);
  REQUIRE(evicted.size() == 2);
  return evicted;
}

}  // namespace

TEST_CASE("what was evicted is found behind all else") {
  MemoryFixture memory;
  const Ids evicted = evict_some(memory);
  for (const bool is_archived : {false, true}) {
    CAPTURE(is_archived);
    const std::string number = "number" + evicted[0].substr(1);
    std::vector<Hit> hits = memory->query({.text = "heron " + number}).value();
    REQUIRE(hits.size() == 10);
    CHECK(hits[8].entry.id == evicted[0]);  // The best of what was evicted.
    CHECK(hits[8].entry.evicted);
    CHECK_FALSE(hits[7].entry.evicted);
    hits = memory->query({.text = "heron " + number, .filter = {.limit = 3}}).value();
    REQUIRE(hits.size() == 3);
    CHECK_FALSE(hits[2].entry.evicted);
    CHECK(memory.found(number) == Ids{evicted[0]});
    CHECK(memory.found(number, ArchivedSessions::kWithout).empty());
    CHECK(memory->get(evicted).value().size() == 2);
    CHECK(memory->history(evicted[1]).value().at(0).evicted);
    const std::vector<Entry> all = memory->list({.limit = 0}).value();
    REQUIRE(all.size() == 10);
    CHECK(all[9].evicted);
    CHECK_FALSE(all[7].evicted);
    if (!is_archived) {
      CHECK(memory.found("heron", ArchivedSessions::kOnly) == evicted);
      memory->archive_session("s1").value();
    }
  }
}

TEST_CASE("what was evicted and is in its session again is found once") {
  MemoryFixture memory;
  const Ids evicted = evict_some(memory);
  CHECK(memory.found("heron").size() == 10);
  memory->pin(Ids{evicted[0]}, true).value();
  for (int i = 0; i < 2; ++i) {
    CHECK(memory.found("heron").size() == 10);
    CHECK(memory.listed().size() == 10);
    const std::vector<Entry> got = memory->get(Ids{evicted[0]}).value();
    REQUIRE(got.size() == 1);
    CHECK(got[0].pinned);
    CHECK_FALSE(got[0].evicted);
    CHECK(memory->history(evicted[0]).value().size() == 2);
    CHECK(memory.found("heron", ArchivedSessions::kOnly) == Ids{evicted[1]});
    memory.reopen();
  }
}

TEST_CASE("what was deleted does not come back from what was evicted") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "old heron");
  memory.add_fact("a", "new heron");
  memory.add_fact("b", "another");
  memory->compact("s1", {.keep_share = 1}).value();
  CHECK(memory.found("old") == Ids{});
  CHECK(memory.found("heron") == Ids{"a"});
  memory->delete_entries({.ids = {"a"}}).value();
  CHECK(memory.found("heron").empty());
  CHECK(memory->history("a").value().empty());
  CHECK(memory->get(Ids{"a"}).value().empty());
  memory.clock.advance(std::chrono::days(60));
  memory->purge_deleted().value();
  CHECK(memory.found("heron").empty());
}

TEST_CASE("what is purged of the evicted is in no file beside them") {
  MemoryFixture memory;
  const Ids evicted = evict_some(memory);
  const std::string number = "number" + evicted[0].substr(1);
  REQUIRE(memory.found(number) == Ids{evicted[0]});
  memory->rebuild_index().value();  // Takes them into the index, however few they are.
  CHECK(memory.folder.read("memory/index/CURRENT").find("\"s1/evicted\"") != std::string::npos);
  memory.reopen();
  REQUIRE(memory.found(number) == Ids{evicted[0]});
  memory->delete_entries({.ids = {evicted[0]}}, {.purge = true}).value();
  CHECK(memory.found(number).empty());
  CHECK(files_with(memory, number).empty());
}

TEST_CASE("what was evicted from a session that was deleted goes and comes with it") {
  MemoryFixture memory;
  evict_some(memory);
  memory->delete_session("s1").value();
  CHECK(memory.found("heron").empty());
  memory.session();  // Another one of that name.
  memory.add_fact("g", "one heron");
  CHECK(memory.found("heron") == Ids{"g"});
}

}  // namespace bmad_mem::test::archived_reads_test
