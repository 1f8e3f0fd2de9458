// search_swarm_test.cpp - readers ask while writers append and segments are replaced: no call
// fails, every hit is an entry that was sent, byte for byte, and every entry that was acknowledged
// before a query began is found by it.
//
//   writer processes    append w01-000000, w01-000001, … in two sessions; note how far they came
//   a rebuilder         rebuild_index() again and again
//   reader processes    a manager of their own each, now and then a new one
//   reader threads      all on one manager
//
// The second swarm writes to many sessions and has no rebuilder. Each of its questions takes what
// is new into the index of the memory, which makes and merges segments all the time, and its reader
// processes are killed and started again. In the third, caretakers compact, archive, bring back and
// purge besides, and are killed as well.
//
// Each entry holds the word of its writer and one of its own, so that a query tells which entries
// there must be.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/memory_manager.hpp"
#include "concurrency/child.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::search_swarm_test {
namespace {

using std::chrono::milliseconds;

constexpr unsigned kWriters = 3;
constexpr unsigned kReaderProcesses = 2;
constexpr unsigned kReaderThreads = 2;
constexpr std::size_t kProblemSize = 600;

struct Plan {
  unsigned sessions = 2;
  unsigned entries = 2500;  // Of each writer.
  bool flushes = false;
};
constexpr Plan kRebuilt;
constexpr Plan kEncrypted{.sessions = 14, .entries = 400, .flushes = true};
constexpr Plan kCaredFor{.sessions = 6, .entries = 600, .flushes = true};

/// What all processes see.
struct Board {
  std::array<std::atomic<std::uint32_t>, kWriters> acknowledged{};
  std::atomic<bool> done = false;
  std::atomic<std::uint32_t> queries = 0;
  std::atomic<std::uint32_t> rebuilds = 0;
  std::atomic<std::uint32_t> compactions = 0;
  std::atomic<std::uint32_t> archives = 0;
  std::atomic<std::uint32_t> purges = 0;
  // The first problem: whoever finds it claims it, and then writes it down.
  std::atomic<bool> has_problem = false;
  std::array<char, kProblemSize> problem{};

  void report(const std::string& text) {
    if (!has_problem.exchange(true)) {
      text.copy(problem.data(), problem.size() - 1);
    }
  }
};

std::string session_of(const Plan& plan, unsigned writer, unsigned number = 0) {
  return fmt::format("s{}", (plan.flushes ? writer + number / 9 : writer) % plan.sessions);
}

std::string id_of(unsigned writer, unsigned number) {
  return fmt::format("w{:02}-{:06}", writer, number);
}

/// The line of an entry, as it is given to the engine and as it stands in the log.
std::string line_of(unsigned writer, unsigned number) {
  return fmt::format(
      R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","content":"writer{} common own{}x{} {}",)"
      R"("decay_factor":1.0}})",
      id_of(writer, number), writer, writer, number, std::string(number % 300, 'z'));
}

template <typename T>
T expect(Result<T> result) {
  if (!result) {
    throw std::runtime_error(
        fmt::format("{}: {}", error_code_name(result.error().code), result.error().to_string()));
  }
  return std::move(*result);
}

MemoryManager open_memory(const std::string& root) {
  return expect(MemoryManager::open({.root = root, .lock_timeout = milliseconds(60'000)}));
}

/// Runs `body` in a child or a thread; what it throws is the problem.
template <typename Body>
int guarded(Board& board, const Body& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    board.report(error.what());
    return 1;
  }
}

void write_entries(const std::string& root, Board& board, const Plan& plan, unsigned writer) {
  MemoryManager memory = open_memory(root);
  for (unsigned number = 0; number < plan.entries && !board.has_problem; ++number) {
    expect(memory.add(session_of(plan, writer, number), EntryType::kFact, line_of(writer, number)));
    board.acknowledged[writer] = number + 1;
  }
}

void rebuild(const std::string& root, Board& board) {
  MemoryManager memory = open_memory(root);
  while (!board.done && !board.has_problem) {
    expect(memory.rebuild_index());
    ++board.rebuilds;
  }
}

void check_hits(const std::vector<Hit>& hits, unsigned writer, unsigned known) {
  std::set<std::string> found;
  for (const Hit& hit : hits) {
    unsigned number = 0;
    const std::string& id = hit.entry.id;
    if (id.size() != 10 || !id.starts_with(fmt::format("w{:02}-", writer))) {
      throw std::runtime_error("not an entry of writer " + std::to_string(writer) + ": " + id);
    }
    number = static_cast<unsigned>(std::stoul(id.substr(4)));
    if (hit.entry.json != line_of(writer, number)) {
      throw std::runtime_error("not the line that was sent: " + hit.entry.json);
    }
    if (!found.insert(id).second) {
      throw std::runtime_error("found twice: " + id);
    }
  }
  for (unsigned number = 0; number < known; ++number) {
    if (!found.contains(id_of(writer, number))) {
      throw std::runtime_error(fmt::format("{} was acknowledged and is not among {} hits",
                                           id_of(writer, number), hits.size()));
    }
  }
}

/// One look at the entries of one writer, another at the last one that was acknowledged.
void look(const MemoryManager& memory, Board& board, unsigned writer) {
  const unsigned known = board.acknowledged[writer];
  check_hits(expect(memory.query(
                 {.text = fmt::format("+writer{} common", writer), .filter = {.limit = 0}})),
             writer, known);
  if (known > 0) {
    const auto last = expect(memory.query(
        {.text = fmt::format("own{}x{}", writer, known - 1), .ranking = TextRanking::kPlain}));
    if (last.size() != 1 || last.front().entry.id != id_of(writer, known - 1)) {
      throw std::runtime_error(
          fmt::format("{} hits for {}", last.size(), id_of(writer, known - 1)));
    }
  }
  ++board.queries;
}

void read_along(const std::string& root, Board& board, unsigned seed) {
  std::mt19937 random(seed);
  while (!board.done && !board.has_problem) {
    const MemoryManager memory = open_memory(root);
    for (unsigned looks = static_cast<unsigned>(random() % 8); looks > 0 && !board.has_problem;
         --looks) {
      look(memory, board, static_cast<unsigned>(random() % kWriters));
    }
  }
}

/// What a caretaker's call that may meet another's gave: others may move the session meanwhile.
template <typename T>
bool is_done(const Result<T>& done) {
  if (!done && done.error().code != ErrorCode::E_SESSION_ARCHIVED &&
      done.error().code != ErrorCode::E_SESSION_NOT_FOUND) {
    throw std::runtime_error(
        fmt::format("{}: {}", error_code_name(done.error().code), done.error().to_string()));
  }
  return done.has_value();
}

/// Adds an entry and purges it: from then on no question finds it.
void purge_one(MemoryManager& memory, Board& board, const std::string& session_id, unsigned tag) {
  const std::string word = fmt::format("doomed{}", tag);
  const Result<std::string> added =
      memory.add(session_id, EntryType::kFact, fmt::format(R"({{"content":"{} common"}})", word));
  if (is_done(added) &&
      is_done(memory.delete_entries({.ids = {*added}, .sessions = {}}, {.purge = true}))) {
    if (!expect(memory.query({.text = "+" + word})).empty()) {
      throw std::runtime_error("found although it is purged: " + word);
    }
    ++board.purges;
  }
}

/// Compacts, archives, brings back and purges until it is killed.
void take_care(const std::string& root, Board& board, const Plan& plan, unsigned seed) {
  std::mt19937 random(seed);
  MemoryManager memory = open_memory(root);
  while (!board.done && !board.has_problem) {
    const std::string session_id = fmt::format("s{}", random() % plan.sessions);
    switch (random() % 4) {
      case 0:
        board.compactions += is_done(memory.compact(session_id, {.keep_share = 0.5})) ? 1 : 0;
        break;
      case 1:
        board.archives += is_done(memory.archive_session(session_id)) ? 1 : 0;
        break;
      case 2:
        static_cast<void>(memory.restore_session(session_id));  // It may be there.
        break;
      default:
        purge_one(memory, board, session_id, seed * 1000 + static_cast<unsigned>(random() % 1000));
    }
  }
}

/// Starts `body(number)` in a child, kills it after some time below `most`, and so on.
template <typename Body>
Child start_killed(Board& board, unsigned seed, milliseconds most, const Body& body) {
  return Child([&board, seed, most, &body] {
    std::mt19937 random(seed);
    unsigned kills = 0;
    while (!board.done && !board.has_problem) {
      Child child([&] { return guarded(board, [&] { body(kills); }); });
      std::this_thread::sleep_for(
          milliseconds(random() % static_cast<std::uint32_t>(most.count())));
      child.kill();
      ++kills;
    }
    return kills > 1 ? 0 : 2;  // How many there are depends on how fast the writers are.
  });
}

std::vector<std::thread> start_threads(const MemoryManager& memory, Board& board, unsigned seed) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kReaderThreads; ++i) {
    threads.emplace_back([&memory, &board, random = std::mt19937(seed + i)]() mutable {
      guarded(board, [&] {
        while (!board.done && !board.has_problem) {
          look(memory, board, static_cast<unsigned>(random() % kWriters));
        }
      });
    });
  }
  return threads;
}

void make_memory(const std::string& root, const Plan& plan) {
  expect(MemoryManager::init(root));
  if (plan.flushes) {
    std::ofstream(root + "/config.json")
        << R"({"memory_config":{"indexing":{"rebuild_threshold_writes":1}}})";
  }
  MemoryManager memory = open_memory(root);
  for (unsigned i = 0; i < plan.sessions; ++i) {
    expect(memory.create_session({.session_id = fmt::format("s{}", i)}));
  }
}

std::deque<Child> start_writers(const std::string& root, Board& board, const Plan& plan) {
  std::deque<Child> writers;
  for (unsigned i = 0; i < kWriters; ++i) {
    writers.emplace_back(
        [&, i] { return guarded(board, [&] { write_entries(root, board, plan, i); }); });
  }
  return writers;
}

}  // namespace

TEST_CASE("queries find every acknowledged entry while others append and replace segments") {
  TemporaryDirectory folder;
  const std::string root = folder.path("memory");
  const unsigned seed = test_seed("search");
  make_memory(root, kRebuilt);
  Shared<Board> board;
  // Processes first: a fork takes none of the threads along.
  std::deque<Child> others;
  for (unsigned i = 0; i < kReaderProcesses; ++i) {
    others.emplace_back(
        [&, i] { return guarded(*board, [&] { read_along(root, *board, seed + 100 + i); }); });
  }
  others.emplace_back([&] { return guarded(*board, [&] { rebuild(root, *board); }); });
  std::deque<Child> writers = start_writers(root, *board, kRebuilt);
  const MemoryManager memory = open_memory(root);
  std::vector<std::thread> threads = start_threads(memory, *board, seed);
  for (Child& writer : writers) {
    CHECK(writer.wait() == 0);
  }
  board->done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (Child& other : others) {
    CHECK(other.wait() == 0);
  }
  CHECK(std::string(board->problem.data()) == "");
  for (unsigned i = 0; i < kWriters; ++i) {
    look(memory, *board, i);
  }
  MESSAGE(board->queries.load(), " looks, ", board->rebuilds.load(), " rebuilds");
  CHECK(board->queries > 2 * kWriters);
  CHECK(board->rebuilds > 2);
}

TEST_CASE("queries find every acknowledged entry while others flush, merge and are killed") {
  TemporaryDirectory folder;
  const std::string root = folder.path("memory");
  const unsigned seed = test_seed("flushes");
  make_memory(root, kEncrypted);
  Shared<Board> board;
  std::deque<Child> writers = start_writers(root, *board, kEncrypted);
  const auto read = [&](unsigned kills) { read_along(root, *board, seed + 100 + kills); };
  Child killer = start_killed(*board, seed, milliseconds(60), read);
  Child steady([&] { return guarded(*board, [&] { read_along(root, *board, seed + 1); }); });
  const MemoryManager memory = open_memory(root);
  std::vector<std::thread> threads = start_threads(memory, *board, seed);
  for (Child& writer : writers) {
    CHECK(writer.wait() == 0);
  }
  board->done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(killer.wait() == 0);
  CHECK(steady.wait() == 0);
  CHECK(std::string(board->problem.data()) == "");
  const MemoryManager last = open_memory(root);
  for (unsigned i = 0; i < kWriters; ++i) {
    look(memory, *board, i);
    look(last, *board, i);
  }
  std::size_t segments = 0;
  std::uint64_t highest = 0;
  for (const auto& file : std::filesystem::directory_iterator(root + "/index")) {
    if (file.path().extension() == ".seg") {
      ++segments;
      highest = std::max<std::uint64_t>(highest, std::stoull(file.path().stem().string()));
    }
  }
  MESSAGE(board->queries.load(), " looks, ", highest, " segments, ", segments, " left");
  CHECK(highest > 2);
  CHECK(segments <= 9);  // One may be of a process that was killed last.
}

TEST_CASE("queries find every acknowledged entry while caretakers are killed in their work") {
  TemporaryDirectory folder;
  const std::string root = folder.path("memory");
  const unsigned seed = test_seed("caretakers") % 1'000'000;
  make_memory(root, kCaredFor);
  Shared<Board> board;
  std::deque<Child> writers = start_writers(root, *board, kCaredFor);
  const auto care = [&](unsigned kills) {
    take_care(root, *board, kCaredFor, seed + 1000 + kills);
  };
  const auto read = [&](unsigned kills) { read_along(root, *board, seed + 100 + kills); };
  Child killer_of_carers = start_killed(*board, seed, milliseconds(600), care);
  Child killer_of_readers = start_killed(*board, seed + 1, milliseconds(90), read);
  Child steady([&] { return guarded(*board, [&] { read_along(root, *board, seed + 2); }); });
  for (Child& writer : writers) {
    CHECK(writer.wait() == 0);
  }
  board->done = true;
  for (Child* child : {&killer_of_carers, &killer_of_readers, &steady}) {
    CHECK(child->wait() == 0);
  }
  CHECK(std::string(board->problem.data()) == "");
  const MemoryManager memory = open_memory(root);
  for (unsigned i = 0; i < kWriters; ++i) {
    look(memory, *board, i);
  }
  MESSAGE(board->queries.load(), " looks, ", board->compactions.load(), " compactions, ",
          board->archives.load(), " archives, ", board->purges.load(), " purges");
  // On a machine that is busy with other things none may end before it is killed.
  WARN(board->archives + board->compactions + board->purges > 0);
}

}  // namespace bmad_mem::test::search_swarm_test
