// vectors_failures_test.cpp - what fails while entries are encoded costs no vector that is there.
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "search/indexing.hpp"
#include "search/vectors_memory.hpp"

namespace bmad_mem::test::root_index {

namespace {

constexpr int kFull = 28;  // ENOSPC.

}  // namespace

TEST_CASE("what was encoded before the encoder failed is kept") {
  VectorsMemory memory;
  memory.add_many("s1", 300);
  memory.flush();
  memory.encoder->before_calls(
      [](std::size_t call) { return call >= 2 ? Status(kFails) : Status(); });
  const Result<Encoded> done = memory.encode(memory.open_with());
  REQUIRE_FALSE(done);
  CHECK(done.error().code == ErrorCode::E_STORAGE_IO);
  CHECK(memory.vectors_in_use() > 0);
  CHECK(memory.count().waiting > 0);
  CHECK(memory.encoder->calls() == 3);
  memory.encoder->before_calls({});
  memory.encode_all();
  CHECK(memory.encoder->texts().size() == kFirst + 300);
}

TEST_CASE("time that ends within the last millisecond is no failure of the encoder") {
  VectorsMemory memory;
  memory.flush();
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto deadline = now() + std::chrono::milliseconds(500);
  memory.encoder->before_calls([&](std::size_t) {
    while (now() < deadline - std::chrono::microseconds(900)) {
    }
    return Status(Error{.code = ErrorCode::E_QUERY_TIMEOUT, .message = "takes too long"});
  });
  const Result<Encoded> done = memory.encode(memory.open_with(), {.deadline = deadline});
  expect(done);
  CHECK(done->encoded == 0);
}

TEST_CASE("who has not much time does not wait for the index") {
  VectorsMemory memory;
  memory.flush();
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const Process process = memory.open_with();
  process.store->lock_timeout = std::chrono::seconds(60);
  const auto deadline = now() + std::chrono::milliseconds(200);
  FileLock lock(memory.disk, memory.clock, "index/.lock", "index/.lock.json");
  const Result<FileLock::Guard> taken = lock.acquire({.operation = "test"});
  expect(taken);
  const Result<Encoded> done = memory.encode(process, {.deadline = deadline});
  expect(done);
  CHECK(done->encoded == 0);
  CHECK(now() < deadline + std::chrono::seconds(20));
}

TEST_CASE("a text that the encoder refuses hinders no other one, and is not tried again") {
  VectorsMemory memory;
  memory.add_many("s1", 300);
  memory.flush();
  memory.encoder->refuse([](const std::string& text) { return text.contains("77many"); });
  const Result<Encoded> done = memory.encode(memory.open_with());
  expect(done);
  CHECK(done->refused == 3);
  CHECK(memory.vectors_in_use() == kFirst + 300);
  CHECK(memory.count().waiting == 0);
  memory.encoder->before_calls({});
  memory.encode_all();
  CHECK(memory.encoder->calls() == 0);
}

TEST_CASE("of a text that is too long for the encoder the beginning is encoded") {
  VectorsMemory memory;
  std::string text;
  for (int i = 0; text.size() < 3000; ++i) {
    text += fmt::format("{}word ", i);
  }
  memory.add(*memory.open(), "s2", "long", text);
  memory.flush();
  memory.encoder->refuse([](const std::string& each) { return each.size() > 1024; });
  CHECK(memory.encode_all().refused == 0);
  CHECK(memory.count().waiting == 0);
  CHECK(memory.index_files_with_vector("0word").size() == 1);
}

TEST_CASE("an encoder that refuses all entries ends the pass") {
  VectorsMemory memory;
  memory.add_many("s1", 600);
  memory.flush();
  memory.encoder->before_calls({});
  memory.encoder->refuse([](const std::string& text) { return text.contains("text"); });
  CHECK_FALSE(memory.encode(memory.open_with()));
  CHECK(memory.encoder->calls() < 500);
}

TEST_CASE("vectors of another size than the encoder had are not taken") {
  VectorsMemory memory;
  memory.add_many("s1", 300);
  memory.flush();
  memory.encoder->before_calls([&](std::size_t call) {
    memory.encoder->resize(call == 2 ? 32 : 64);
    return Status();
  });
  const Result<Encoded> done = memory.encode(memory.open_with());
  REQUIRE_FALSE(done);
  CHECK(done.error().code == ErrorCode::E_CONCURRENT_MOD);
  memory.encoder->before_calls({});
  memory.encoder->resize(64);
  memory.encode_all();
  // What was asked is answered in another size than the vectors now have.
  memory.encoder->resize(256);
  memory.encoder->before_calls([&](std::size_t) {
    memory.encoder->resize(64);
    return Status();
  });
  CHECK_FALSE(VectorsMemory::ask(memory.open_with(), "alphabet").took_part);
  CHECK(VectorsMemory::ask(memory.open_with(), "alphabet").took_part);
}

TEST_CASE("a log that can't be read is said, once all others are encoded") {
  VectorsMemory memory;
  memory.add_many("s1", 300);
  memory.flush();
  const Process process = memory.open_with();
  process.files->fail({.operation = Operation::kReadAt,
                       .error_number = 5,
                       .from_then_on = true,
                       .path_part = memory.log("s2")});
  const Result<Encoded> done = memory.encode(process);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == ErrorCode::E_STORAGE_IO);
  CHECK(memory.count().waiting == 4);
  process.files->heal();
  memory.encode_all();
}

TEST_CASE("an encoder that fails leaves the answer that words give") {
  VectorsMemory memory;
  memory.flush();
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
  memory.flush();
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

}  // namespace bmad_mem::test::root_index
