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
#include "search/vectors_memory.hpp"

namespace bmad_mem::test::root_index {

namespace {

constexpr int kFull = 28;  // ENOSPC.

const Error kFails{.code = ErrorCode::E_STORAGE_IO, .message = "the encoder is ill"};

}  // namespace

TEST_CASE("each entry of a segment gets its vector, once") {
  VectorsMemory memory;
  memory.seal();
  CHECK(memory.count().waiting == kFirst);
  CHECK(memory.vectors_in_use() == 0);
  const Encoded done = memory.encode_all();
  CHECK(done.encoded == kFirst);
  CHECK(done.total == kFirst);
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
  CHECK(done->total == 0);
  CHECK_FALSE(memory.disk.info(kIndexFolder));
}

TEST_CASE("a question finds by meaning what shares no word with it") {
  VectorsMemory memory;
  memory.add(*memory.open(), "s2", "answer", "automobile");
  memory.seal();
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
  memory.seal();
  for (const std::size_t texts_max : {1U, 7U, 127U, 128U, 129U, 1000U}) {
    CAPTURE(texts_max);
    const std::uint64_t before = memory.count().waiting;
    const Result<Encoded> done = memory.encode(memory.open_with(), {.texts_max = texts_max});
    expect(done);
    CHECK(done->encoded == std::min<std::uint64_t>(texts_max, before));
    CHECK(done->waiting == before - done->encoded);
    CHECK(memory.count().waiting == done->waiting);
    CHECK(memory.vectors_in_use() == kFirst + 300 - done->waiting);
  }
  CHECK(memory.encoder->texts().size() == kFirst + 300);
}

TEST_CASE("encoding ends with its time, and keeps what was done in it") {
  VectorsMemory memory;
  memory.add_many("s1", 300);
  memory.seal();
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
  CHECK(some->waiting > 0);
  CHECK(memory.vectors_in_use() == some->encoded);
  memory.encoder->before_calls({});
  memory.encode_all();
  CHECK(memory.encoder->texts().size() == kFirst + 300);
}

TEST_CASE("what was encoded before the encoder failed is kept") {
  VectorsMemory memory;
  memory.add_many("s1", 300);
  memory.seal();
  memory.encoder->before_calls(
      [](std::size_t call) { return call == 2 ? Status(kFails) : Status(); });
  const Result<Encoded> done = memory.encode(memory.open_with());
  REQUIRE_FALSE(done);
  CHECK(done.error().code == ErrorCode::E_STORAGE_IO);
  CHECK(memory.vectors_in_use() > 0);
  CHECK(memory.count().waiting > 0);
  memory.encode_all();
  CHECK(memory.encoder->texts().size() == kFirst + 300);
}

TEST_CASE("an encoder that fails leaves the answer that words give") {
  VectorsMemory memory;
  memory.seal();
  memory.encode_all();
  const auto all_of = [](const Process& process, bool use_it) {
    const Result<QueryAnswer> answer =
        answer_query(*process, {.text = "alpha common", .use_encoder = use_it});
    expect(answer);
    Lines lines;
    for (const Hit& hit : answer->hits) {
      lines.push_back(fmt::format("{} {} {} {}", hit.entry.id, hit.relevance, hit.components.text,
                                  hit.snippet));
    }
    return lines;
  };
  const Lines words = all_of(memory.open_with(), false);
  CHECK(all_of(memory.open_with(), true) != words);
  memory.encoder->before_calls([](std::size_t) { return Status(kFails); });
  CHECK(all_of(memory.open_with(), true) == words);
  const Process process = memory.open_with();
  CHECK(answer_query(*process, {.text = "alpha"})->encoder.failed);
}

TEST_CASE("a full disk takes no vector and no entry") {
  VectorsMemory memory;
  memory.add_many("s1", 300);
  memory.seal();
  for (const std::size_t nth : {1U, 2U, 3U, 4U}) {
    for (const bool is_short : {false, true}) {
      CAPTURE(nth);
      CAPTURE(is_short);
      for (const std::string& name : memory.vector_files()) {
        expect(memory.disk.remove("index/" + name));
      }
      const Process process = memory.open_with();
      const Fault fault{.operation = Operation::kWriteAt, .nth = nth, .path_part = ".vec"};
      const Fault full{.operation = Operation::kWriteAt,
                       .nth = is_short ? nth + 1 : nth,
                       .error_number = kFull,
                       .from_then_on = true,
                       .path_part = ".vec"};
      if (is_short) {
        process.files->shorten(fault, 100);
      }
      process.files->fail(full);
      const Result<Encoded> done = memory.encode(process);
      REQUIRE_FALSE(done);
      CHECK(done.error().code == ErrorCode::E_STORAGE_FULL);
      const std::size_t kept = memory.vectors_in_use();
      CHECK(memory.count().waiting == kFirst + 300 - kept);
      CHECK((nth <= 2 || kept > 0));
      memory.check();
      process.files->heal();
      expect(memory.encode(process));
      CHECK(memory.vectors_in_use() == kFirst + 300);
      CHECK(memory.vectors_in_use(process) == kFirst + 300);
    }
  }
}

TEST_CASE("only one process encodes, and the other one says so") {
  VectorsMemory memory;
  memory.seal();
  const Process other = memory.open_with();
  int looks = 0;
  memory.encoder->before_calls([&](std::size_t) {
    const Result<Encoded> done = memory.encode(other);
    expect(done);
    CHECK(done->is_elsewhere);
    CHECK(done->encoded == 0);
    CHECK(done->waiting == kFirst);
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
  memory.seal();
  std::vector<std::pair<std::string, std::function<void()>>> works = {
      {"a new segment",
       [&] {
         memory.add(*memory.open(), "s3", "new", "a new one");
         memory.seal();
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
      memory.seal();
      memory.encode_all();
      memory.vectors_in_use(process);
      memory.check();
    }
  }
}

TEST_CASE("sensitive entries are encoded only where the config says so") {
  VectorsMemory memory;
  memory.add_sensitive("s2", "secret", fmt::format("{} is close to a secret", kDoomed));
  memory.seal();
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
    memory.seal();
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
  memory.seal();
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

TEST_CASE("a server sees each block that another process encodes") {
  VectorsMemory memory;
  memory.disk.let_times_be_set();
  memory.add_many("s1", 600);
  memory.seal();
  const Process server = memory.open_with();
  const Process other = memory.open_with();
  std::uint64_t encoded = 0;
  EncodeWish wish;
  wish.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    CHECK(total == kFirst + 600);
    CHECK(done > encoded);
    encoded = done;
    CHECK(memory.vectors_in_use(server) == done);
  };
  expect(memory.encode(other, wish));
  CHECK(encoded == kFirst + 600);
}

}  // namespace bmad_mem::test::root_index
