// vectors_encoding_test.cpp - entries get their vectors bit by bit, whatever happens meanwhile, and
// none has one that is not its own.
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "search/indexing.hpp"
#include "search/vectors_memory.hpp"

namespace bmad_mem::test::root_index {

TEST_CASE("each entry of a segment gets its vector, once") {
  VectorsMemory memory;
  memory.flush();
  CHECK(memory.count().waiting == kFirst);
  CHECK(memory.vectors_in_use() == 0);
  const Encoded done = memory.encode_all();
  CHECK(done.encoded == kFirst);
  CHECK(memory.count().entries == kFirst);
  CHECK(memory.vectors_in_use() == kFirst);
  CHECK(memory.encoder->texts().size() == kFirst);
  CHECK(memory.encode_all().encoded == 0);
  CHECK(memory.encoder->texts().size() == kFirst);
  memory.check_tidy();
  memory.check();
}

TEST_CASE("nothing is encoded where no index is") {
  VectorsMemory memory;
  const Result<Encoded> done = memory.encode(memory.open_with());
  expect(done);
  CHECK(done->encoded == 0);
  CHECK_FALSE(memory.disk.info(kIndexFolder));
}

TEST_CASE("a question finds by meaning what shares no word with it") {
  VectorsMemory memory;
  memory.add(*memory.open(), "s2", "answer", "automobile");
  memory.flush();
  const Process server = memory.open_with();
  CHECK_FALSE(VectorsMemory::ask(server, "autograph").took_part);
  memory.encode_all();
  for (const Process& process : {std::cref(server), std::cref(server)}) {
    const VectorsMemory::Answer answer = VectorsMemory::ask(process, "autograph");
    CHECK(answer.took_part);
    REQUIRE_FALSE(answer.ids.empty());
    CHECK(answer.ids.front() == "answer");
  }
}

TEST_CASE("encoding goes on where it was stopped") {
  VectorsMemory memory;
  memory.add_many("s1", 300);
  memory.flush();
  for (const std::size_t texts_max : {1U, 7U, 127U, 128U, 129U, 1000U}) {
    CAPTURE(texts_max);
    const std::uint64_t before = memory.count().waiting;
    const Result<Encoded> done = memory.encode(memory.open_with(), {.texts_max = texts_max});
    expect(done);
    CHECK(done->encoded == std::min<std::uint64_t>(texts_max, before));
    CHECK(memory.count().waiting == before - done->encoded);
    CHECK(memory.vectors_in_use() == kFirst + 300 - memory.count().waiting);
  }
  CHECK(memory.encoder->texts().size() == kFirst + 300);
}

TEST_CASE("one pass encodes all segments, also where each has one session only") {
  VectorsMemory memory;
  for (const char* const id : {"s1", "s2", "s3"}) {
    memory.add_many(id, 40);
    memory.flush();
  }
  CHECK(memory.count().waiting == kFirst + 120);
  const Encoded done = memory.encode_all();
  CHECK(done.encoded == kFirst + 120);
  CHECK(memory.vectors_in_use() == kFirst + 120);
}

TEST_CASE("who has an encoder takes few entries into the index, too") {
  VectorsMemory memory;
  memory.flush();
  memory.encode_all();
  memory.add_many("s2", 3);
  Process process = memory.open();
  process.store->config.indexing.rebuild_threshold_writes = 1000;
  process.store->config.encoder.path = "encoder.bmw";
  use_encoder(*process, memory.encoder);
  const VectorsOf of = vectors_of(*memory.encoder, false);
  CHECK(count_encoded(*process, of).value().entries == kFirst + 3);
  CHECK(count_encoded(*process, of).value().waiting == 3);
  const std::chrono::seconds kLong{60};
  maintain_index(*process, kLong);  // Not each time.
  CHECK(count_encoded(*process, of).value().waiting == 3);
  SUBCASE("when a session is closed") { expect(close_session(*process, "s2")); }
  SUBCASE("when there is time") { maintain_index(*process, kLong, FlushWhen::kAny); }
  SUBCASE("when it is asked for") {
    const Result<EncodeReport> done = encode_entries(*process, {.all = true}, {});
    expect(done);
    CHECK(done->entries == kFirst + 3);
    CHECK(done->encoded == 3);
    CHECK(done->waiting == 0);
  }
  SUBCASE("at the end, once") {
    process.store->indexes_at_the_end = true;
    memory.encoder->forget();
    expect(close_session(*process, "s2"));
    CHECK(maintain_index(*process, kLong));
    CHECK(memory.encoder->texts() == Lines{});
    process.store.reset();
    CHECK(memory.encoder->texts().size() == 3);
  }
  CHECK(memory.vectors_in_use() == kFirst + 3);
}

TEST_CASE("nothing waits at the end for who has no encoder and little that is new") {
  VectorsMemory memory;
  const Process process = memory.open();
  process.store->indexes_at_the_end = true;
  CHECK_FALSE(maintain_index(*process, std::chrono::seconds(60)));
}

TEST_CASE("encoding goes on in the segments that take the place of its own") {
  VectorsMemory memory;
  memory.add_many("s1", 300);
  const Process process = memory.open_with();
  memory.encoder->before_calls([&](std::size_t call) {
    if (call == 2) {
      expect(rebuild_indexes(*memory.open(), {}, {}));
    }
    return Status();
  });
  const Result<EncodeReport> done = encode_entries(*process, {.all = true}, {});
  expect(done);
  CHECK(done->waiting == 0);
  CHECK(memory.vectors_in_use() == kFirst + 300);
}

TEST_CASE("encoding ends with its time, and keeps what was done in it") {
  VectorsMemory memory;
  memory.add_many("s1", 300);
  memory.flush();
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const Result<Encoded> none = memory.encode(memory.open_with(), {.deadline = now()});
  expect(none);
  CHECK(none->encoded == 0);
  const auto deadline = now() + std::chrono::seconds(2);
  memory.encoder->before_calls([&](std::size_t call) {
    while (call == 3 && now() <= deadline) {
    }
    return Status();
  });
  const Result<Encoded> some = memory.encode(memory.open_with(), {.deadline = deadline});
  expect(some);
  CHECK(some->encoded > 0);
  CHECK(some->encoded < kFirst + 300);
  CHECK(memory.vectors_in_use() == some->encoded);
  memory.encoder->before_calls({});
  memory.encode_all();
  CHECK(memory.encoder->texts().size() == kFirst + 300);
}

TEST_CASE("only one process encodes, and the other one says so") {
  VectorsMemory memory;
  memory.flush();
  const Process other = memory.open_with();
  int looks = 0;
  memory.encoder->before_calls([&](std::size_t) {
    const Result<Encoded> done = memory.encode(other);
    expect(done);
    CHECK(done->is_elsewhere);
    CHECK(done->encoded == 0);
    ++looks;
    return Status();
  });
  const Encoded done = memory.encode_all();
  CHECK(looks == 1);
  CHECK_FALSE(done.is_elsewhere);
  CHECK(done.encoded == kFirst);
}

TEST_CASE("the index may change while entries are encoded") {
  VectorsMemory memory;
  memory.add_many("s1", 300);
  memory.add(*memory.open(), "s2", "doomed", kDoomed);
  memory.flush();
  std::vector<std::pair<std::string, std::function<void()>>> works = {
      {"a new segment",
       [&] {
         memory.add(*memory.open(), "s3", "new", "a new one");
         memory.flush();
       }},
      {"a purge",
       [&] { expect(delete_entries(*memory.open(), {.match = kDoomed}, {.purge = true})); }},
      {"no index", [&] { expect(memory.open().store->root_index->clear()); }},
      {"no folder", [&] { memory.remove_folder(kIndexFolder); }},
      {"a log that is cut",
       [&] {
         memory.disk.write(memory.log("s1"), memory.disk.read(memory.log("s1")).substr(100));
       }},
      {"a session that goes",
       [&] { expect(delete_session(*memory.open(), "s1", {.purge = true})); }},
  };
  const auto before = memory.files("");
  for (const auto& [name, work] : works) {
    for (const std::size_t when : {1U, 2U, 3U}) {
      CAPTURE(name);
      CAPTURE(when);
      for (const auto all = memory.disk.list(""); const std::string& each : all.value()) {
        if (memory.disk.info(each)->kind == FileKind::kDirectory) {
          memory.remove_folder(each);
        }
      }
      for (const auto& [path, bytes] : before) {
        if (path.contains('/')) {
          memory.disk.make_folders(path.substr(0, path.rfind('/')));
        }
        memory.disk.write(path, bytes);
      }
      memory.settle();
      memory.encoder->before_calls([&](std::size_t call) {
        if (call == when) {
          work();
        }
        return Status();
      });
      const Process process = memory.open_with();
      const Result<Encoded> done = memory.encode(process);
      CHECK((done || is_not_found(done.error())));
      memory.encoder->before_calls({});
      memory.vectors_in_use(process);
      memory.vectors_in_use();
      memory.check_vectors_tidy();
      if (name == "a purge") {
        CHECK(memory.index_files_with_vector(kDoomed) == Lines{});
      }
      memory.flush();
      memory.encode_all();
      memory.vectors_in_use(process);
      memory.check();
    }
  }
}

TEST_CASE("sensitive entries are encoded only where the config says so") {
  VectorsMemory memory;
  memory.add_sensitive("s2", "secret", fmt::format("{} is close to a secret", kDoomed));
  memory.flush();
  memory.encode_all();
  CHECK(memory.index_files_with_vector(kDoomed) == Lines{});
  for (const std::string& text : memory.encoder->texts()) {
    CHECK_FALSE(text.contains(kDoomed));
  }
  const Process on = memory.open_with(true);
  CHECK(memory.count(true).waiting == kFirst + 1);
  expect(memory.encode(on));
  CHECK(memory.index_files_with_vector(kDoomed).size() == 1);
  CHECK(memory.vectors_in_use(on) == kFirst + 1);
  CHECK(VectorsMemory::ask(on, "qxvother").took_part);
  const Process off = memory.open_with();
  CHECK_FALSE(on.store->root_index->wants_vectors());
  CHECK(off.store->root_index->wants_vectors());
  CHECK_FALSE(VectorsMemory::ask(off, "qxvother").took_part);

  SUBCASE("the next that encodes takes them away") {
    expect(memory.encode(off, {.texts_max = 0}));
    CHECK(memory.index_files_with_vector(kDoomed) == Lines{});
  }
  SUBCASE("the next that writes a segment takes them away") {
    memory.add(*memory.open(), "s3", "new", "a new one");
    memory.flush();
    CHECK(memory.index_files_with_vector(kDoomed) == Lines{});
    CHECK(memory.vector_files() == Lines{});
  }
  SUBCASE("maintenance takes them away") {
    expect(off.store->root_index->tidy());
    CHECK(memory.index_files_with_vector(kDoomed) == Lines{});
  }
  expect(memory.encode(off));
  CHECK(memory.index_files_with_vector(kDoomed) == Lines{});
  memory.vectors_in_use(off);
}

TEST_CASE("another encoder begins anew") {
  VectorsMemory memory;
  memory.flush();
  memory.encode_all();
  for (const auto& [name, dimension] :
       {std::pair("others", 64U), std::pair("words", 128U), std::pair("words", 4096U)}) {
    memory.encoder = std::make_shared<WordEncoder>(name, dimension);
    const Process process = memory.open_with();
    CHECK_FALSE(VectorsMemory::ask(process, "alphabet").took_part);
    CHECK(memory.count().waiting == kFirst);
    memory.encode_all();
    CHECK(memory.vectors_in_use(process) == kFirst);
    CHECK(VectorsMemory::ask(process, "alphabet").took_part);
    CHECK(memory.vector_files().size() == 1);
  }
}

TEST_CASE("vectors of another encoder stay until the first of this one are there") {
  VectorsMemory memory;
  memory.flush();
  memory.encode_all();
  const auto older = memory.encoder;
  memory.encoder = std::make_shared<WordEncoder>("newer", 128);
  memory.encoder->before_calls([](std::size_t) { return Status(kFails); });
  CHECK_FALSE(memory.encode(memory.open_with()));
  CHECK(memory.vectors_in_use() == 0);
  memory.encoder = older;
  CHECK(memory.vectors_in_use() == kFirst);
}

TEST_CASE("who encodes by the way leaves what another encoder made, and maintenance does not") {
  VectorsMemory memory;
  memory.flush();
  const auto tend = [&](OtherVectors others) {
    const Process process = memory.open();
    process.store->config.encoder.path = "encoder.bmw";
    use_encoder(*process, memory.encoder);
    return maintain_index(*process, std::chrono::seconds(60), FlushWhen::kSome, others);
  };
  CHECK_FALSE(tend(OtherVectors::kKeep));
  CHECK(memory.vectors_in_use() == kFirst);
  auto other = std::make_shared<WordEncoder>("newer", 128);
  std::swap(memory.encoder, other);
  CHECK_FALSE(tend(OtherVectors::kKeep));
  memory.add(*memory.open(), "s1", "one", "one more");
  memory.flush();
  CHECK_FALSE(tend(OtherVectors::kKeep));
  CHECK(memory.encoder->texts() == Lines{});
  std::swap(memory.encoder, other);
  CHECK(memory.vectors_in_use() == kFirst);
  std::swap(memory.encoder, other);
  CHECK_FALSE(tend(OtherVectors::kReplace));
  CHECK(memory.vectors_in_use() == kFirst + 1);
}

TEST_CASE("a server sees each block that another process encodes") {
  VectorsMemory memory;
  memory.disk.let_times_be_set();
  memory.add_many("s1", 600);
  memory.flush();
  const Process server = memory.open_with();
  const Process other = memory.open_with();
  std::uint64_t encoded = 0;
  EncodeWish wish;
  wish.on_progress = [&](std::uint64_t done) {
    CHECK(done > encoded);
    encoded = done;
    CHECK(memory.vectors_in_use(server) == done);
  };
  expect(memory.encode(other, wish));
  CHECK(encoded == kFirst + 600);
}

}  // namespace bmad_mem::test::root_index
