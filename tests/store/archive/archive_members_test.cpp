// archive_members_test.cpp - what is read of an archive by some of its members is what all of it
// says, or an error.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "store/gzip.hpp"
#include "store/session_archive.hpp"
#include "support/memory_file_system.hpp"
#include "tar_maker.hpp"

namespace bmad_mem::test::archive_members_test {
namespace {

constexpr const char* kPath = "archive/s1.tar.gz";
constexpr std::size_t kFull = kArchiveTextMax;

using Files = std::vector<ArchivedFile>;

/// Text that packs to about half.
std::string text_of(std::size_t size) {
  std::mt19937 random(static_cast<unsigned>(size));
  std::string text(size, '\0');
  std::ranges::generate(text, [&] { return static_cast<char>('a' + random() % 16); });
  return text;
}

std::string packed(const Files& files) {
  MemoryFileSystem disk;
  REQUIRE(rewrite_session_archive(disk, "s1", files));
  return disk.read(kPath);
}

/// A disk whose archive of session s1 is `packed`, read in ranges.
class Disk {
 public:
  explicit Disk(std::string_view packed) {
    files_.make_folders("archive");
    files_.write(kPath, packed);
    file_ = files_.open(kPath, OpenMode::kRead).value();
  }
  Result<Files> read_all() { return read_session_archive(files_, "s1"); }
  std::optional<ArchiveMembers> find(const ArchiveLimits& limits = {}) {
    return ArchiveMembers::find(*file_, limits).value();
  }
  /// Reads each member once.
  MemberTexts texts(const ArchiveMembers& members) {
    return [this, &members](std::size_t member) -> Result<std::shared_ptr<const std::string>> {
      std::shared_ptr<const std::string>& text = texts_[member];
      if (text == nullptr) {
        BMAD_TRY_ASSIGN(std::string read, members.read(*file_, member));
        text = std::make_shared<const std::string>(std::move(read));
      }
      return text;
    };
  }
  /// How many members were read.
  [[nodiscard]] std::size_t reads() const { return texts_.size(); }
  void forget() { texts_.clear(); }

 private:
  MemoryFileSystem files_;
  std::unique_ptr<File> file_;
  std::map<std::size_t, std::shared_ptr<const std::string>> texts_;
};

Result<std::string> range(const ArchiveMembers& members, const MemberTexts& texts,
                          std::uint64_t begin, std::uint64_t end) {
  std::string out;
  while (begin < end) {
    const std::size_t member = members.holding(begin);
    BMAD_TRY_ASSIGN(const std::shared_ptr<const std::string> text, texts(member));
    out += text->substr(begin - members.begin(member), end - begin);
    begin = members.begin(member) + text->size();
  }
  return out;
}

/// All files, each by its range.
Result<Files> read_ranges(Disk& disk, const ArchiveMembers& members) {
  const MemberTexts texts = disk.texts(members);
  BMAD_TRY_ASSIGN(const std::vector<PlacedFile> places, list_archive(members, "s1", texts));
  Files files;
  for (const PlacedFile& place : places) {
    BMAD_TRY_ASSIGN(std::string bytes,
                    range(members, texts, place.offset, place.offset + place.size));
    files.push_back({.name = place.name, .bytes = std::move(bytes), .mtime_s = place.mtime_s});
  }
  return files;
}

Files session(std::size_t size) {
  return {{.name = "manifest.json", .bytes = "{}\n", .mtime_s = 7},
          {.name = "conversation.jsonl", .bytes = text_of(size), .mtime_s = 8},
          {.name = "facts.jsonl", .bytes = text_of(size / 2), .mtime_s = 9},
          {.name = "summary.md", .bytes = "", .mtime_s = 10}};
}

/// Where the members of an archive of ours begin, and where the last one ends.
std::vector<std::size_t> boundaries(std::string_view packed) {
  std::vector<std::size_t> found = {0};
  while (found.back() < packed.size()) {
    found.push_back(found.back() + sized_member(packed.substr(found.back())).value());
  }
  return found;
}

}  // namespace

TEST_CASE("an archive is members of no more than 64 KiB, and its ranges say what all of it says") {
  const std::size_t sizes[] = {0, 1, 1000, kFull - 1, kFull, kFull + 1, 5 * kFull + 4711};
  for (const std::size_t size : sizes) {
    CAPTURE(size);
    const Files files = session(size);
    Disk disk(packed(files));
    CHECK(disk.read_all().value() == files);
    const std::optional<ArchiveMembers> members = disk.find();
    REQUIRE(members);
    CHECK(read_ranges(disk, *members).value() == files);
    for (std::size_t i = 0; i < members->count(); ++i) {
      CHECK(disk.texts(*members)(i).value()->size() <= kFull);
    }
  }
}

TEST_CASE("any session comes back by ranges") {
  CHECK(rc::check([] {
    Files files = {{.name = "manifest.json", .bytes = "{}"}};
    const auto sizes =
        *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 3 * kFull));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      files.push_back(
          {.name = "artifacts/a" + std::to_string(i) + ".md", .bytes = text_of(sizes[i])});
    }
    Disk disk(packed(files));
    const std::optional<ArchiveMembers> members = disk.find();
    RC_ASSERT(members.has_value());
    RC_ASSERT(read_ranges(disk, *members).value() == files);
  }));
}

TEST_CASE("a line costs the member that holds it, and no other file's members are read") {
  Disk disk(packed(session(20 * kFull)));
  const ArchiveMembers members = disk.find().value();
  CHECK(members.count() > 30);
  const std::vector<PlacedFile> places = list_archive(members, "s1", disk.texts(members)).value();
  CHECK(disk.reads() <= 4);  // Of headers and small files.
  const PlacedFile& log = places[1];
  for (const std::uint64_t at : {std::uint64_t{0}, 7 * kFull, log.size - 100}) {
    disk.forget();
    CHECK(range(members, disk.texts(members), log.offset + at, log.offset + at + 100).value() ==
          text_of(20 * kFull).substr(at, 100));
    CHECK(disk.reads() == 1);
  }
  disk.forget();
  CHECK(range(members, disk.texts(members), log.offset + kFull - 1, log.offset + kFull + 1)
            .has_value());
  CHECK(disk.reads() == 2);
}

TEST_CASE("many small files share members") {
  Files files = {{.name = "manifest.json", .bytes = "{}"}};
  for (int i = 0; i < 500; ++i) {
    files.push_back({.name = "artifacts/a" + std::to_string(i) + ".md", .bytes = text_of(100)});
  }
  Disk disk(packed(files));
  CHECK(disk.find()->count() < 50);
}

TEST_CASE("an archive that is cut anywhere near the end of a member is damaged") {
  const std::string whole = packed(session(3 * kFull));
  for (const std::size_t boundary : boundaries(whole)) {
    for (const std::size_t less : {0U, 1U, 4U, 8U, 9U, 30U}) {
      const std::size_t size = boundary - std::min(less, boundary);
      if (size == whole.size()) {
        continue;
      }
      CAPTURE(size);
      Disk disk(whole.substr(0, size));
      CHECK(disk.read_all().error().code == ErrorCode::E_STORAGE_CORRUPT);
      const std::optional<ArchiveMembers> members = disk.find();
      CHECK((!members || !read_ranges(disk, *members)));
    }
  }
}

TEST_CASE("a changed byte around the end of a member is found, or says nothing") {
  const Files files = session(3 * kFull);
  const std::string whole = packed(files);
  for (const std::size_t boundary : boundaries(whole)) {
    const std::size_t begin = boundary - std::min<std::size_t>(boundary, 12);
    for (std::size_t at = begin; at < std::min(boundary + 40, whole.size()); ++at) {
      CAPTURE(at);
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 0x55);
      Disk disk(changed);
      const Result<Files> all = disk.read_all();
      CHECK((!all || *all == files));
      const std::optional<ArchiveMembers> members = disk.find();
      const Result<Files> ranges = members ? read_ranges(disk, *members) : all;
      CHECK((!ranges || *ranges == files));
      CHECK((all || !ranges));  // Nothing is taken from what can't be restored.
    }
  }
}

TEST_CASE("random damage is found, or says nothing") {
  const Files files = session(2 * kFull);
  const std::string whole = packed(files);
  std::mt19937 random(4711);
  for (int i = 0; i < 300; ++i) {
    std::string changed = whole;
    const std::size_t at = random() % changed.size();
    const std::size_t size = 1 + random() % 300;
    switch (random() % 4) {
      case 0:
        changed.erase(at, size);
        break;
      case 1:
        changed.insert(at, size, 'x');
        break;
      case 2:
        changed.replace(at, std::min(size, changed.size() - at), whole, random() % whole.size(),
                        std::min(size, changed.size() - at));
        break;
      default:
        changed.resize(at);
    }
    CAPTURE(i);
    Disk disk(changed);
    const Result<Files> all = disk.read_all();
    CHECK((!all || *all == files));
    const std::optional<ArchiveMembers> members = disk.find();
    const Result<Files> ranges = members ? read_ranges(disk, *members) : all;
    CHECK((!ranges || *ranges == files));
  }
}

TEST_CASE("damage in one member is named, and the others are read") {
  std::string changed = packed(session(4 * kFull));
  const std::vector<std::size_t> begins = boundaries(changed);
  const std::size_t hit = begins[2] + 100;
  changed[hit] = static_cast<char>(changed[hit] ^ 1);
  Disk disk(changed);
  const std::string name =
      "the gzip member that starts at byte " + std::to_string(begins[2]) + ": ";
  CHECK(disk.read_all().error().message.find(name) != std::string::npos);
  const ArchiveMembers members = disk.find().value();
  const MemberTexts texts = disk.texts(members);
  for (std::size_t i = 0; i < members.count(); ++i) {
    CAPTURE(i);
    CHECK(texts(i).has_value() == (i != 2));
  }
  CHECK(texts(2).error().code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(texts(2).error().message.find(name) != std::string::npos);
}

TEST_CASE("what is not ours from end to end is for the reader of all") {
  const std::string tar = raw_member({.name = "s1/manifest.json", .bytes = "{}\n"}) + tar_end();
  const std::string ours = gzip_sized(tar).value();
  CHECK(Disk(ours).find());
  CHECK(!Disk(gzip(tar).value()).find());  // As version 0.1 wrote it.
  CHECK(!Disk(gzip_sized(tar.substr(0, 600)).value() + gzip(tar.substr(600)).value()).find());
  CHECK(!Disk(gzip(tar.substr(0, 600)).value() + gzip_sized(tar.substr(600)).value()).find());
  CHECK(!Disk(ours + "x").find());
  CHECK(!Disk(ours + gzip_sized("").value()).find());
  CHECK(!Disk(gzip_sized(std::string(kFull + 1, 'x')).value()).find());
  CHECK(!Disk("").find());
  CHECK(!Disk(ours.substr(0, kSizedHeaderSize)).find());
  CHECK(!Disk(ours).find({.bytes = ours.size() - 1}));
}

TEST_CASE("a member that is not as long as it says is damaged, for either reader") {
  const std::string tar = raw_member({.name = "s1/manifest.json", .bytes = "{}\n"}) + tar_end();
  const std::string one = gzip_sized(tar.substr(0, 700)).value();
  const std::string two = gzip_sized(tar.substr(700)).value();
  // The first claims both, and the text of the second.
  std::string both = one + two;
  for (std::size_t i = 0; i < 4; ++i) {
    both[kSizedHeaderSize - 4 + i] = static_cast<char>((one.size() + two.size()) >> (8 * i));
  }
  Disk disk(both);
  CHECK(disk.read_all().error().code == ErrorCode::E_STORAGE_CORRUPT);
  const ArchiveMembers members = disk.find().value();
  CHECK(members.count() == 1);
  CHECK(read_ranges(disk, members).error().code == ErrorCode::E_STORAGE_CORRUPT);
}

TEST_CASE("more than the limits is not ours") {
  const std::string zeros = gzip_sized(std::string(kFull, '\0')).value();
  std::string bomb;
  for (int i = 0; i < 300; ++i) {
    bomb += zeros;
  }
  Disk disk(bomb);
  CHECK(!disk.find());
  CHECK(disk.read_all().error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(disk.find({.ratio_free_bytes = 1U << 30U}));
}

TEST_CASE("the files are judged as those of a whole archive") {
  const RawMember rows[] = {
      {.name = "../facts.jsonl"},
      {.name = "s2/facts.jsonl"},
      {.name = "s1/artifacts/../facts.jsonl"},
      {.name = "s1/facts.jsonl", .type = '2', .link_target = "/etc/passwd"},
      {.name = "s1/manifest.json", .bytes = "again"},
      {.name = "s1/facts.jsonl", .bytes = "{}\n", .claimed_size = 2000},
      {.name = "s1/facts.jsonl", .bytes = "{}\n", .claimed_size = 077777777777ULL},
  };
  const std::string manifest = raw_member({.name = "s1/manifest.json", .bytes = "{}\n"});
  for (const RawMember& row : rows) {
    CAPTURE(row.name);
    Disk disk(gzip_sized(manifest + raw_member(row) + tar_end()).value());
    const ArchiveMembers members = disk.find().value();
    const Error error = read_ranges(disk, members).error();
    CHECK(error.code == ErrorCode::E_STORAGE_CORRUPT);
    CHECK(error.message == disk.read_all().error().message);
  }
  for (const std::string& tar : {manifest, manifest + tar_end() + manifest + tar_end()}) {
    Disk disk(gzip_sized(tar).value());
    CHECK(!read_ranges(disk, disk.find().value()));
  }
  Disk disk(gzip_sized(manifest + tar_end()).value());
  const ArchiveMembers members = disk.find().value();
  CHECK(list_archive(members, "s1", disk.texts(members), {.members = 0}).error().code ==
        ErrorCode::E_SIZE_LIMIT);
}

}  // namespace bmad_mem::test::archive_members_test
