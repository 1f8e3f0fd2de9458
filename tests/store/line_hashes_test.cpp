// line_hashes_test.cpp - what the logs held: comparing, keeping, and what a failed sync tells
// others.
#include "store/line_hashes.hpp"

#include <cerrno>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/hash.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/session_writer.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::line_hashes_test {
namespace {

using Lines = std::vector<std::uint32_t>;
using Differences = std::vector<LineDifference>;

const std::string kLog = "sessions/s1/facts.jsonl";

std::string line(int i) {
  return "{\"id\":\"fact-" + std::to_string(i) + "\",\"content\":\"x\"}\n";
}

/// One session, written to by as many processes as a test wants.
class Session {
 public:
  Session() { disk.make_folders(session_folder("s1")); }

  SessionWriter writer() {
    return {files,
            clock,
            {.session_id = "s1",
             .log_files = {"facts.jsonl"},
             .lock_timeout = std::chrono::milliseconds(50),
             .agent_id = "architect"}};
  }

  static Status add(SessionWriter& writer, std::string_view lines) {
    AppendLog::Written written;
    {
      BMAD_TRY_ASSIGN(const FileLock::Guard guard, writer.lock("add"));
      BMAD_TRY_ASSIGN(written, writer.append(guard, "facts.jsonl", lines));
    }
    return writer.settle("facts.jsonl", written);
  }
  /// As a process of its own that adds one line.
  Status add(std::string_view lines) {
    SessionWriter process = writer();
    return add(process, lines);
  }

  LogHashes recorded() { return load_line_hashes(files, "s1").value().logs["facts.jsonl"]; }
  Differences differences() {
    const LogHashes line_hashes = recorded();
    const std::unique_ptr<File> log = std::move(files.open(kLog, OpenMode::kRead).value());
    return compare_lines(line_hashes.lines, hash_lines(*log, 0, log->info()->size).value());
  }
  bool has(const std::string& text) { return disk.read(kLog).find(text) != std::string::npos; }

  MemoryFileSystem disk;
  FaultyFileSystem files{disk};
  ManualClock clock;
};

LineDifference at(LineFate fate, std::uint64_t line, std::uint64_t count = 1) {
  return {.change = fate, .line = line, .count = count};
}

}  // namespace

TEST_CASE("lines that are as they were, and new ones behind them, are no difference") {
  CHECK(compare_lines(Lines{}, Lines{}).empty());
  CHECK(compare_lines(Lines{}, Lines{1, 2}).empty());
  CHECK(compare_lines(Lines{1, 2, 3}, Lines{1, 2, 3}).empty());
  CHECK(compare_lines(Lines{1, 2, 3}, Lines{1, 2, 3, 4, 5}).empty());
}

TEST_CASE("a changed, lost, added, doubled or moved line is named") {
  const Lines recorded{1, 2, 3, 4, 5};
  CHECK(compare_lines(recorded, Lines{1, 2, 9, 4, 5}) == Differences{at(LineFate::kChanged, 3)});
  CHECK(compare_lines(recorded, Lines{9, 2, 3, 4, 5}) == Differences{at(LineFate::kChanged, 1)});
  CHECK(compare_lines(recorded, Lines{1, 2, 3, 4, 9}) == Differences{at(LineFate::kChanged, 5)});
  CHECK(compare_lines(recorded, Lines{1, 2, 4, 5}) == Differences{at(LineFate::kLost, 2)});
  CHECK(compare_lines(recorded, Lines{1, 2, 3}) == Differences{at(LineFate::kLost, 3, 2)});
  CHECK(compare_lines(recorded, Lines{}) == Differences{at(LineFate::kLost, 0, 5)});
  CHECK(compare_lines(recorded, Lines{1, 2, 9, 3, 4, 5}) == Differences{at(LineFate::kAdded, 3)});
  CHECK(compare_lines(recorded, Lines{1, 2, 2, 3, 4, 5}) == Differences{at(LineFate::kDoubled, 3)});
  CHECK(compare_lines(recorded, Lines{1, 2, 3, 4, 5, 5}).empty());  // Behind the record.
  const Differences swapped = compare_lines(recorded, Lines{1, 4, 3, 2, 5});
  REQUIRE_FALSE(swapped.empty());
  CHECK(swapped.front().change == LineFate::kMoved);
  CHECK(compare_lines(recorded, Lines{1, 8, 9, 4, 5, 6}) ==
        Differences{at(LineFate::kChanged, 2, 2)});
}

TEST_CASE("lines behind the last recorded one are counted") {
  CHECK(count_new_lines(Lines{1, 2}, Lines{1, 2}) == 0);
  CHECK(count_new_lines(Lines{1, 2}, Lines{9, 1, 2, 3, 4}) == 2);
  CHECK(count_new_lines(Lines{1, 2}, Lines{1, 8, 3}) == 1);
  CHECK(count_new_lines(Lines{1, 2}, Lines{7}) == 0);
  CHECK(count_new_lines(Lines{1, 2, 3}, Lines{2, 3, 5, 1, 6}) == 1);
}

TEST_CASE("a change and a loss far apart are two differences") {
  CHECK(compare_lines(Lines{1, 2, 3, 4, 5, 6}, Lines{1, 9, 3, 4, 6, 7}) ==
        Differences{at(LineFate::kChanged, 2), at(LineFate::kLost, 4)});
}

TEST_CASE("a short log is recorded with each line, by whatever process") {
  Session session;
  for (int i = 0; i < 8; ++i) {
    REQUIRE(session.add(line(i)).has_value());
    CHECK(session.recorded().lines.size() == static_cast<std::size_t>(i) + 1);
  }
  CHECK(session.recorded().bytes == session.disk.read(kLog).size());
  CHECK(session.differences().empty());
}

TEST_CASE("a long log is recorded an eighth at a time") {
  Session session;
  SessionWriter writer = session.writer();
  for (int i = 0; i < 400; ++i) {
    REQUIRE(Session::add(writer, line(i)).has_value());
  }
  const std::uint64_t size = session.disk.read(kLog).size();
  CHECK(session.recorded().bytes <= size);
  CHECK(size - session.recorded().bytes <= size / 8);
  std::size_t renames = 0;
  for (const std::string& call : session.files.log()) {
    renames += call.starts_with("rename sessions/s1/.lock.seal.json.tmp") ? 1 : 0;
  }
  CHECK(renames < 60);
  CHECK(session.differences().empty());
}

TEST_CASE("every flipped bit of a recorded log is found") {
  Session session;
  SessionWriter writer = session.writer();
  for (int i = 0; i < 100; ++i) {
    REQUIRE(Session::add(writer, line(i)).has_value());
  }
  const LogHashes line_hashes = session.recorded();
  const std::string good = session.disk.read(kLog);
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same flips in each run.
  for (int i = 0; i < 2000; ++i) {
    std::string flipped = good;
    const std::size_t bit = random() % (line_hashes.bytes * 8);
    flipped[bit / 8] =
        static_cast<char>(static_cast<unsigned char>(flipped[bit / 8]) ^ (1U << (bit % 8)));
    session.disk.write(kLog, flipped);
    CHECK_FALSE(session.differences().empty());
  }
}

TEST_CASE("an edit by hand is still named after the next append") {
  Session session;
  for (int i = 0; i < 5; ++i) {
    REQUIRE(session.add(line(i)).has_value());
  }
  std::string text = session.disk.read(kLog);
  text.replace(text.find("fact-2"), 6, "fact-9");
  SUBCASE("in place") { session.disk.write(kLog, text); }
  SUBCASE("by rename") { REQUIRE(replace_file(session.disk, kLog, text).has_value()); }
  for (int i = 5; i < 9; ++i) {
    REQUIRE(session.add(line(i)).has_value());
  }
  CHECK(session.differences() == Differences{at(LineFate::kChanged, 3)});
  CHECK(session.recorded().replaced_lines == 5);
}

TEST_CASE("a copy of the same lines in another file is no difference") {
  Session session;
  for (int i = 0; i < 5; ++i) {
    REQUIRE(session.add(line(i)).has_value());
  }
  REQUIRE(replace_file(session.disk, kLog, session.disk.read(kLog)).has_value());
  REQUIRE(session.add(line(5)).has_value());
  CHECK(session.differences().empty());
  CHECK(session.recorded().replaced_lines == 0);
  CHECK(session.recorded().lines.size() == 6);
}

TEST_CASE("lines in the place of others are recorded with them") {
  Session session;
  for (int i = 0; i < 4; ++i) {
    REQUIRE(session.add(line(i)).has_value());
  }
  const std::uint64_t size = line(0).size();
  const ByteRange gaps[] = {{.begin = size, .end = 2 * size}, {.begin = 3 * size, .end = 4 * size}};
  REQUIRE(rewrite_log_without(session.files, kLog, gaps, line(7) + line(8)).has_value());
  CHECK(read_file(session.files, kLog, 1U << 20U).value() == line(0) + line(7) + line(8) + line(2));
  CHECK(session.recorded().lines.size() == 4);
  CHECK(session.differences().empty());
}

TEST_CASE(
    "a rewrite of ours is recorded, and a crash in it leaves no line_hashes of the old lines") {
  Session session;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(session.add(line(i)).has_value());
  }
  const ByteRange second{.begin = line(0).size(), .end = line(0).size() + line(1).size()};
  session.files.clear_log();
  REQUIRE(rewrite_log_without(session.files, kLog, std::span(&second, 1)).has_value());
  CHECK(session.recorded().lines.size() == 2);
  CHECK(session.differences().empty());
  const std::vector<std::string> calls = session.files.log();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Session other;
    for (int k = 0; k < 3; ++k) {
      REQUIRE(other.add(line(k)).has_value());
    }
    Fault fault = fault_at(calls, i);
    fault.from_then_on = true;  // As if killed there.
    other.files.fail(fault);
    static_cast<void>(rewrite_log_without(other.files, kLog, std::span(&second, 1)));
    other.files.heal();
    CAPTURE(calls[i]);
    CHECK(other.differences().empty());
  }
}

TEST_CASE("lines whose sync failed are left out by the next process, and those behind are kept") {
  Session session;
  SessionWriter slow = session.writer();
  REQUIRE(Session::add(slow, line(1)).has_value());
  session.files.fail({.operation = Operation::kSyncData, .path_part = "facts"});
  REQUIRE_FALSE(Session::add(slow, line(2)).has_value());
  CHECK(session.has("fact-2"));
  CHECK(load_line_hashes(session.files, "s1")->refused["facts.jsonl"].ranges.size() == 1);
  const std::uint64_t before = session.files.info(kLog)->inode;

  REQUIRE(session.add(line(3)).has_value());
  CHECK(session.disk.read(kLog) == line(1) + line(3));
  CHECK(session.files.info(kLog)->inode != before);  // New blocks.
  CHECK(session.disk.read(quarantine_path("s1")).find("fact-2") != std::string::npos);
  CHECK(load_line_hashes(session.files, "s1")->refused.empty());
  REQUIRE(Session::add(slow, line(4)).has_value());
  CHECK(session.disk.read(kLog) == line(1) + line(3) + line(4));
  CHECK(session.differences().empty());
}

TEST_CASE("a process that cannot copy a suspect log writes nothing behind the refused lines") {
  Session session;
  REQUIRE(session.add(line(1)).has_value());
  session.files.fail({.operation = Operation::kSyncData, .path_part = "facts"});
  REQUIRE_FALSE(session.add(line(2)).has_value());
  session.files.fail({.operation = Operation::kOpen,
                      .error_number = ENOSPC,
                      .from_then_on = true,
                      .path_part = "facts.jsonl.tmp"});
  CHECK_FALSE(session.add(line(3)).has_value());
  CHECK_FALSE(session.has("fact-3"));
  session.files.heal();
  REQUIRE(session.add(line(4)).has_value());
  CHECK(session.disk.read(kLog) == line(1) + line(4));
}

TEST_CASE("refused lines leave a log before another process rewrites it") {
  Session session;
  REQUIRE(session.add(line(1)).has_value());
  session.files.fail({.operation = Operation::kSyncData, .path_part = "facts"});
  REQUIRE_FALSE(session.add(line(9)).has_value());
  session.files.heal();
  SessionWriter other = session.writer();
  {
    const Result<FileLock::Guard> guard = other.lock("delete");
    REQUIRE(guard.has_value());
    CHECK(session.disk.read(kLog) == line(1));
    REQUIRE(rewrite_log_without(session.files, kLog, {}).has_value());
  }
  REQUIRE(session.add(line(9)).has_value());
  CHECK(session.disk.read(kLog) == line(1) + line(9));
  CHECK(session.has("fact-9"));
}

TEST_CASE("a longer file with the same inode number is another one") {
  Session session;
  for (int i = 0; i < 5; ++i) {
    REQUIRE(session.add(line(i)).has_value());
  }
  const std::uint64_t inode = session.recorded().inode;
  // As git leaves it: removed and made again, and the number given out again.
  session.disk.write(kLog, line(0) + line(1) + line(12) + line(13) + line(14) + line(15));
  REQUIRE(session.add(line(20)).has_value());
  REQUIRE(session.recorded().inode == inode);
  CHECK(session.recorded().replaced_lines == 5);
  CHECK_FALSE(session.recorded().is_damaged);
  const std::unique_ptr<File> log = std::move(session.files.open(kLog, OpenMode::kRead).value());
  CHECK(session.recorded().lines.back() == hash_lines(*log, 0, log->info()->size).value().back());
}

TEST_CASE("a session with a long line_hashes is not recorded at each line of a short log") {
  Session session;
  std::string many;
  for (int i = 0; i < 2000; ++i) {
    many += line(i);
  }
  REQUIRE(session.add(many).has_value());
  const std::int64_t before = session.files.info(line_hashes_path("s1"))->mtime_ns;
  SessionWriter writer = session.writer();
  for (int i = 0; i < 3; ++i) {
    const Result<FileLock::Guard> guard = writer.lock("add");
    REQUIRE(guard.has_value());
    const Result<AppendLog::Written> written = writer.append(*guard, "events.jsonl", line(i));
    REQUIRE(written.has_value());
    CHECK_FALSE(written->are_hashes_due);
    REQUIRE(writer.settle(*guard, "events.jsonl", *written).has_value());
  }
  CHECK(session.files.info(line_hashes_path("s1"))->mtime_ns == before);
}

TEST_CASE("a session of a newer version is not locked for a change") {
  Session session;
  REQUIRE(session.add(line(1)).has_value());
  session.disk.write(manifest_path("s1"), R"({"version":"2.0","session_id":"s1"})");
  const Status added = session.add(line(2));
  REQUIRE_FALSE(added.has_value());
  CHECK(added.error().code == ErrorCode::E_NEWER_VERSION);
  CHECK(session.disk.read(kLog) == line(1));
}

TEST_CASE("a hostile line_hashes takes nothing out of a log") {
  Session session;
  REQUIRE(session.add(line(1)).has_value());
  REQUIRE(session.add(line(2)).has_value());
  const std::string log = session.disk.read(kLog);
  const std::uint64_t inode = session.files.info(kLog)->inode;
  const auto with_refused = [&](std::uint64_t of_inode, ByteRange range) {
    LineHashes line_hashes;
    line_hashes.refused["facts.jsonl"] = {.inode = of_inode,
                                          .ranges = {{.bytes = range, .xxh3 = 7}}};
    REQUIRE(save_line_hashes(session.disk, "s1", line_hashes).has_value());
  };
  SUBCASE("ranges of another file") { with_refused(inode + 1, {.begin = 0, .end = 99999}); }
  SUBCASE("ranges in the middle of lines") { with_refused(inode, {.begin = 3, .end = 9}); }
  SUBCASE("ranges behind the end") { with_refused(inode, {.begin = 5000, .end = 9000}); }
  SUBCASE("no line_hashes at all") {
    session.disk.write(line_hashes_path("s1"), "{\"version\":1,\"logs\":[[[");
  }
  SUBCASE("other kinds of values") {
    session.disk.write(
        line_hashes_path("s1"),
        R"({"version":1,"logs":{"facts.jsonl":7,"x":{"bytes":-1,"line_hashes":"zz"}},)"
        R"("refused":{"facts.jsonl":{"inode":"a","ranges":[[1],[2,"x"],7]}}})");
  }
  REQUIRE(session.add(line(3)).has_value());
  CHECK(session.disk.read(kLog) == log + line(3));
  CHECK(session.differences().empty());
}

TEST_CASE("what lies where bytes were refused stays when it is something else by now") {
  Session session;
  REQUIRE(session.add(line(1)).has_value());
  session.files.fail({.operation = Operation::kSyncData, .path_part = "facts"});
  REQUIRE_FALSE(session.add(line(2)).has_value());
  session.files.heal();
  session.disk.write(kLog, line(1) + line(7));  // The same file, as far as its inode tells.
  REQUIRE(session.add(line(3)).has_value());
  CHECK(session.disk.read(kLog) == line(1) + line(7) + line(3));
  CHECK(load_line_hashes(session.files, "s1")->refused.empty());
}

TEST_CASE("a line_hashes of a newer version stays as it is, and lines are taken as before") {
  Session session;
  REQUIRE(session.add(line(1)).has_value());
  session.disk.write(line_hashes_path("s1"), "{\"version\":2}");
  REQUIRE(session.add(line(2)).has_value());
  CHECK(session.disk.read(line_hashes_path("s1")) == "{\"version\":2}");
  CHECK(session.disk.read(kLog) == line(1) + line(2));
}

TEST_CASE("what differs before a rewrite of ours differs after it, and is damage still") {
  Session session;
  for (int i = 0; i < 4; ++i) {
    REQUIRE(session.add(line(i)).has_value());
  }
  const std::uint64_t size = line(0).size();
  std::string text = session.disk.read(kLog);
  SUBCASE("a changed line, and another one goes") {
    text.replace(text.find("fact-1"), 6, "fact-9");
    session.disk.write(kLog, text);
    const ByteRange third{.begin = 2 * size, .end = 3 * size};
    REQUIRE(rewrite_log_without(session.files, kLog, std::span(&third, 1)).has_value());
    CHECK(session.differences() == Differences{at(LineFate::kChanged, 2)});
  }
  SUBCASE("a changed line, and it goes itself") {
    text.replace(text.find("fact-1"), 6, "fact-9");
    session.disk.write(kLog, text);
    const ByteRange second{.begin = size, .end = 2 * size};
    REQUIRE(rewrite_log_without(session.files, kLog, std::span(&second, 1)).has_value());
    CHECK(session.differences().empty());
  }
  SUBCASE("a lost line, and another one goes") {
    text.erase(size, size);
    session.disk.write(kLog, text);
    const ByteRange second{.begin = size, .end = 2 * size};
    REQUIRE(rewrite_log_without(session.files, kLog, std::span(&second, 1)).has_value());
    CHECK(session.differences() == Differences{at(LineFate::kLost, 1)});
  }
  SUBCASE("a changed line, and others are written otherwise") {
    text.replace(text.find("fact-1"), 6, "fact-9");
    session.disk.write(kLog, text);
    text.replace(text.find("fact-3"), 6, "fact-X");
    REQUIRE(replace_log(session.files, kLog, text).has_value());
    CHECK(session.differences() == Differences{at(LineFate::kChanged, 2)});
  }
}

TEST_CASE("a rewrite of a log with a torn end line_hashes its whole lines") {
  Session session;
  REQUIRE(session.add(line(1)).has_value());
  session.disk.write(kLog, line(1) + line(2) + "{\"id\":\"fact-3");
  REQUIRE(rewrite_log_without(session.files, kLog, {}).has_value());
  REQUIRE(session.add(line(4)).has_value());
  CHECK_FALSE(session.recorded().is_damaged);
  CHECK(session.recorded().lines.size() == 3);
  CHECK(session.differences().empty());
}

TEST_CASE("a log that was cut is damage, also after the next append") {
  Session session;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(session.add(line(i)).has_value());
  }
  std::string text = session.disk.read(kLog);
  text.resize(text.size() - 5);
  session.disk.write(kLog, text);
  REQUIRE(session.add(line(3)).has_value());
  CHECK(session.recorded().is_damaged);
  CHECK_FALSE(session.differences().empty());
}

TEST_CASE("a line_hashes with a damaged hash is the line_hashes of no log") {
  Session session;
  REQUIRE(session.add(line(1)).has_value());
  std::string text = session.disk.read(line_hashes_path("s1"));
  const std::size_t at_hashes = text.find("line_hashes") + 15;
  text[at_hashes] = text[at_hashes] == '0' ? '1' : '0';
  session.disk.write(line_hashes_path("s1"), text);
  CHECK(load_line_hashes(session.files, "s1")->logs.empty());
}

TEST_CASE("a session whose line_hashes cannot be written takes lines as before") {
  Session session;
  const Fault no_encrypt = {.operation = Operation::kOpen,
                            .error_number = ENOSPC,
                            .from_then_on = true,
                            .path_part = ".lock.seal.json.tmp"};
  SUBCASE("from the start") {
    session.files.fail(no_encrypt);
    REQUIRE(session.add(line(1)).has_value());
  }
  SUBCASE("once the log is another file") {
    REQUIRE(session.add(line(0)).has_value());
    REQUIRE(replace_file(session.disk, kLog, line(1)).has_value());
    session.files.fail(no_encrypt);
  }
  SUBCASE("once refused lines have been left out") {
    REQUIRE(session.add(line(1)).has_value());
    session.files.fail({.operation = Operation::kSyncData, .path_part = "facts"});
    REQUIRE_FALSE(session.add(line(9)).has_value());
    session.files.heal();
    session.files.fail(no_encrypt);
  }
  REQUIRE(session.add(line(2)).has_value());
  REQUIRE(session.add(line(3)).has_value());
  CHECK(session.disk.read(kLog) == line(1) + line(2) + line(3));
}

TEST_CASE("lines of a process that could not line_hashes a changed log are ours") {
  Session session;
  REQUIRE(session.add(line(1)).has_value());
  REQUIRE(replace_file(session.disk, kLog, line(0) + line(1)).has_value());
  session.files.fail({.operation = Operation::kOpen,
                      .error_number = EIO,
                      .from_then_on = true,
                      .path_part = ".lock.seal.json.tmp"});
  REQUIRE(session.add(line(2)).has_value());
  session.files.heal();
  REQUIRE(session.add(line(3)).has_value());
  CHECK(session.differences() == Differences{at(LineFate::kAdded, 1)});
}

}  // namespace bmad_mem::test::line_hashes_test
