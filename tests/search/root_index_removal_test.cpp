// root_index_removal_test.cpp - what was purged is in no byte of the index, and on a real disk
// nothing is followed or taken for something else.
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
#include "search/root_index.hpp"
#include "search/root_index_memory.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::root_index {

TEST_CASE("what was purged is in no byte of the index") {
  Memory memory;
  const std::string dropped[] = {"doomed"};
  memory.add(*memory.open(), "s2", "doomed", fmt::format("alpha {} said", kDoomed));
  memory.flush();
  for (int i = 0; i < 3; ++i) {  // In some segments.
    memory.add(*memory.open(), "s2", fmt::format("n{}", i), "alpha tail");
    memory.flush();
  }
  REQUIRE_FALSE(memory.index_files_with(kDoomed).empty());
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  using Way = std::function<void(Store&)>;
  std::vector<std::pair<std::string, Way>> ways = {
      {"purge",
       [&](Store& store) { expect(delete_entries(store, {.ids = {"doomed"}}, {.purge = true})); }},
      {"forget --match",
       [&](Store& store) { expect(delete_entries(store, {.match = kDoomed}, {.purge = true})); }},
      {"session delete --purge",
       [&](Store& store) { expect(delete_session(store, "s2", {.purge = true})); }},
      {"deletions that end",
       [&](Store& store) {
         expect(delete_entries(store, {.ids = {"doomed"}}, {}));
         expect(purge_deleted(store, {.now = Timestamp::max()}));
       }},
      {"a deletion of a session that ends",
       [&](Store& store) {
         expect(delete_session(store, "s2", {}));
         expect(purge_deleted(store, {.now = Timestamp::max()}));
       }},
      {"a purge of what is archived",
       [&](Store& store) {
         expect(archive_session(store, "s2"));
         expect(answer_query(*memory.open(), {.text = "common"}));
         expect(delete_entries(store, {.match = kDoomed}, {.purge = true}));
       }},
      {"a purge of what was deleted before",
       [&](Store& store) {
         expect(delete_entries(store, {.ids = {"doomed"}}, {}));
         expect(delete_entries(store, {.match = kDoomed}, {.purge = true}));
       }},
  };
  const auto before = memory.files("");
  const auto reset = [&] {
    for (const auto all = memory.disk.list(""); const std::string& name : all.value()) {
      if (memory.disk.info(name)->kind == FileKind::kDirectory) {
        memory.remove_folder(name);
      }
    }
    memory.disk.make_folders(kIndexFolder);
    for (const auto& [path, bytes] : before) {
      if (path.find('/') != std::string::npos) {
        memory.disk.make_folders(path.substr(0, path.rfind('/')));
      }
      memory.disk.write(path, bytes);
    }
    memory.settle();
  };
  for (const auto& [name, way] : ways) {
    CAPTURE(name);
    {
      reset();
      way(*memory.open());
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check(&held);
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check_tidy();
    }
    {
      INFO("on a full disk");
      reset();
      const Process process = memory.open();
      process.files->fail({.operation = Operation::kWrite,
                           .error_number = 28,
                           .from_then_on = true,
                           .path_part = "index/"});
      way(*process);
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check(&held);
    }
    for (const std::size_t at : {10U, 300U, 1500U}) {
      INFO("with a damaged segment");
      reset();
      for (const std::string& each : memory.segment_files()) {
        const std::string path = fmt::format("index/{}", each);
        std::string bytes = memory.disk.read(path);
        bytes[std::min<std::size_t>(at, bytes.size() - 1)] ^= 1;
        memory.disk.write(path, bytes);
      }
      way(*memory.open());
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check(&held);
    }
    {
      INFO("with what a process left that died");
      reset();
      const std::string segment = memory.disk.read(memory.index_files_with(kDoomed).at(0));
      memory.disk.write("index/77.seg", segment);
      memory.disk.write("index/78.seg", segment.substr(0, segment.size() / 2));
      memory.disk.write("index/CURRENT.tmp", segment);
      expect(memory.disk.remove(kIndexCurrentFile));
      way(*memory.open());
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check(&held);
      memory.check_tidy();
    }
    {
      INFO("with another process that asks meanwhile");
      reset();
      const Process process = memory.open();
      for (const std::size_t nth : {1U, 3U, 5U}) {
        process.files->meanwhile(
            {.operation = Operation::kOpen, .nth = nth, .path_part = "sessions/s2"},
            [&] { expect(answer_query(*memory.open(), {.text = "common"})); });
      }
      way(*process);
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check(&held);
    }
  }
}

TEST_CASE("nobody flushes while words are taken out of the index") {
  Memory memory;
  memory.add(*memory.open(), "s2", "doomed", kDoomed);
  memory.flush();
  const Process process = memory.open();
  int looks = 0;
  const auto is_free = [&] {
    ++looks;
    FileLock lock(memory.disk, memory.clock, "index/.lock", "index/.lock.json");
    CHECK_FALSE(lock.acquire({.operation = "test", .timeout = std::chrono::milliseconds(0)}));
  };
  process.files->meanwhile({.operation = Operation::kOpen, .path_part = "index/2.seg"}, is_free);
  process.files->meanwhile({.operation = Operation::kRemove, .path_part = "index/1.seg"}, is_free);
  expect(delete_entries(*process, {.match = kDoomed}, {.purge = true}));
  CHECK(looks == 2);
  expect(process.store->root_index->clear());
  CHECK(memory.segment_files().empty());
  memory.check(&process);
}

TEST_CASE("a purge that can't take words out of the index says so") {
  Memory memory;
  memory.add(*memory.open(), "s2", "doomed", kDoomed);
  memory.flush();
  const Process process = memory.open();
  process.files->fail({.operation = Operation::kRemove, .from_then_on = true, .path_part = ".seg"});
  CHECK_FALSE(delete_entries(*process, {.match = kDoomed}, {.purge = true}));
  process.files->heal();
  expect(delete_entries(*process, {.match = kDoomed}, {.purge = true}));
  CHECK(memory.index_files_with(kDoomed) == Lines{});
}

namespace {

/// A memory on a real disk, whose clock is far behind all mtimes' backs.
class PosixMemory : public MemoryFixture {
 public:
  PosixMemory() {
    folder.write("memory/config.json",
                 R"({"memory_config":{"indexing":{"rebuild_threshold_writes":1},)"
                 R"("privacy":{"auto_redaction":false}}})");
    clock.set("2099-01-01T00:00:00Z");
    reopen();
    for (const std::string id : {"s1", "s2"}) {
      session(id);
      add_fact(id + "-a", "common alpha", id);
      add_fact(id + "-b", "common gamma", id);
    }
  }

  Lines right(const std::string& text) {
    MemoryFixture* const self = this;
    const std::string index = root() + "/index";
    const std::string aside = root() + ".index";
    std::filesystem::rename(index, aside);
    self->reopen();
    const Lines ids = found(text);
    std::filesystem::remove_all(index);
    std::filesystem::rename(aside, index);
    self->reopen();
    return ids;
  }
};

}  // namespace

TEST_CASE("a log in place of another of the same size and mtime is seen") {
  PosixMemory memory;
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  const std::string path = memory.path(EntryType::kFact, "s2");
  const auto mtime = std::filesystem::last_write_time(path);
  std::string bytes = memory.read(EntryType::kFact, "s2");
  bytes.replace(bytes.find("alpha"), 5, "delta");
  memory.folder.write("memory/other", bytes);
  std::filesystem::last_write_time(memory.root() + "/other", mtime);
  std::filesystem::rename(memory.root() + "/other", path);
  CHECK(memory.found("alpha") == Lines{"s1-a"});
  CHECK(memory.found("delta") == Lines{"s2-a"});
  memory.reopen();
  CHECK(memory.found("alpha") == Lines{"s1-a"});
  CHECK(memory.found("delta") == Lines{"s2-a"});
}

TEST_CASE("a link in the place of the folder is not followed") {
  PosixMemory memory;
  const std::string outside = memory.folder.path("outside");
  std::filesystem::create_directory(outside);
  std::filesystem::create_directory_symlink(outside, memory.root() + "/index");
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  CHECK(std::filesystem::is_empty(outside));
  std::filesystem::remove(memory.root() + "/index");
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  REQUIRE(std::filesystem::exists(memory.root() + "/index/CURRENT"));
  // Back to what lies elsewhere.
  std::filesystem::rename(memory.root() + "/index", outside + "/index");
  std::filesystem::create_directory_symlink(outside + "/index", memory.root() + "/index");
  memory.add_fact("s1-c", "common alpha");
  CHECK(memory.found("alpha") == Lines{"s1-a", "s1-c", "s2-a"});
  memory.reopen();
  CHECK(memory.found("alpha") == Lines{"s1-a", "s1-c", "s2-a"});
}

TEST_CASE("rules that redact, and pseudonyms, leave no word behind in the index") {
  PosixMemory memory;
  const std::string secret = std::string("gh") + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";
  memory.add_fact("secret", "the key is " + secret);
  memory.add_fact("mail", "write to qxvjohn.doe@qxvexample.org");
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  const auto index_holds = [&](const std::string& word) {
    return std::ranges::any_of(memory.files(), [&](const auto& file) {
      return file.first.contains("index/") && file.second.contains(word);
    });
  };
  std::string lower = secret;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  REQUIRE(index_holds(lower.substr(4)));
  REQUIRE(index_holds("qxvexample"));
  expect(memory->redact({}, false));
  CHECK_FALSE(index_holds(lower.substr(4)));
  REQUIRE(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  CHECK_FALSE(index_holds(lower.substr(4)));
  expect(memory->anonymize({}, [](const Error&) {}));
  CHECK_FALSE(index_holds("qxvexample"));
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  CHECK_FALSE(index_holds("qxvexample"));
}

}  // namespace bmad_mem::test::root_index
