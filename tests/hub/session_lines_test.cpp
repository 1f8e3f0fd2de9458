#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/hash.hpp"
#include "hub/session_feed.hpp"
#include "store/layout.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::session_lines_test {
namespace {

std::vector<FeedLine> feed_of(std::string_view texts) {
  std::vector<FeedLine> feed;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    feed.push_back({.seq = i + 1, .hash = xxh3(texts.substr(i, 1))});
  }
  return feed;
}

/// A log with a line for each character, against a feed with a line for each.
class Log {
 public:
  Log(std::string_view texts, std::string_view feed) {
    REQUIRE(files_.make_directory("sessions"));
    REQUIRE(files_.make_directory("sessions/s1"));
    std::string bytes;
    for (const char text : texts) {
      bytes += std::string(1, text) + "\n";
    }
    auto file = files_.open("sessions/s1/facts.jsonl", OpenMode::kAppend).value();
    REQUIRE(file->write(bytes));
    lines = SessionLines::read(files_, "s1", EntryType::kFact, feed_of(feed)).value();
  }

  /// "a1 x- c3": each text with its seq.
  [[nodiscard]] std::string text() const {
    std::string out;
    for (const SessionLine& line : lines.lines()) {
      out += std::string(out.empty() ? "" : " ") + std::string(line.text) +
             (line.seq == 0 ? "-" : std::to_string(line.seq));
    }
    return out;
  }
  [[nodiscard]] std::string missing() const {
    std::string out;
    for (const FeedLine& line : lines.missing()) {
      out += std::to_string(line.seq);
    }
    return out;
  }

 private:
  MemoryFileSystem files_;

 public:
  SessionLines lines;
};

}  // namespace

TEST_CASE("lines find their place in the feed, and new ones have none") {
  CHECK(Log("abcd", "abcd").text() == "a1 b2 c3 d4");
  const Log log("axcdy", "abcd");
  CHECK(log.text() == "a1 x- c3 d4 y-");
  CHECK(log.missing() == "2");
  CHECK(Log("", "ab").missing() == "12");
  CHECK(Log("aab", "aba").text() == "a1 a3 b-");
  CHECK(Log("adbc", "abcd").text() == "a1 d4 b- c-");
}

TEST_CASE("a line of the feed stands behind the last one of it, in front of what is new") {
  Log log("abxy", "ab");
  CHECK_FALSE(log.lines.take(3, "c"));
  CHECK(log.text() == "a1 b2 c3 x- y-");
  CHECK(log.lines.is_rewritten());
  CHECK(log.lines.text_to_write() == "a\nb\nc\nx\ny\n");
  CHECK(log.lines.take(4, "y"));
  CHECK(log.text() == "a1 b2 c3 x- y4");
  CHECK(log.lines.take(5, "x"));
  CHECK(log.text() == "a1 b2 c3 y4 x5");
}

TEST_CASE("a log without new lines only grows") {
  Log log("ab", "ab");
  CHECK_FALSE(log.lines.take(3, "c"));
  CHECK_FALSE(log.lines.take(4, "a"));
  CHECK_FALSE(log.lines.is_rewritten());
  CHECK(log.lines.text_to_write() == "c\na\n");
  CHECK(log.lines.feed().size() == 4);
}

TEST_CASE("own lines that the hub took change no byte") {
  Log log("abxx", "ab");
  CHECK(log.lines.take(3, "x"));
  CHECK(log.lines.take(4, "x"));
  CHECK_FALSE(log.lines.is_changed());
  CHECK(log.text() == "a1 b2 x3 x4");
}

TEST_CASE("a line is replaced where it stands") {
  Log log("abc", "abc");
  CHECK(log.lines.replace(2, "z"));
  CHECK(log.text() == "a1 z2 c3");
  CHECK(log.lines.is_rewritten());
  CHECK_FALSE(log.lines.replace(7, "z"));
  Log own("azc", "abc");
  own.lines.adopt(2, "z");
  CHECK(own.text() == "a1 z2 c3");
  CHECK(own.missing().empty());
  CHECK_FALSE(own.lines.is_changed());
}

}  // namespace bmad_mem::test::session_lines_test
