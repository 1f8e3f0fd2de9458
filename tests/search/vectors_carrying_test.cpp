// vectors_carrying_test.cpp - vectors go with their entries from segment to segment, and are gone
// with them.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "privacy/redaction.hpp"
#include "search/indexing.hpp"
#include "search/vectors_memory.hpp"

namespace bmad_mem::test::root_index {

namespace {

/// With one entry whose vector no other has, and all encoded.
class EncodedMemory : public VectorsMemory {
 public:
  EncodedMemory() {
    add(*open(), "s2", "doomed", fmt::format("alpha {} said", kDoomed));
    flush();
    encode_all();
    encoder->before_calls([](std::size_t) {
      FAIL("nothing is to be encoded again");
      return Status();
    });
    // What was asked for is what has to go.
    REQUIRE(index_files_with_vector(kDoomed).size() == 1);
  }
};

}  // namespace

TEST_CASE("an index that is made anew takes over the vectors of its lines") {
  EncodedMemory memory;
  const std::vector<std::string> one{"s2"};
  SUBCASE("all of it") { expect(rebuild_indexes(*memory.open(), {}, {})); }
  SUBCASE("a session") { expect(rebuild_indexes(*memory.open(), one, {})); }
  SUBCASE("archives, too") {
    expect(archive_session(*memory.open(), "s2"));
    memory.flush();
    memory.settle();
    expect(rebuild_indexes(*memory.open(), {}, {}));
  }
  CHECK(memory.vectors_in_use() == kFirst + 1);
  CHECK(memory.count().waiting == 0);
  memory.check_vectors_tidy();
  memory.check();
}

TEST_CASE("an index that is made anew takes over no vector that does not hold") {
  EncodedMemory memory;
  const std::string path = "index/" + memory.vector_files().front();
  std::string bytes = memory.disk.read(path);
  bytes[bytes.size() / 2] ^= 1;
  memory.disk.write(path, bytes);
  expect(rebuild_indexes(*memory.open(), {}, {}));
  CHECK(memory.vectors_in_use() < kFirst + 1);
}

TEST_CASE("vectors go with entries from segment to segment") {
  VectorsMemory memory;
  memory.flush();
  memory.encode_all();
  const Process server = memory.open_with();
  std::size_t entries = kFirst;
  for (int round = 0; round < 20; ++round) {  // Segments are merged on the way.
    CAPTURE(round);
    const std::string session = fmt::format("s{}", round % 3 + 1);
    memory.add(*memory.open(), session, fmt::format("n{}", round), fmt::format("text{} x", round));
    ++entries;
    CHECK(memory.vectors_in_use(server) == entries - 1);
    memory.flush();
    CHECK(memory.count().entries == entries);
    CHECK(memory.count().waiting == 1);
    CHECK(memory.vectors_in_use() == entries - 1);
    CHECK(memory.vectors_in_use(server) == entries - 1);
    memory.encode_all();
    CHECK(memory.vectors_in_use(server) == entries);
    memory.check_vectors_tidy();
  }
  CHECK(memory.encoder->texts().size() == entries);
  memory.check();
}

TEST_CASE("vectors of many entries go with them, block by block") {
  VectorsMemory memory;
  memory.add_many("s1", 1000);
  memory.add_many("s3", 130, "more");
  memory.flush();
  memory.encode_all();
  memory.add_many("s2", 900, "last");
  memory.flush();
  memory.add(*memory.open(), "s1", "one", "one more");
  memory.flush();
  CHECK(memory.count().waiting == 901);
  CHECK(memory.vectors_in_use() == kFirst + 1130);
  const std::string sessions[] = {"s1"};
  expect(memory.open().store->root_index->remove(sessions));
  CHECK(memory.vectors_in_use() == 8 + 130);
}

TEST_CASE("what moves takes its vectors with it") {
  EncodedMemory memory;
  const Process server = memory.open_with();
  struct Row {
    std::string name;
    std::function<void(Store&)> work;
  };
  const std::vector<Row> rows = {
      {"evicted", [](Store& store) { expect(compact_session(store, "s2", {.keep_share = 0.4})); }},
      {"brought back", [](Store& store) { expect(restore_evicted_entries(store, "s2", {})); }},
      {"archived", [](Store& store) { expect(archive_session(store, "s2")); }},
      {"restored", [](Store& store) { expect(restore_session(store, "s2")); }},
      {"both",
       [](Store& store) {
         expect(archive_session(store, "s1"));
         expect(archive_session(store, "s3"));
       }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    row.work(*memory.open());
    memory.vectors_in_use(server);
    memory.flush();
    memory.vectors_in_use(server);
    CHECK(memory.count().entries == kFirst + 1);
    memory.encoder->before_calls({});
    memory.encode_all();
    CHECK(memory.vectors_in_use() == kFirst + 1);
    CHECK(memory.vectors_in_use(server) == kFirst + 1);
    memory.check();
    memory.check_vectors_tidy();
  }
}

TEST_CASE("a newer version has a vector of its own") {
  VectorsMemory memory;
  memory.flush();
  memory.encode_all();
  memory.add(*memory.open(), "s1", "s1-0", "quite another text");
  memory.flush();
  CHECK(memory.count().waiting == 1);
  CHECK(memory.vectors_in_use() == kFirst - 1);
  memory.encode_all();
  CHECK(memory.vectors_in_use() == kFirst);
}

TEST_CASE("what was removed or rewritten has no vector in any byte of the index") {
  using Way = std::function<void(VectorsMemory & memory, Store&)>;
  const std::vector<std::pair<std::string, Way>> ways = {
      {"purge",
       [](VectorsMemory&, Store& store) {
         expect(delete_entries(store, {.ids = {"doomed"}}, {.purge = true}));
       }},
      {"forget --match",
       [](VectorsMemory&, Store& store) {
         expect(delete_entries(store, {.match = kDoomed}, {.purge = true}));
       }},
      {"session delete --purge",
       [](VectorsMemory&, Store& store) { expect(delete_session(store, "s2", {.purge = true})); }},
      {"deletions that end",
       [](VectorsMemory&, Store& store) {
         expect(delete_entries(store, {.ids = {"doomed"}}, {}));
         expect(purge_deleted(store, {.now = Timestamp::max()}));
       }},
      {"a deletion of a session that ends",
       [](VectorsMemory&, Store& store) {
         expect(delete_session(store, "s2", {}));
         expect(purge_deleted(store, {.now = Timestamp::max()}));
       }},
      {"a purge of what is archived",
       [](VectorsMemory& memory, Store& store) {
         expect(archive_session(store, "s2"));
         memory.flush();
         CHECK(memory.index_files_with_vector(kDoomed) != Lines{});
         memory.check_beside_words(kDoomed);
         expect(delete_entries(store, {.match = kDoomed}, {.purge = true}));
       }},
      {"a purge of what is evicted",
       [](VectorsMemory& memory, Store& store) {
         expect(compact_session(store, "s2", {.keep_share = 0.1}));
         memory.flush();
         expect(delete_entries(store, {.match = kDoomed}, {.purge = true}));
       }},
      {"a purge while a segment is new",
       [](VectorsMemory& memory, Store& store) {
         memory.add(store, "s2", "new", "tail");
         memory.flush();
         expect(delete_entries(store, {.match = kDoomed}, {.purge = true}));
       }},
      {"a purge on a full disk",
       [](VectorsMemory& memory, Store&) {
         const Process process = memory.open();
         process.files->fail({.operation = Operation::kWrite,
                              .error_number = 28,
                              .from_then_on = true,
                              .path_part = "index/"});
         process.files->fail({.operation = Operation::kWriteAt,
                              .error_number = 28,
                              .from_then_on = true,
                              .path_part = ".vec"});
         expect(delete_entries(*process, {.match = kDoomed}, {.purge = true}));
       }},
      {"a purge of what a process left that died",
       [](VectorsMemory& memory, Store& store) {
         const std::string vectors = memory.disk.read(memory.index_files_with_vector(kDoomed)[0]);
         memory.disk.write("index/77.vec", vectors);
         memory.disk.write("index/78.vec", vectors.substr(0, vectors.size() / 2));
         expect(delete_entries(store, {.match = kDoomed}, {.purge = true}));
       }},
      {"an index made anew",
       [](VectorsMemory&, Store& store) { expect(store.root_index->clear()); }},
  };
  for (const auto& [name, way] : ways) {
    CAPTURE(name);
    EncodedMemory memory;
    const Process server = memory.open_with();
    CHECK(memory.vectors_in_use(server) == kFirst + 1);
    way(memory, *memory.open());
    CHECK(memory.index_files_with_vector(kDoomed) == Lines{});
    memory.vectors_in_use(server);
    memory.check();
    CHECK(memory.index_files_with_vector(kDoomed) == Lines{});
    memory.check_vectors_tidy();
    memory.check_tidy();
  }
}

TEST_CASE("what was deleted and is brought back has its vector again") {
  EncodedMemory memory;
  const Process server = memory.open_with();
  expect(delete_entries(*memory.open(), {.ids = {"doomed"}}, {}));
  memory.flush();
  memory.check_beside_words(kDoomed);
  memory.vectors_in_use(server);
  expect(undelete(*memory.open(), {.ids = {"doomed"}}));
  memory.flush();
  memory.encoder->before_calls({});
  memory.encode_all();
  CHECK(memory.vectors_in_use(server) == kFirst + 1);
  memory.check_beside_words(kDoomed);
}

TEST_CASE("a secret that is redacted later leaves no vector") {
  VectorsMemory memory;
  const std::string secret = "ghp_" + std::string(36, 'a').replace(3, 7, "1B2c3D4");
  const std::string json =
      fmt::format(R"({{"id":"doomed","timestamp":"2026-01-11T10:00:00Z","role":"user","content":)"
                  R"("{} token {}","decay_factor":1.0}})",
                  kDoomed, secret);
  memory.disk.write(memory.log("s2"), memory.disk.read(memory.log("s2")) + json + "\n");
  memory.flush();
  memory.encode_all();
  REQUIRE(memory.index_files_with_vector(secret).size() == 1);
  expect(redact_sessions(*memory.open(), {}, false));
  CHECK(memory.index_files_with(secret) == Lines{});
  CHECK(memory.index_files_with_vector(secret) == Lines{});
  memory.flush();
  memory.encode_all();
  CHECK(memory.vectors_in_use() == kFirst + 1);
  CHECK(memory.index_files_with_vector(secret) == Lines{});
}

TEST_CASE("vectors of an older encoder do not hinder those of the newer one") {
  VectorsMemory memory;
  memory.flush();
  memory.encode_all();
  const auto older = memory.encoder;
  memory.encoder = std::make_shared<WordEncoder>("newer", 128);
  memory.add(*memory.open(), "s2", "n1", "text");
  memory.flush();
  memory.encode_all();
  CHECK(memory.vectors_in_use() == kFirst + 1);
  // Vectors of both lie in the segments that are merged.
  memory.add(*memory.open(), "s3", "n2", "text");
  memory.flush();
  CHECK(memory.count().waiting == 1);
}

}  // namespace bmad_mem::test::root_index
