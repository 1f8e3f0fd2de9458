// hostile_archive_test.cpp - archives that were made to do harm, or came to it.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "store/gzip.hpp"
#include "store/session_archive.hpp"
#include "support/memory_file_system.hpp"
#include "tar_maker.hpp"

namespace bmad_mem::test::hostile_archive_test {
namespace {

constexpr const char* kPath = "archive/s1.tar.gz";

/// A disk whose archive of session s1 is `packed`.
class Disk {
 public:
  explicit Disk(std::string_view packed) {
    files_.make_folders("archive");
    files_.write(kPath, packed);
  }
  Result<std::vector<ArchivedFile>> read(const ArchiveLimits& limits = {}) {
    return read_session_archive(files_, "s1", limits);
  }

 private:
  MemoryFileSystem files_;
};

std::string packed_tar(const std::string& members) { return gzip(members + tar_end()).value(); }

std::string manifest() { return raw_member({.name = "s1/manifest.json", .bytes = "{}\n"}); }

}  // namespace

TEST_CASE("an archive that another program made is read") {
  const std::string tar = raw_member({.name = "s1/", .type = '5'}) +
                          raw_member({.name = "s1/facts.jsonl", .bytes = "{}\n"}) +
                          raw_member({.name = "s1/artifacts/", .type = '5'}) +
                          raw_member({.name = "s1/artifacts/a:1.md", .bytes = "# A"}) + manifest();
  const std::vector<ArchivedFile> members = Disk(packed_tar(tar)).read().value();
  CHECK(members == std::vector<ArchivedFile>{{.name = "facts.jsonl", .bytes = "{}\n"},
                                             {.name = "artifacts/a:1.md", .bytes = "# A"},
                                             {.name = "manifest.json", .bytes = "{}\n"}});
}

TEST_CASE("a member that is no file of the session is refused by its name") {
  const RawMember rows[] = {
      {.name = "../facts.jsonl"},
      {.name = "s1/../facts.jsonl"},
      {.name = "/s1/facts.jsonl"},
      {.name = "/etc/passwd"},
      {.name = "./s1/facts.jsonl"},
      {.name = "s1//facts.jsonl"},
      {.name = "s2/facts.jsonl"},
      {.name = "s1facts.jsonl"},
      {.name = "s1/.lock"},
      {.name = "s1/index.json"},
      {.name = "s1/run.sh"},
      {.name = "s1/facts.jsonl.tmp"},
      {.name = "s1/FACTS.JSONL"},
      {.name = "s1/artifacts/../facts.jsonl"},
      {.name = "s1/artifacts/.md"},
      {.name = "s1/artifacts/.hidden.md"},
      {.name = "s1/artifacts/a.txt"},
      {.name = "s1/artifacts/a/b.md"},
      {.name = "s1/artifacts"},
      {.name = "s1/facts.jsonl\x1B[2J"},
      {.name = "s1/f\xC3\xA4"},
      {.name = ""},
      {.name = "s1/facts.jsonl", .type = '1', .link_target = "s1/manifest.json"},
      {.name = "s1/facts.jsonl", .type = '2', .link_target = "/etc/passwd"},
      {.name = "s1/artifacts", .type = '2', .link_target = "/etc"},
      {.name = "s1/facts.jsonl", .type = '3'},
      {.name = "s1/facts.jsonl", .type = '4'},
      {.name = "s1/facts.jsonl", .type = '6'},
      {.name = "s1/facts.jsonl", .type = '5'},
      {.name = "s1/other/", .type = '5'},
      {.name = "../", .type = '5'},
      {.name = "s1/manifest.json", .bytes = "again"},
  };
  for (const RawMember& row : rows) {
    CAPTURE(row.name);
    CAPTURE(row.type);
    const auto result = Disk(packed_tar(manifest() + raw_member(row))).read();
    REQUIRE(!result);
    CHECK(result.error().code == ErrorCode::E_STORAGE_CORRUPT);
    CHECK(result.error().path.ends_with(kPath));
    CHECK(result.error().message.starts_with("member '"));
    CHECK(result.error().message.find('\x1B') == std::string::npos);
    CHECK(result.error().message.find("if you trust it") != std::string::npos);
  }
}

TEST_CASE("an archive without a manifest is no session's") {
  const auto result =
      Disk(packed_tar(raw_member({.name = "s1/facts.jsonl", .bytes = "{}\n"}))).read();
  CHECK(result.error().code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(result.error().message.find("s1/manifest.json") != std::string::npos);
}

TEST_CASE("a sparse file is refused before its holes are filled") {
  // GNU tar's old form: one piece of no bytes at the end of 8 GB.
  std::string member = raw_member({.name = "s1/facts.jsonl", .type = 'S'});
  member.replace(386, 24, "77777777777\00000000000000\0", 24);
  member.replace(483, 12, "77777777777\0", 12);
  member.replace(257, 8, "ustar  \0", 8);
  member.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : member) {
    sum += static_cast<unsigned char>(c);
  }
  member.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  const auto result = Disk(packed_tar(manifest() + member)).read();
  REQUIRE(!result);
  CHECK(result.error().code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(result.error().message.find("is a sparse file") != std::string::npos);
}

TEST_CASE("a member that claims to be larger than the archive is refused") {
  for (const std::uint64_t size : {2000ULL, 1ULL << 31U, 077777777777ULL}) {
    CAPTURE(size);
    const auto result = Disk(packed_tar(manifest() + raw_member({.name = "s1/facts.jsonl",
                                                                 .bytes = "{}\n",
                                                                 .claimed_size = size})))
                            .read();
    REQUIRE(!result);
    CHECK(result.error().code == ErrorCode::E_STORAGE_CORRUPT);
  }
}

TEST_CASE("a bomb of zeros is not unpacked") {
  // 1 GB in 1 MB: as many members as it takes, each of the same 64 MB.
  const std::string piece = gzip(std::string(64U << 20U, '\0')).value();
  std::string bomb =
      gzip(manifest() + raw_member({.name = "s1/facts.jsonl", .claimed_size = 1U << 30U})).value();
  for (int i = 0; i < 16; ++i) {
    bomb += piece;
  }
  const auto result = Disk(bomb).read();
  CHECK(result.error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(result.error().message.find("if you trust it") != std::string::npos);
}

TEST_CASE("a hundred thousand members are too many") {
  std::string tar = manifest();
  for (int i = 0; i < 100'000; ++i) {
    tar += raw_member({.name = fmt::format("s1/artifacts/a{}.md", i)});
  }
  const std::string packed = packed_tar(tar);
  CHECK(Disk(packed).read().error().code == ErrorCode::E_SIZE_LIMIT);
  const auto result = Disk(packed).read({.ratio_free_bytes = 256U << 20U});
  CHECK(result.error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(result.error().message.find("10000 members") != std::string::npos);
}

TEST_CASE("the limits are the caller's") {
  const std::string packed = packed_tar(
      manifest() + raw_member({.name = "s1/facts.jsonl", .bytes = std::string(5000, 'x')}));
  CHECK(Disk(packed).read());
  CHECK(Disk(packed).read({.members = 1}).error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(Disk(packed).read({.bytes = 5000}).error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(Disk(packed).read({.ratio = 2, .ratio_free_bytes = 100}).error().code ==
        ErrorCode::E_SIZE_LIMIT);
}

TEST_CASE("a tar without its end, or with something behind it, is refused") {
  const std::string no_mark = gzip(manifest()).value();
  CHECK(Disk(no_mark).read().error().message.starts_with("the tar has no end mark"));
  const std::string second = gzip(manifest() + tar_end() + manifest() + tar_end()).value();
  CHECK(Disk(second).read().error().code == ErrorCode::E_STORAGE_CORRUPT);
  for (const std::string& bytes : {std::string(), std::string("no tar"), tar_end()}) {
    CAPTURE(bytes.size());
    CHECK(Disk(gzip(bytes).value()).read().error().code == ErrorCode::E_STORAGE_CORRUPT);
  }
  CHECK(Disk(manifest() + tar_end()).read().error().code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(Disk("").read().error().code == ErrorCode::E_STORAGE_CORRUPT);
}

TEST_CASE("a tar cut short anywhere, and packed again, is refused") {
  const std::string tar =
      manifest() + raw_member({.name = "s1/facts.jsonl", .bytes = "{}\n"}) + tar_end();
  for (std::size_t size = 0; size < tar.size() - 512; size += 100) {
    CAPTURE(size);
    const auto result = Disk(gzip(std::string_view(tar).substr(0, size)).value()).read();
    REQUIRE(!result);
    CHECK(result.error().code == ErrorCode::E_STORAGE_CORRUPT);
  }
}

TEST_CASE("an archive cut short anywhere is refused, and a changed byte is noticed or harmless") {
  const std::string packed =
      packed_tar(manifest() + raw_member({.name = "s1/facts.jsonl", .bytes = "{\"id\":1}\n"}));
  const std::vector<ArchivedFile> whole = Disk(packed).read().value();
  for (std::size_t at = 0; at < packed.size(); ++at) {
    CAPTURE(at);
    const auto cut = Disk(packed.substr(0, at)).read();
    REQUIRE(!cut);
    CHECK(cut.error().code == ErrorCode::E_STORAGE_CORRUPT);
    for (const int change : {1, 0x80, 0xFF}) {
      std::string changed = packed;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const auto result = Disk(changed).read();
      CHECK((!result || *result == whole));
    }
  }
}

}  // namespace bmad_mem::test::hostile_archive_test
