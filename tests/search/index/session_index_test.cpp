// session_index_test.cpp - an index sees what the logs hold, whatever happened to them meanwhile.
#include "search/session_index.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "concurrency/child.hpp"
#include "search/index/index_fixture.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "support/faulty_file_system.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::session_index_test {
namespace {

SessionIndex::Options options() { return {.session_id = std::string(kSession)}; }

std::string facts(std::string_view first, std::string_view last, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string word(i == 0 ? first : i + 1 == count ? last : "middle");
    text += fact("f" + std::to_string(i), word).text + "\n";
  }
  return text;
}

const std::string kFacts = IndexedSession::log(EntryType::kFact);

/// Whether `index`, refreshed, says what the logs say. Asks again as the engine does when a log
/// changes under it.
std::string staleness(SessionIndex& index, FileSystem& files, const Clock& clock) {
  if (const Status done = index.refresh(); !done) {
    return done.error().to_string();
  }
  const Result<std::vector<std::string>> answer = told(index);
  return answer ? first_difference(*answer, told_from_logs(files, clock))
                : answer.error().to_string();
}
std::string staleness(SessionIndex& index, IndexedSession& session) {
  return staleness(index, session.files, session.clock);
}

/// A change to a session's logs, by somebody else.
struct Change {
  const char* name;
  std::function<void(IndexedSession&)> make;
};

const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      {"nothing", [](IndexedSession&) {}},
      {"an entry is added", [](IndexedSession& s) { s.add(fact("new", "fresh words")); }},
      {"a new version is added", [](IndexedSession& s) { s.add(fact("f1", "fresh words")); }},
      {"a new log appears", [](IndexedSession& s) { s.add(message("m1", "hello")); }},
      {"an empty log appears",
       [](IndexedSession& s) { s.files.write(IndexedSession::log(EntryType::kEvent), ""); }},
      {"a torn line is at the end",
       [](IndexedSession& s) { s.files.write(kFacts, s.files.read(kFacts) + R"({"id":"t)"); }},
      {"a hand edit in place, of the same size",
       [](IndexedSession& s) { s.files.write(kFacts, facts("xpple", "zebra", 9)); }},
      {"a hand edit of the last line, of the same size",
       [](IndexedSession& s) { s.files.write(kFacts, facts("apple", "zebrx", 9)); }},
      {"a hand edit that makes it longer",
       [](IndexedSession& s) { s.files.write(kFacts, facts("apples and pears", "zebra", 9)); }},
      {"it is replaced by another file of the same size",
       [](IndexedSession& s) {
         s.files.write("other", facts("mango", "zebra", 9));
         REQUIRE(s.files.rename("other", kFacts).has_value());
       }},
      {"it is replaced by a longer one that begins with other bytes",
       [](IndexedSession& s) {
         s.files.write("other", facts("mango", "zebra", 12));
         REQUIRE(s.files.rename("other", kFacts).has_value());
       }},
      {"it is replaced by the same bytes, as a checkout there and back does",
       [](IndexedSession& s) {
         s.files.write("other", s.files.read(kFacts));
         REQUIRE(s.files.rename("other", kFacts).has_value());
       }},
      {"it is touched", [](IndexedSession& s) { s.files.write(kFacts, s.files.read(kFacts)); }},
      {"it is shortened by a line",
       [](IndexedSession& s) { s.files.write(kFacts, facts("apple", "middle", 8)); }},
      {"it is emptied", [](IndexedSession& s) { s.files.write(kFacts, ""); }},
      {"it is deleted", [](IndexedSession& s) { REQUIRE(s.files.remove(kFacts).has_value()); }},
      {"compaction rewrites it without its first lines",
       [](IndexedSession& s) {
         const std::string bytes = s.files.read(kFacts);
         s.files.write("other", std::string_view(bytes).substr(bytes.find('\n') + 1));
         REQUIRE(s.files.rename("other", kFacts).has_value());
       }},
      {"compaction rewrites it, and it grows beyond its old size again",
       [](IndexedSession& s) {
         const std::string bytes = s.files.read(kFacts);
         s.files.write("other", std::string_view(bytes).substr(bytes.find('\n') + 1));
         REQUIRE(s.files.rename("other", kFacts).has_value());
         for (int i = 0; i < 5; ++i) {
           s.add(fact("g" + std::to_string(i), "grown"));
         }
       }},
      {"a blank line and a damaged one are added",
       [](IndexedSession& s) { s.files.write(kFacts, s.files.read(kFacts) + "\nnot json\n"); }},
  };
  return all;
}

}  // namespace

TEST_CASE("a refreshed index sees every change, cold or warm, just after a write or long after") {
  for (const bool long_after : {false, true}) {
    for (const bool has_segment : {false, true}) {
      for (const Change& first : changes()) {
        for (const Change& second : changes()) {
          CAPTURE(long_after);
          CAPTURE(has_segment);
          CAPTURE(first.name);
          CAPTURE(second.name);
          IndexedSession session;
          session.files.write(kFacts, facts("apple", "zebra", 9));
          if (long_after) {
            session.let_time_pass();
          }
          if (has_segment) {
            session.flush();
          }
          const std::unique_ptr<SessionIndex> warm = session.index();
          CHECK(staleness(*warm, session) == "");
          first.make(session);
          CHECK(staleness(*warm, session) == "");
          if (!session.files.info(kFacts)) {
            continue;
          }
          second.make(session);
          CHECK(staleness(*warm, session) == "");
          CHECK(staleness(*session.index(), session) == "");
        }
      }
    }
  }
}

TEST_CASE("a torn line is taken in when its writer has finished it") {
  IndexedSession session;
  const std::string whole = fact("f1", "apple").text + "\n";
  for (const bool warm_before : {false, true}) {
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
      CAPTURE(cut);
      const std::string first = fact("f0", "zebra").text + "\n";
      session.files.write(kFacts, first + whole.substr(0, cut));
      if (warm_before) {
        session.let_time_pass();
      }
      session.flush();
      const std::unique_ptr<SessionIndex> index = session.index();
      REQUIRE(index->refresh().has_value());
      CHECK(index->entry_count() == 1);
      session.files.write(kFacts, first + whole);
      REQUIRE(index->refresh().has_value());
      CHECK(index->entry_count() == 2);
      CHECK(index->postings(PostingKind::kTerm, "appl")->size() == 1);
    }
  }
}

TEST_CASE("nothing is read of logs that did not change, unless they were written to just before") {
  IndexedSession session;
  session.files.write(kFacts, facts("apple", "zebra", 9));
  FaultyFileSystem files(session.files);
  SessionIndex index(files, session.clock, options());
  REQUIRE(index.refresh().has_value());
  files.clear_log();
  REQUIRE(index.refresh().has_value());
  CHECK(files.count(Operation::kReadAt) > 0);  // The hash decides.
  session.let_time_pass();
  REQUIRE(index.refresh().has_value());
  files.clear_log();
  REQUIRE(index.refresh().has_value());
  CHECK(files.count(Operation::kReadAt) == 0);
  CHECK(files.count(Operation::kOpen) == 0);
}

namespace {

/// A session on the real disk, where times can be put back.
struct RealSession {
  RealSession() { folder.make_folder(session_folder(kSession)); }
  void put_back_time(const std::string& name, const struct timespec& mtime) const {
    const struct timespec times[2] = {mtime, mtime};
    REQUIRE(utimensat(AT_FDCWD, folder.path(name).c_str(), times, 0) == 0);
  }
  [[nodiscard]] struct timespec time_of(const std::string& name) const {
    struct stat status{};
    REQUIRE(stat(folder.path(name).c_str(), &status) == 0);
    return status.st_mtim;
  }
  TemporaryDirectory folder;
  std::unique_ptr<FileSystem> files = std::move(open_posix_file_system(folder.path()).value());
};

}  // namespace

TEST_CASE("a hand edit of the same size right after a write is seen even with its time put back") {
  RealSession session;
  session.folder.write(kFacts, facts("apple", "zebra", 9));
  SessionIndex writer(*session.files, system_clock(), options());
  // As if the clock stood at the moment of the write, however slow this machine is.
  const struct timespec written = session.time_of(kFacts);
  ManualClock clock(Timestamp(std::chrono::milliseconds(
      static_cast<std::int64_t>(written.tv_sec) * 1000 + written.tv_nsec / 1'000'000)));
  SessionIndex warm(*session.files, clock, options());
  REQUIRE(warm.refresh().has_value());
  session.folder.write(kFacts, facts("mango", "zebra", 9));
  session.put_back_time(kFacts, written);
  CHECK(staleness(warm, *session.files, clock) == "");
  SessionIndex cold(*session.files, clock, options());
  CHECK(staleness(cold, *session.files, clock) == "");
}

TEST_CASE(
    "not seen: an edit in place, of the same size, long after the last write, whose time somebody "
    "puts back; its line is never shown as an answer, and a rebuild takes it in") {
  RealSession session;
  session.folder.write(kFacts, facts("apple", "zebra", 9));
  const struct timespec written = session.time_of(kFacts);
  ManualClock clock(Timestamp(
      std::chrono::milliseconds((static_cast<std::int64_t>(written.tv_sec) + 3600) * 1000)));
  SessionIndex index(*session.files, clock, options());
  REQUIRE(index.refresh().has_value());
  session.folder.write(kFacts, facts("mango", "zebra", 9));
  session.put_back_time(kFacts, written);
  REQUIRE(index.refresh().has_value());
  CHECK(index.postings(PostingKind::kTerm, "mango")->empty());
  const std::vector<Posting> apple = index.postings(PostingKind::kTerm, "appl").value();
  REQUIRE(apple.size() == 1);
  const auto line = index.line(apple[0].ordinal);
  REQUIRE_FALSE(line.has_value());
  CHECK(line.error().code == ErrorCode::E_CONCURRENT_MOD);
  REQUIRE(index.rebuild().has_value());
  CHECK(index.postings(PostingKind::kTerm, "mango")->size() == 1);
}

TEST_CASE("a line is the entry that was indexed or E_CONCURRENT_MOD, never another one") {
  for (const bool has_segment : {false, true}) {
    for (const Change& change : changes()) {
      CAPTURE(has_segment);
      CAPTURE(change.name);
      IndexedSession session;
      session.files.write(kFacts, facts("apple", "zebra", 9));
      if (has_segment) {
        session.flush();
      }
      const std::unique_ptr<SessionIndex> index = session.index();
      REQUIRE(index->refresh().has_value());
      std::vector<std::string> before;
      for (Ordinal ordinal = 0; ordinal < index->entry_count(); ++ordinal) {
        before.push_back(index->line(ordinal).value().text);
      }
      CHECK(before.size() == 9);
      change.make(session);
      for (Ordinal ordinal = 0; ordinal < before.size(); ++ordinal) {
        const auto line = index->line(ordinal);
        if (line) {
          CHECK(line->text == before[ordinal]);
        } else {
          CHECK(line.error().code == ErrorCode::E_CONCURRENT_MOD);
        }
      }
    }
  }
}

TEST_CASE("lines and ids can be asked for right after a refresh, before anything else is loaded") {
  IndexedSession session;
  session.files.write(kFacts, facts("apple", "zebra", 9));
  session.add(message("f1", "hello"));
  session.flush();
  const std::unique_ptr<SessionIndex> first = session.index();
  REQUIRE(first->refresh().has_value());
  CHECK(first->part_find("f1")->size() == 2);
  CHECK(first->part_find("f")->empty());
  const std::unique_ptr<SessionIndex> second = session.index();
  REQUIRE(second->refresh().has_value());
  CHECK(second->line(9).value().number == 9);
}

TEST_CASE("a disk that fails while a log is taken in leaves nothing of it behind") {
  for (const bool has_segment : {false, true}) {
    for (const Operation operation : {Operation::kOpen, Operation::kReadAt, Operation::kInfo}) {
      for (std::size_t nth = 1; nth < 40; ++nth) {
        CAPTURE(has_segment);
        CAPTURE(operation_name(operation));
        CAPTURE(nth);
        IndexedSession session;
        RandomEntries random(8);
        for (int i = 0; i < 10; ++i) {
          session.add(random.next());
        }
        if (has_segment) {
          session.flush();
        }
        FaultyFileSystem files(session.files);
        SessionIndex::Options its = options();
        its.base = session.base();
        SessionIndex index(files, session.clock, its);
        if (nth % 2 == 0) {
          REQUIRE(index.refresh().has_value());
        }
        for (int i = 0; i < 12; ++i) {
          session.add(random.next());
        }
        files.fail({.operation = operation, .nth = nth, .path_part = ".jsonl"});
        static_cast<void>(index.refresh());
        files.heal();
        CHECK(staleness(index, session) == "");
      }
    }
  }
}

TEST_CASE("a log beyond one read that fails in its middle is not taken in twice") {
  IndexedSession session;
  session.files.write(kFacts, facts("apple", "zebra", 6000));
  FaultyFileSystem files(session.files);
  SessionIndex index(files, session.clock, options());
  files.fail({.operation = Operation::kReadAt, .nth = 2, .path_part = ".jsonl"});
  REQUIRE_FALSE(index.refresh().has_value());
  files.heal();
  REQUIRE(index.refresh().has_value());
  CHECK(index.entry_count() == 6000);
  files.fail({.operation = Operation::kReadAt, .nth = 2, .path_part = ".jsonl"});
  REQUIRE_FALSE(index.rebuild().has_value());
  files.heal();
  REQUIRE(index.refresh().has_value());
  CHECK(index.entry_count() == 6000);
}

TEST_CASE("what no segment knows is told, of an index kept warm, too") {
  IndexedSession session;
  session.files.write(kFacts, facts("apple", "zebra", 9));
  const std::unique_ptr<SessionIndex> index = session.index();
  REQUIRE(index->refresh().has_value());
  CHECK(index->unknown().entries == 9);
  CHECK(index->unknown().bytes == session.files.read(kFacts).size());
  session.flush();
  index->forget();
  REQUIRE(index->refresh().has_value());
  CHECK(index->unknown().entries == 0);
  CHECK(index->unknown().bytes == 0);
  const NewLine added = fact("new", "words");
  session.add(added);
  REQUIRE(index->refresh().has_value());
  CHECK(index->unknown().entries == 1);
  CHECK(index->unknown().bytes == added.text.size() + 1);
  REQUIRE(index->rebuild().has_value());
  CHECK(index->unknown().entries == 10);
}

TEST_CASE("a log that was rewritten is as its lines say, wherever they stand by now") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    IndexedSession session;
    RandomEntries random(seed);
    for (int i = 0; i < 60; ++i) {
      session.add(random.next());
    }
    session.flush();
    const std::unique_ptr<SessionIndex> warm = session.index();
    REQUIRE(warm->refresh().has_value());
    for (int round = 0; round < 4; ++round) {
      CAPTURE(round);
      for (const EntryType type : kEntryTypes) {
        if (!session.files.info(IndexedSession::log(type))) {
          continue;
        }
        std::vector<std::string> lines;
        std::istringstream log(session.files.read(IndexedSession::log(type)));
        for (std::string line; std::getline(log, line);) {
          lines.push_back(line);
        }
        for (int i = 0; i < 3 && lines.size() > 1; ++i) {
          const std::uint32_t from = random.below(static_cast<std::uint32_t>(lines.size()));
          const std::uint32_t to = random.below(static_cast<std::uint32_t>(lines.size()));
          switch (random.below(4)) {
            case 0:  // It goes.
              lines.erase(lines.begin() + from);
              break;
            case 1:  // It stands elsewhere, and an older version may be the newer one.
              std::swap(lines[from], lines[to]);
              break;
            case 2:  // It is doubled, as by a merge.
              lines.insert(lines.begin() + to, lines[from]);
              break;
            default:  // Another one comes in between.
              lines.insert(lines.begin() + to, lines[from]);
              lines[to].insert(lines[to].size() - 1, fmt::format(R"(,"x":"{}")", round));
          }
        }
        session.files.write(IndexedSession::log(type), fmt::format("{}\n", fmt::join(lines, "\n")));
      }
      session.add(random.next());
      CHECK(staleness(*warm, session) == "");
      CHECK(staleness(*session.index(), session) == "");
      if (round == 2) {
        session.flush();  // From what was moved.
        CHECK(staleness(*session.index(), session) == "");
      }
    }
  }
}

TEST_CASE("lines that a segment knows are not analyzed again when their log is rewritten") {
  IndexedSession session;
  session.files.write(kFacts, facts("running", "zebra", 9));
  session.flush();
  session.files.write(kFacts, fact("new", "running").text + "\n" + session.files.read(kFacts));
  // Of another language: what was known keeps the stems that it had.
  const std::unique_ptr<SessionIndex> index = session.index(kSession, "german");
  REQUIRE(index->refresh().has_value());
  CHECK(index->entry_count() == 10);
  CHECK(index->postings(PostingKind::kTerm, "run")->size() == 1);
  const std::vector<Posting> added = index->postings(PostingKind::kTerm, "running").value();
  REQUIRE(added.size() == 1);
  CHECK(added[0].ordinal == 0);
  REQUIRE(index->rebuild().has_value());
  CHECK(index->postings(PostingKind::kTerm, "running")->size() == 2);
}

TEST_CASE("an index that is warm keeps its segment while others replace it") {
  IndexedSession session;
  RandomEntries random(21);
  for (int i = 0; i < 30; ++i) {
    session.add(random.next());
  }
  session.flush();
  const std::unique_ptr<SessionIndex> warm = session.index();
  REQUIRE(warm->refresh().has_value());
  for (int i = 0; i < 20; ++i) {
    session.add(random.next());
  }
  session.flush();
  CHECK(staleness(*warm, session) == "");
  session.forget_base();
  session.add(random.next());
  CHECK(staleness(*warm, session) == "");
  warm->forget();
  CHECK(staleness(*warm, session) == "");
}

TEST_CASE("a language without a stemmer is an error of refresh()") {
  IndexedSession session;
  session.add(fact("f", "x"));
  const std::unique_ptr<SessionIndex> index = session.index(kSession, "klingon");
  const Status done = index->refresh();
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code == ErrorCode::E_SCHEMA_INVALID);
}

TEST_CASE("postings of live entries come in slots, and again after the session has grown") {
  IndexedSession session;
  session.add(fact("f1", "apple"));
  session.add(fact("f2", "apple apple"));
  session.flush();
  const std::unique_ptr<SessionIndex> index = session.index();
  REQUIRE(index->refresh().has_value());
  REQUIRE(index->load().has_value());
  CHECK(index->live_postings(PostingKind::kTerm, "appl").value()->frequency_sum == 3);
  CHECK(index->live_postings(PostingKind::kTerm, "appl").value()->frequency_sum == 3);
  session.add(fact("f2", "apple pear"));
  REQUIRE(index->refresh().has_value());
  REQUIRE(index->load().has_value());
  const SessionIndex::Postings live = index->live_postings(PostingKind::kTerm, "appl").value();
  CHECK(live->postings == std::vector<SlotPosting>{{0, 1}, {1, 1}});
  CHECK(index->postings(PostingKind::kTerm, "appl")->size() == 3);
}

TEST_CASE("two threads make the same index as one, of a new session and of one that grows") {
  IndexedSession session;
  RandomEntries random(5);
  const auto made = [&](std::uint64_t word_thread_size) {
    SessionIndex::Options options = session_index_test::options();
    options.word_thread_size = word_thread_size;
    options.base = session.base();
    SessionIndex index(session.files, session.clock, options);
    REQUIRE(index.refresh());
    CHECK(first_difference(told(index).value(), told_from_logs(session)) == "");
    return flushed(index, session.files, "index/made.seg");
  };
  for (const int count : {1, 40, 0, 1500}) {
    for (int i = 0; i < count; ++i) {
      session.add(random.next());
    }
    // More than the scan may be ahead, in one entry.
    session.add(message("long", std::string(300'000, 'x') + " " + std::to_string(count)));
    session.let_time_pass();
    CHECK(made(1) == made(~std::uint64_t{0}));
    session.flush();
  }
}

}  // namespace bmad_mem::test::session_index_test
