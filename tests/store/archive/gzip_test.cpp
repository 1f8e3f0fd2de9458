#include "store/gzip.hpp"

#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace bmad_mem::test::gzip_test {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::string packed(std::string_view bytes) { return gzip(bytes).value(); }

}  // namespace

TEST_CASE("what was packed unpacks to the same bytes") {
  const std::string cases[] = {"", "a", std::string(5'000'000, 'x'), std::string("\0\xFF\n", 3)};
  for (const std::string& bytes : cases) {
    CAPTURE(bytes.size());
    CHECK(gunzip(packed(bytes), kNoLimit).value() == bytes);
  }
  CHECK(rc::check([](const std::string& bytes) {
    RC_ASSERT(gunzip(packed(bytes), kNoLimit).value() == bytes);
    RC_ASSERT(gunzip(packed(bytes), bytes.size()).value() == bytes);
  }));
}

TEST_CASE("equal bytes give equal members, with no time in them") {
  const std::string member = packed("text");
  CHECK(member == packed("text"));
  CHECK(member.substr(0, 8) == std::string("\x1F\x8B\x08\0\0\0\0\0", 8));
}

TEST_CASE("members that follow each other unpack one after the other") {
  CHECK(gunzip(packed("one ") + packed("") + packed("two"), kNoLimit).value() == "one two");
}

TEST_CASE("what says that it is too large is believed where it may be right") {
  const std::string large = packed(std::string(100'000, '\0'));
  CHECK(says_too_large(large, 99'999));
  CHECK(!says_too_large(large, 100'000));
  CHECK(gunzip(large, 99'999).error().message.contains("says that it unpacks to 100000 bytes"));
  // No member of this size unpacks to so much: it is cut short, or damaged.
  CHECK(!says_too_large(packed("text") + "\xFF\xFF\xFF\xFF", 10));
  CHECK(!says_too_large(gzip_sized(std::string(50'000, '\0')).value(), 10));
  CHECK(!says_too_large("", 0));
}

TEST_CASE("more than the limit is not unpacked") {
  const std::string bomb = packed(std::string(50'000'000, '\0'));
  CHECK(bomb.size() < 300'000);
  CHECK(gunzip(bomb, 1000).error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(gunzip(packed("12345"), 5).value() == "12345");
  CHECK(gunzip(packed("12345"), 4).error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(gunzip(packed("123") + packed("45"), 4).error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(gunzip(packed(""), 0).value().empty());
  CHECK(gunzip_whole(packed("12345"), 4).error().code == ErrorCode::E_SIZE_LIMIT);
}

TEST_CASE("a result takes no more memory than the limit allows") {
  const std::string text(1'000'000, 'x');
  CHECK(gunzip(packed(text), text.size()).value().capacity() == text.size());
}

TEST_CASE("what is cut short anywhere is refused") {
  const std::string whole = packed("a text of some length, not all of it the same");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const Result<std::string> cut = gunzip(std::string_view(whole).substr(0, size), kNoLimit);
    CHECK(cut.error().code == ErrorCode::E_STORAGE_CORRUPT);
  }
}

TEST_CASE("a changed bit gives the right bytes or an error") {
  const std::string text = "a text of some length, not all of it the same";
  const std::string whole = packed(text);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    CAPTURE(bit);
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    const Result<std::string> result = gunzip(changed, kNoLimit);
    CHECK((!result || *result == text));
    CHECK((result || result.error().code == ErrorCode::E_STORAGE_CORRUPT));
  }
}

TEST_CASE("damage is told with its place and reason") {
  const std::string first = packed("one");
  const Error behind = gunzip(first + "no gzip at all", kNoLimit).error();
  CHECK(behind.message == "is damaged in the gzip member that starts at byte " +
                              std::to_string(first.size()) + ": incorrect header check");
  const Error cut = gunzip(first + packed("two").substr(0, 12), kNoLimit).error();
  CHECK(cut.message == "ends in the middle of the gzip member that starts at byte " +
                           std::to_string(first.size()));
}

TEST_CASE("a torn last member is left out") {
  const std::string first = packed("one ");
  const std::string last = packed("two");
  for (std::size_t size = 0; size < last.size(); ++size) {
    CAPTURE(size);
    const WholeMembers cut = gunzip_whole(first + last.substr(0, size), kNoLimit).value();
    CHECK(cut.bytes == "one ");
    CHECK(cut.whole_size == first.size());
    // A power cut leaves NUL bytes where the file had grown and nothing was written yet.
    const std::string unwritten(last.size() - size, '\0');
    if (unwritten.size() >= 4) {
      const std::string filled = first + last.substr(0, size) + unwritten;
      CHECK(gunzip_whole(filled, kNoLimit).value().bytes == "one ");
      CHECK(gunzip_whole(filled, kNoLimit).value().whole_size == first.size());
    }
  }
  CHECK(gunzip_whole(first + last, kNoLimit).value().bytes == "one two");
  CHECK(gunzip_whole("", kNoLimit).value().whole_size == 0);
}

TEST_CASE("damage before the end is no torn member") {
  std::string damaged = packed("one") + packed("two");
  damaged[12] = static_cast<char>(damaged[12] ^ 1);
  CHECK(gunzip_whole(damaged, kNoLimit).error().code == ErrorCode::E_STORAGE_CORRUPT);
}

TEST_CASE("a sized member says how long it is, and is gzip all the same") {
  for (const std::size_t size : {0U, 1U, 100U, 70000U}) {
    CAPTURE(size);
    const std::string text(size, 'x');
    const std::string member = gzip_sized(text).value();
    CHECK(sized_member(member) == member.size());
    CHECK(member_text_size(member) == size);
    CHECK(gunzip_member(member, 0, size).value() == text);
    CHECK(gunzip(member + packed("y"), kNoLimit).value() == text + "y");
    CHECK(!gunzip_member(member, 0, size + 1));
    CHECK(!gunzip_member(member.substr(1), 0, size));
  }
  CHECK(!sized_member(packed("text")));
  CHECK(!sized_member(gzip_sized("text")->substr(0, kSizedHeaderSize - 1)));
  CHECK(!sized_member(""));
}

TEST_CASE("a sized member that is longer or shorter than it says is damaged") {
  for (const int more : {-1, 1, 16}) {
    std::string member = gzip_sized("text").value();
    member[kSizedHeaderSize - 4] = static_cast<char>(member[kSizedHeaderSize - 4] + more);
    const Error error = gunzip(member + packed("y"), kNoLimit).error();
    CHECK(error.code == ErrorCode::E_STORAGE_CORRUPT);
    CHECK(error.message.find("starts at byte 0: it is not as long") != std::string::npos);
  }
}

}  // namespace bmad_mem::test::gzip_test
