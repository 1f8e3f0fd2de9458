// vectors_files_test.cpp - whatever lies in the place of vectors, entries have their own or none.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/little_endian.hpp"
#include "search/vectors_memory.hpp"

namespace bmad_mem::test::root_index {

namespace {

constexpr std::size_t kHeaderSize = 64;
constexpr std::size_t kHashAt = 48;  // Of the header.
constexpr std::size_t kEntries = 12 + 300;

/// Three blocks, all encoded, in one file.
class FullMemory : public VectorsMemory {
 public:
  FullMemory() {
    add_many("s1", 300);
    flush();
    encode_all();
    REQUIRE(vector_files().size() == 1);
    path = "index/" + vector_files().front();
    bytes = disk.read(path);
    REQUIRE(vectors_in_use() == kEntries);
  }

  /// Puts `other` in the place of the file, and says how many vectors are in use then; questions
  /// have to be answered, and what is missing can be encoded again.
  std::size_t used_with(const std::string& other) {
    disk.write(path, other);
    const Process process = open_with();
    const std::size_t used = vectors_in_use(process);
    ask(process, "alphabet common");
    return used;
  }
  void check_mended() {
    const Process process = open_with();
    expect(encode(process));
    CHECK(vectors_in_use(process) == kEntries);
    CHECK(vectors_in_use() == kEntries);
    CHECK(disk.read(path) == bytes);
  }

  std::string path;
  std::string bytes;
};

/// With the hash of a header that says what it says.
std::string hashed(std::string bytes) {
  std::string hash;
  put_little(xxh3(std::string_view(bytes).substr(0, kHashAt)), hash);
  return bytes.replace(kHashAt, hash.size(), hash);
}

}  // namespace

TEST_CASE("a changed header is one of no vectors") {
  FullMemory memory;
  for (std::size_t at = 0; at < kHeaderSize; ++at) {
    CAPTURE(at);
    std::string other = memory.bytes;
    other[at] = static_cast<char>(other[at] ^ 0x41);
    CHECK(memory.used_with(other) == 0);
  }
  memory.check_mended();
}

TEST_CASE("a header that lies is not believed") {
  FullMemory memory;
  for (const std::uint32_t dimension : {0U, 1U, 65U, 4096U, 4097U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    CAPTURE(dimension);
    std::string number;
    put_little(dimension, number);
    CHECK(memory.used_with(hashed(std::string(memory.bytes).replace(20, 4, number))) == 0);
  }
  for (const std::size_t at : {16U, 32U, 40U}) {  // The version, the segment, its entries.
    CAPTURE(at);
    std::string other = memory.bytes;
    other[at] = static_cast<char>(other[at] + 1);
    CHECK(memory.used_with(hashed(other)) == 0);
  }
  std::string of_other = memory.bytes;
  of_other[24] = static_cast<char>(of_other[24] + 1);
  CHECK(memory.used_with(hashed(of_other)) == 0);
  memory.check_mended();
}

TEST_CASE("a changed byte costs the vectors of its block") {
  FullMemory memory;
  const std::size_t block = kVectorBlock * packed_size(64) + 8;
  for (std::size_t at = kHeaderSize; at < memory.bytes.size(); at += 331) {
    CAPTURE(at);
    const std::size_t which = (at - kHeaderSize) / block;
    std::string other = memory.bytes;
    other[at] = static_cast<char>(other[at] ^ 4);
    CHECK(memory.used_with(other) ==
          kEntries - (which == 2 ? kEntries - 2 * kVectorBlock : kVectorBlock));
  }
  memory.check_mended();
}

TEST_CASE("a block that was never written is one without vectors") {
  FullMemory memory;
  const std::size_t block = kVectorBlock * packed_size(64) + 8;
  std::string other = memory.bytes;
  other.replace(kHeaderSize + block, block, block, '\0');
  CHECK(memory.used_with(other) == kEntries - kVectorBlock);
  memory.check_mended();
}

TEST_CASE("blocks in each other's place are not those that were written") {
  FullMemory memory;
  const std::size_t block = kVectorBlock * packed_size(64) + 8;
  std::string other = memory.bytes;
  other.replace(kHeaderSize, block, memory.bytes.substr(kHeaderSize + block, block));
  CHECK(memory.used_with(other) == kEntries - kVectorBlock);
  memory.check_mended();
}

TEST_CASE("a file of another size is one of no vectors") {
  FullMemory memory;
  const std::size_t size = memory.bytes.size();
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64},
                                std::size_t{65}, size / 2, size - 1}) {
    CAPTURE(cut);
    CHECK(memory.used_with(memory.bytes.substr(0, cut)) == 0);
  }
  CHECK(memory.used_with(memory.bytes + "x") == 0);
  CHECK(memory.used_with(memory.bytes + memory.bytes) == 0);
  CHECK(memory.used_with("garbage") == 0);
  memory.check_mended();
}

TEST_CASE("the file of another segment is one of no vectors") {
  FullMemory memory;
  VectorsMemory other;
  other.encoder = memory.encoder;
  other.add_many("s1", 300, "else");
  other.flush();
  other.encode_all();
  CHECK(memory.used_with(other.disk.read("index/" + other.vector_files().front())) == 0);
  CHECK(memory.used_with(memory.disk.read("index/" + memory.segment_files().front())) == 0);
  memory.check_mended();
}

TEST_CASE("a file that changes while it is open is looked at again") {
  FullMemory memory;
  const Process server = memory.open_with();
  CHECK(memory.vectors_in_use(server) == kEntries);
  memory.disk.write(memory.path, "garbage");
  CHECK(memory.vectors_in_use(server) == 0);
  memory.disk.write(memory.path, memory.bytes);
  CHECK(memory.vectors_in_use(server) == kEntries);
  expect(memory.disk.remove(memory.path));
  CHECK(memory.vectors_in_use(server) == 0);
  memory.check_mended();
}

TEST_CASE("what is no file in the place of vectors is none") {
  FullMemory memory;
  expect(memory.disk.remove(memory.path));
  SUBCASE("a link, a FIFO or a device") {
    memory.disk.make_other(memory.path);
    CHECK(memory.vectors_in_use() == 0);
    memory.check_mended();
  }
  SUBCASE("a folder") {
    memory.disk.make_folders(memory.path);
    CHECK(memory.vectors_in_use() == 0);
    const Result<Encoded> done = memory.encode(memory.open_with());
    REQUIRE_FALSE(done);
    CHECK(done.error().path.contains(memory.path));
    memory.check();
    // Segments come and go all the same.
    memory.add(*memory.open(), "s1", "new", "a new one");
    memory.flush();
    memory.check_tidy();
  }
  SUBCASE("a folder where vectors are to be carried") {
    memory.disk.write(memory.path, memory.bytes);
    for (int i = 1; i < 9; ++i) {
      memory.disk.make_folders(fmt::format("index/{}.vec/x", i + 1));
    }
    memory.add(*memory.open(), "s1", "new", "a new one");
    memory.flush();
    memory.vectors_in_use();
    memory.check();
  }
}

TEST_CASE("what can't be read costs vectors and no answer") {
  FullMemory memory;
  for (const Operation operation :
       {Operation::kOpen, Operation::kReadAt, Operation::kFileInfo, Operation::kInfo}) {
    const Process process = memory.open_with();
    process.files->fail({.operation = operation, .from_then_on = true, .path_part = ".vec"});
    CHECK(memory.vectors_in_use(process) == 0);
    VectorsMemory::ask(process, "alphabet common");
    process.files->heal();
  }
  for (const Operation operation : {Operation::kOpen, Operation::kWriteAt, Operation::kTruncate,
                                    Operation::kFileInfo, Operation::kRemove}) {
    CAPTURE(operation_name(operation));
    expect(memory.disk.remove(memory.path));
    memory.disk.write(memory.path, "garbage");
    const Process process = memory.open_with();
    process.files->fail({.operation = operation, .from_then_on = true, .path_part = ".vec"});
    CHECK_FALSE(memory.encode(process));
    process.files->heal();
    memory.check_mended();
  }
}

TEST_CASE("vectors without their segment go with the next that tidies") {
  FullMemory memory;
  memory.disk.write("index/77.vec", memory.bytes);
  memory.disk.write("index/not-ours.vec", "x");
  expect(memory.open().store->root_index->tidy());
  CHECK_FALSE(memory.disk.info("index/77.vec"));
  CHECK(memory.disk.info("index/not-ours.vec"));
  CHECK(memory.vectors_in_use() == kEntries);
}

TEST_CASE("a file in which nothing waits says so, and who encodes looks all the same") {
  FullMemory memory;
  const auto wants = [&] { return memory.open().store->root_index->wants_vectors(); };
  const auto damaged = [](std::string bytes, std::size_t at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    return bytes;
  };
  CHECK_FALSE(wants());
  memory.disk.write(memory.path, damaged(memory.bytes, kHeaderSize + 5));
  CHECK(wants());
  memory.disk.write(memory.path, memory.bytes);
  memory.encode_all();
  const std::string marked = memory.disk.read(memory.path);
  CHECK(marked.substr(0, 56) == memory.bytes.substr(0, 56));
  CHECK(marked.substr(56, 8) != memory.bytes.substr(56, 8));
  CHECK(marked.substr(64) == memory.bytes.substr(64));
  CHECK(memory.vectors_in_use() == kEntries);
  memory.disk.write(memory.path, damaged(marked, kHeaderSize + 5));
  CHECK_FALSE(wants());
  memory.encode_all();
  CHECK(memory.vectors_in_use() == kEntries);
  memory.disk.write(memory.path, damaged(marked, 60));
  CHECK(wants());
  memory.add(*memory.open(), "s1", "one", "one more");
  memory.flush();
  CHECK(wants());
}

}  // namespace bmad_mem::test::root_index
