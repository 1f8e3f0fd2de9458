// root_index_test.cpp - the index of the whole memory costs time at most, whatever becomes of it:
// every question is answered as without one.
#include "search/root_index.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "bmad_mem/entry_type.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "search/reads.hpp"
#include "search/root_index_memory.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::root_index {

TEST_CASE("what is flushed answers as the logs do, and no log is opened for it") {
  Memory memory;
  const Lines right = memory.right_answers();
  REQUIRE(right.size() > 20);
  const Process first = memory.open();
  CHECK(difference(answers(*first), right) == "");
  memory.check_tidy();
  CHECK(memory.current()["sessions"].size() == 3);
  CHECK(difference(answers(*first), right) == "");
  const Process second = memory.open();
  CHECK(Memory::logs_opened(second).empty());
  CHECK(difference(answers(*second), right) == "");
  memory.remove_folder(kIndexFolder);
  CHECK(difference(answers(*first), right) == "");
  CHECK(difference(answers(*memory.open()), right) == "");
}

TEST_CASE("a history reads the line of an entry, and a log only where there are more") {
  Memory memory;
  memory.flush();
  const Lines ids = {"s1-1"};
  const Process process = memory.open();
  const auto versions = [&](std::size_t opened) {
    process.files->clear_log();
    const Result<std::vector<Entry>> found = find_entries(*process, ids, {}, /*all_versions=*/true);
    REQUIRE(found);
    const std::string call = fmt::format("open {} read", memory.log("s1"));
    Lines opens = process.files->log();
    std::erase_if(opens, [](const std::string& each) {
      return !each.starts_with("open ") || !each.contains(".jsonl");
    });
    CHECK(difference(opens, Lines(opened, call)) == "");  // To know it, to show it, to scan it.
    CHECK(opens.size() == opened);
    return found->size();
  };
  CHECK(versions(2) == 1);
  memory.add(*memory.open(), "s1", "s1-1", "alpha said anew");
  memory.flush();
  CHECK(versions(3) == 2);
}

TEST_CASE("who wants ids gets them without a log") {
  Memory memory;
  for (int i = 0; i < 4; ++i) {  // As the engine makes them.
    memory.add(*memory.open(), i % 2 == 0 ? "s1" : "s2", fmt::format("msg-{:015}", i),
               fmt::format("quokka {}", std::string(static_cast<std::size_t>(i), 'x')));
  }
  memory.flush();
  const Process process = memory.open();
  const auto told = [&](bool ids_only) {
    process.files->clear_log();
    const Result<QueryAnswer> answer =
        answer_query(*process, {.text = "+quokka", .ids_only = ids_only});
    REQUIRE(answer);
    Lines lines;
    for (const Hit& hit : answer->hits) {
      const Entry& entry = hit.entry;
      lines.push_back(fmt::format("{} {} {} {} {} {}", entry.session_id, entry.id, entry.line,
                                  entry.timestamp.time_since_epoch().count(),
                                  entry_type_name(entry.type), hit.relevance));
      CHECK(entry.json.empty() == ids_only);
    }
    return lines;
  };
  const Lines ids = told(true);
  CHECK(ids.size() == 4);
  CHECK(std::ranges::none_of(process.files->log(), [](const std::string& call) {
    return call.starts_with("open ") && call.contains(".jsonl");
  }));
  CHECK(difference(ids, told(false)) == "");
}

TEST_CASE("a CURRENT that was cut or changed costs no answer") {
  Memory memory;
  memory.flush();
  const auto index = memory.files(kIndexFolder);
  const std::string current = memory.disk.read(kIndexCurrentFile);
  const Lines right = memory.right_answers();
  const Process held = memory.open();
  CHECK(difference(answers(*held), right) == "");
  for (std::size_t at = 0; at < current.size(); at += 29) {
    CAPTURE(at);
    memory.put_back(index, kIndexFolder);
    memory.disk.write(kIndexCurrentFile, current.substr(0, at));
    REQUIRE(difference(answers(*memory.open()), right) == "");
    for (const char with : {'\n', '"', '9', '}', '\0'}) {
      memory.put_back(index, kIndexFolder);
      std::string changed = current;
      changed[at] = with;
      memory.disk.write(kIndexCurrentFile, changed);
      REQUIRE(difference(answers(*memory.open()), right) == "");
    }
    REQUIRE(difference(answers(*held), right) == "");
  }
  memory.check_tidy();
}

TEST_CASE("a CURRENT that says what is not so costs no answer") {
  Memory memory;
  memory.flush();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  nlohmann::json current = memory.current();
  SUBCASE("as it is") {
    memory.write_current(current);
    CHECK(Memory::logs_opened(memory.open()).empty());
  }
  SUBCASE("of another version") {
    std::string text = memory.disk.read(kIndexCurrentFile);
    text.replace(text.find("\"version\": 2"), 12, "\"version\": 1");
    memory.disk.write(kIndexCurrentFile, text);
  }
  SUBCASE("of another language") {
    current["language"] = "german";
    memory.write_current(current);
  }
  SUBCASE("segments that are not there") {
    nlohmann::json other = nlohmann::json::object();
    for (const auto& each : current["segments"].items()) {
      other["9" + each.key()] = each.value();
    }
    current["segments"] = other;
    memory.write_current(current);
  }
  SUBCASE("the segment is not there") {
    expect(memory.disk.remove(fmt::format("index/{}", memory.segment_files().at(0))));
  }
  SUBCASE("the segment is a folder") {
    const std::string path = fmt::format("index/{}", memory.segment_files().at(0));
    expect(memory.disk.remove(path));
    memory.disk.make_folders(path);
  }
  SUBCASE("names that lead elsewhere") {
    for (const char* name : {"", "..", "../1.seg", ".", "a\"b.seg", "1.seg\n", "CURRENT"}) {
      current["segments"] = {{name, std::string(16, '0')}};
      memory.write_current(current);
      memory.check(&held);
    }
  }
  SUBCASE("numbers that are none") {
    for (const nlohmann::json& number : {nlohmann::json(-1), nlohmann::json(1ULL << 40U),
                                         nlohmann::json("x"), nlohmann::json(nullptr)}) {
      current = memory.current();
      current["next"] = number;
      current["sessions"]["s1"]["segment"] = number;
      current["sessions"]["s2"]["folder"] = number;
      current["sessions"]["s3"]["logs"] = number;
      memory.write_current(current);
      memory.check(&held);
      memory.check_tidy();
    }
  }
  SUBCASE("a session twice") {
    std::string text = current.dump();
    const std::string s1 = "\"s1\":" + current["sessions"]["s1"].dump();
    text.insert(text.find("\"s1\":"), s1 + ",");
    text = text.substr(text.find("\"language\""));
    const std::string rest =
        fmt::format("\"analyzer\": {},", current["analyzer"].get<int>()) + text;
    memory.disk.write(kIndexCurrentFile, fmt::format("{{\"version\": 2, \"xxh3\": \"{}\",\n{}",
                                                     hash_hex(xxh3(rest)), rest));
  }
  memory.check(&held);
  memory.check_tidy();
}

TEST_CASE("a segment of another memory is not believed") {
  Memory memory;
  memory.flush();
  Memory other;
  std::string log = other.disk.read(other.log("s1"));
  log.replace(log.find("alpha"), 5, "gamma");
  other.disk.write(other.log("s1"), log);
  other.flush();
  REQUIRE(memory.segment_files() == other.segment_files());
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  const std::string path = fmt::format("index/{}", memory.segment_files().at(0));
  REQUIRE(memory.disk.read(path) != other.disk.read(path));
  memory.disk.write(path, other.disk.read(path));
  CHECK(answer_query(*memory.open(), {.text = "+alpha"})->hits.size() == 6);
  memory.check(&held);
}

TEST_CASE("a folder that was removed and made anew is known as another one") {
  Memory memory;
  memory.flush();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  memory.remove_folder(kIndexFolder);
  std::string log = memory.disk.read(memory.log("s1"));
  log.replace(log.find("alpha"), 5, "gamma");
  memory.disk.write(memory.log("s1"), log);
  memory.flush();
  memory.check(&held);
}

TEST_CASE("a segment that changes under an open store costs no answer, and is replaced") {
  Memory memory;
  memory.flush();
  const auto index = memory.files(kIndexFolder);
  const std::string path = fmt::format("index/{}", memory.segment_files().at(0));
  const std::string segment = memory.disk.read(path);
  const Lines right = memory.right_answers();
  for (std::size_t at = 0; at < segment.size(); at += 27) {
    CAPTURE(at);
    const Process held = memory.open();
    expect(answer_query(*held, {.text = at % 2 == 0 ? "alpha" : "nosuchword"}));
    std::string changed = segment;
    if (at % 4 < 2) {
      changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    } else {
      changed.resize(at);
    }
    memory.disk.write(path, changed);
    REQUIRE(difference(answers(*held), right) == "");
    REQUIRE(difference(answers(*memory.open()), right) == "");
    REQUIRE(Memory::logs_opened(memory.open()).empty());
    memory.check_tidy();
    memory.put_back(index, kIndexFolder);
  }
}

TEST_CASE("an index that can't be written costs no answer") {
  Memory memory;
  bool is_encrypted = false;
  SUBCASE("before anything is flushed") {}
  SUBCASE("with segments") {
    is_encrypted = true;
    memory.flush();
    memory.add(*memory.open(), "s2", "new", "alpha tail");
  }
  memory.settle();
  const Lines right = memory.right_answers();
  const auto before = memory.files("");
  const Timestamp start = memory.clock.now();
  for (const Operation operation :
       {Operation::kOpen, Operation::kWrite, Operation::kTruncate, Operation::kRename,
        Operation::kMakeDirectory, Operation::kRemove, Operation::kReadAt, Operation::kInfo,
        Operation::kFileInfo, Operation::kList}) {
    for (const std::size_t nth : {1U, 2U, 5U, 10U}) {
      for (const bool from_then_on : {false, true}) {
        CAPTURE(operation_name(operation));
        CAPTURE(nth);
        CAPTURE(from_then_on);
        for (const char* folder : {kSessionsFolder, kIndexFolder}) {
          std::vector<std::pair<std::string, std::string>> files = before;
          std::erase_if(files, [&](const auto& file) { return !file.first.starts_with(folder); });
          memory.put_back(files, folder);
        }
        if (!is_encrypted && nth % 2 == 0) {
          memory.remove_folder(kIndexFolder);
        }
        const Process process = memory.open();
        process.files->fail({.operation = operation,
                             .nth = nth,
                             .error_number = operation == Operation::kWrite ? 28 : 5,
                             .from_then_on = from_then_on,
                             .path_part = "index/"});
        REQUIRE(difference(answers(*process), right) == "");
        process.files->heal();
        REQUIRE(difference(answers(*process), right) == "");
        REQUIRE(difference(answers(*memory.open()), right) == "");
        memory.settle();
        REQUIRE(difference(answers(*memory.open()), memory.right_answers()) == "");
        memory.clock.set(start);
      }
    }
  }
  memory.add(*memory.open(), "s3", "last", "tail");
  memory.check();
  memory.check_tidy();
}

TEST_CASE("a merge that fails leaves the segments there are, and no file besides") {
  Memory memory;
  memory.flush();
  const Process process = memory.open();
  for (int i = 0; i < 30; ++i) {
    CAPTURE(i);
    memory.add(*memory.open(), i % 2 == 0 ? "s1" : "s2", fmt::format("n{}", i), "alpha tail");
    memory.settle();
    process.files->fail({.operation = Operation::kWrite,
                         .nth = 2,
                         .error_number = 28,
                         .from_then_on = true,
                         .path_part = ".seg"});
    const Lines right = memory.right_answers();
    REQUIRE(difference(answers(*process), right) == "");
    process.files->heal();
    memory.check_tidy();
    REQUIRE(difference(answers(*memory.open()), right) == "");
  }
}

TEST_CASE("something else in the place of the folder costs no answer") {
  Memory memory;
  SUBCASE("a file") { memory.disk.write(kIndexFolder, "not a folder"); }
  SUBCASE("a symbolic link, say") { memory.disk.make_other(kIndexFolder); }
  SUBCASE("CURRENT is a folder") {
    memory.disk.make_folders(std::string(kIndexCurrentFile) + "/x");
  }
  SUBCASE("the lock is a folder") { memory.disk.make_folders("index/.lock"); }
  const Process held = memory.open();
  memory.check(&held);
  // It holds no word of an entry, and a purge goes on.
  memory.add(*memory.open(), "s1", "doomed", kDoomed);
  if (!memory.disk.info("index/.lock") ||
      memory.disk.info("index/.lock")->kind != FileKind::kDirectory) {
    expect(delete_entries(*memory.open(), {.match = kDoomed}, {.purge = true}));
  }
  memory.check(&held);
}

TEST_CASE("many flushes leave few segments, whoever holds which open") {
  Memory memory;
  const Process held = memory.open();
  const Process now_and_then = memory.open();
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    const std::string id = fmt::format("m{}", i % 13);
    if (i < 13) {
      expect(create_session(*memory.open(), {.session_id = id}));
    }
    for (int k = 0; k <= i % 5; ++k) {
      memory.add(*memory.open(), id, fmt::format("{}-{}-{}", id, i, k), "alpha tail");
    }
    memory.settle();
    const Lines right = memory.right_answers();
    REQUIRE(difference(answers(*memory.open()), right) == "");
    REQUIRE(difference(answers(*held), right) == "");
    if (i % 9 == 0) {
      REQUIRE(difference(answers(*now_and_then), right) == "");
    }
    memory.check_tidy();
  }
  CHECK(memory.current()["sessions"].size() == 16);
  CHECK(Memory::logs_opened(memory.open()).empty());
}

TEST_CASE("archived sessions are in the segments, and come out when they are restored") {
  Memory memory;
  memory.flush();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  expect(archive_session(*memory.open(), "s2"));
  memory.check(&held);
  CHECK(memory.current()["sessions"]["s2"].contains("package"));
  memory.check_tidy();
  const Process reader = memory.open();
  reader.files->clear_log();
  expect(answer_query(*reader, {.text = "nosuchword"}));
  for (const std::string& call : reader.files->log()) {
    CHECK_FALSE(call.starts_with("open archive/s2"));
  }
  expect(restore_session(*memory.open(), "s2"));
  memory.check(&held);
  CHECK_FALSE(memory.current()["sessions"]["s2"].contains("package"));
  expect(archive_session(*memory.open(), "s2"));
  expect(archive_session(*memory.open(), "s3"));
  memory.check(&held);
  memory.check_tidy();
}

TEST_CASE("what was evicted and is pinned again counts once") {
  Memory memory;
  for (int i = 0; i < 8; ++i) {
    memory.add(*memory.open(), "s1", fmt::format("e{}", i), "alpha tail");
  }
  memory.flush();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  expect(compact_session(*memory.open(), "s1", {.keep_share = 0.3}));
  memory.check(&held);
  const std::string pinned[] = {"s1-0", "e0"};
  expect(pin_entries(*memory.open(), pinned, true, {}));
  memory.check(&held);
  expect(restore_evicted_entries(*memory.open(), "s1", {}));
  memory.check(&held);
  memory.check_tidy();
}

TEST_CASE("entries that are evicted while a question is answered are found") {
  Memory memory;
  for (int i = 0; i < 8; ++i) {
    memory.add(*memory.open(), "s1", fmt::format("e{}", i), "alpha tail");
  }
  memory.flush();
  const Process process = memory.open();
  // Between the look at the sessions and the first line of a hit.
  process.files->meanwhile({.operation = Operation::kOpen, .path_part = memory.log("s1")}, [&] {
    expect(compact_session(*memory.open(), "s1", {.keep_share = 0.3}));
  });
  const QueryAnswer answer =
      answer_query(*process, {.text = "+alpha", .filter = {.limit = 0}}).value();
  CHECK(answer.hits.size() == 14);
}

}  // namespace bmad_mem::test::root_index
