// lifecycle_swarm_test.cpp - writers append while their session is compacted, archived, partly
// deleted and brought back: what was acknowledged is somewhere, once; what was refused says why.
//
//   writer processes   append w0-00000, w0-00001, … and note how far they came
//   a caretaker        compacts, archives, deletes by id and undeletes, again and again
//   a reader           queries: no call fails, and it never waits for a lock
//
// At the end everything is brought back, and every acknowledged entry must be in the logs.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/memory_manager.hpp"
#include "concurrency/child.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::lifecycle_swarm_test {
namespace {

constexpr unsigned kWriters = 3;
constexpr unsigned kEntries = 400;  // Of each writer.

/// What all processes see.
struct Board {
  std::array<std::atomic<std::uint32_t>, kWriters> acknowledged{};
  std::atomic<std::uint32_t> writers_done = 0;
  std::atomic<std::uint32_t> compactions = 0;
  std::atomic<std::uint32_t> archives = 0;
  std::atomic<std::uint32_t> deletions = 0;
  std::atomic<std::uint32_t> queries = 0;
  std::atomic<bool> has_problem = false;
  std::array<char, 600> problem{};

  void report(const std::string& text) {
    if (!has_problem.exchange(true)) {
      text.copy(problem.data(), problem.size() - 1);
    }
  }
  void report(std::string_view what, const Error& error) {
    report(fmt::format("{}: {}: {}", what, error_code_name(error.code), error.to_string()));
  }
  [[nodiscard]] bool is_over() const { return writers_done == kWriters || has_problem; }
};

std::string id_of(unsigned writer, unsigned number) {
  return fmt::format("w{}-{:05}", writer, number);
}

int write(const std::string& root, unsigned writer, Board& board) {
  auto memory = MemoryManager::open({.root = root});
  if (!memory) {
    return 1;
  }
  for (unsigned number = 0; number < kEntries && !board.has_problem; ++number) {
    const std::string json = fmt::format(R"({{"id":"{}","content":"common word {} {}"}})",
                                         id_of(writer, number), number, std::string(300, 'x'));
    const Result<std::string> added = memory->add("s1", EntryType::kFact, json);
    if (!added) {
      board.report("add", added.error());
      break;
    }
    board.acknowledged[writer] = number + 1;
  }
  ++board.writers_done;
  return 0;
}

/// Whether the session is in its archive, or on its way there or back: no call may wait for that.
bool is_away(const Error& error) {
  return error.code == ErrorCode::E_SESSION_ARCHIVED ||
         error.code == ErrorCode::E_SESSION_NOT_FOUND;
}

int take_care(const std::string& root, Board& board) {
  auto memory = MemoryManager::open({.root = root});
  if (!memory) {
    return 1;
  }
  for (unsigned round = 0; !board.is_over(); ++round) {
    if (const auto done = memory->compact("s1", {.keep_share = 0.5}); done) {
      ++board.compactions;
    } else if (!is_away(done.error())) {
      board.report("compact", done.error());
    }
    const unsigned writer = round % kWriters;
    const std::string id = id_of(writer, std::max(board.acknowledged[writer].load(), 1U) - 1);
    const auto deleted = memory->delete_entries({.ids = {id}, .sessions = {"s1"}});
    if (deleted) {
      board.deletions += deleted->entries == 0 ? 0 : 1;
    } else if (!is_away(deleted.error())) {
      board.report("delete", deleted.error());
    }
    if (round % 4 == 1) {
      const auto archived = memory->archive_session("s1");
      if (archived) {
        ++board.archives;
      } else if (!is_away(archived.error())) {
        board.report("archive", archived.error());
      }
    }
  }
  return 0;
}

int ask(const std::string& root, Board& board) {
  auto memory = MemoryManager::open({.root = root});
  if (!memory) {
    return 1;
  }
  while (!board.is_over()) {
    const auto hits = memory->query({.text = "common word", .filter = {.limit = 5}});
    if (!hits) {
      board.report("query", hits.error());
    }
    ++board.queries;
  }
  return 0;
}

}  // namespace

TEST_CASE("what was acknowledged survives compaction, archiving and deletion beside it") {
  TemporaryDirectory folder;
  const std::string root = folder.path("memory");
  REQUIRE(MemoryManager::init(root).has_value());
  REQUIRE(MemoryManager::open({.root = root})->create_session({.session_id = "s1"}).has_value());
  const Shared<Board> board;
  {
    std::vector<Child> children;
    for (unsigned writer = 0; writer < kWriters; ++writer) {
      children.emplace_back([&, writer] { return write(root, writer, *board); });
    }
    children.emplace_back([&] { return take_care(root, *board); });
    children.emplace_back([&] { return ask(root, *board); });
    for (Child& child : children) {
      CHECK(child.wait() == 0);
    }
  }
  CHECK(std::string(board->problem.data()) == "");
  MESSAGE(board->compactions.load(), " compactions, ", board->archives.load(), " archives, ",
          board->deletions.load(), " deletions, ", board->queries.load(), " queries");
  CHECK(board->compactions > 0);
  CHECK(board->archives > 0);
  CHECK(board->deletions > 0);

  auto memory = MemoryManager::open({.root = root}).value();
  static_cast<void>(memory.restore_session("s1"));  // It may be there.
  CHECK(memory.restore_evicted("s1").has_value());
  CHECK(memory.undelete({.sessions = {"s1"}}).has_value());
  CHECK(memory.restore_evicted("s1").has_value());
  std::multiset<std::string> ids;
  const std::vector<Entry> entries = memory.list({.limit = 0}).value();
  for (const Entry& entry : entries) {
    ids.insert(entry.id);
  }
  for (unsigned writer = 0; writer < kWriters; ++writer) {
    for (unsigned number = 0; number < board->acknowledged[writer]; ++number) {
      CHECK(ids.count(id_of(writer, number)) == 1);
    }
  }
  CHECK(memory.verify().value().findings.empty());
}

}  // namespace bmad_mem::test::lifecycle_swarm_test
