// root_index_watch_chance_test.cpp - whatever is done by chance, or while others ask, a memory that
// watches its folders misses nothing.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lifecycle/maintenance.hpp"
#include "search/reads.hpp"
#include "search/watched_memory.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem::test::root_index_watch {
namespace {

/// What people, git and other processes do, by chance.
class Hands {
 public:
  Hands(Memory& memory, std::uint32_t seed)
      : memory_(memory), other_(memory.open()), random_(seed) {}

  /// Does something, and says what.
  std::string act() {
    const std::string session = sessions_[below(sessions_.size())];
    const std::string folder = memory_.path(session_folder(session));
    const std::string log = memory_.log(session);
    const bool is_there = fs::exists(log);
    const std::string id = fmt::format("n{}", ++made_);
    switch (below(14)) {
      case 0:
        if (is_there) {
          edit_in_place(log, "alpha", "gamma");
        }
        return "edit " + session;
      case 1:
        if (is_there) {
          edit_in_place(log, "gamma", "alpha");
        }
        return "edit back " + session;
      case 2:
        if (is_there) {
          append(log, line(id, "alpha tail") + "\n");
        }
        return "append past the engine " + session;
      case 3:
        if (is_there) {
          memory_.write("other", line(id, "beta tail") + "\n" + bytes_of(log));
          fs::rename(memory_.path("other"), log);
        }
        return "replace " + session;
      case 4:
        if (is_there) {
          fs::resize_file(log, below(fs::file_size(log) + 1));
        }
        return "truncate " + session;
      case 5:
        fs::remove(log);
        return "remove the log of " + session;
      case 6:
        fs::remove_all(folder);
        return "remove " + session;
      case 7:
        return move(session);
      case 8:
        static_cast<void>(archive_session(*other_, session));
        return "archive " + session;
      case 9:
        static_cast<void>(restore_session(*other_, session));
        return "restore " + session;
      case 10:
        static_cast<void>(answer_query(*other_, {.text = "common"}));
        return "flush";
      case 11:
        if (below(4) == 0) {
          fs::remove_all(memory_.path(kIndexFolder));
        }
        return "remove the index";
      default:
        return add(session, id);
    }
  }

 private:
  std::string move(const std::string& session) {
    const std::string to = sessions_[below(sessions_.size())];
    if (fs::exists(memory_.path(session_folder(session))) &&
        !fs::exists(memory_.path(session_folder(to)))) {
      fs::rename(memory_.path(session_folder(session)), memory_.path(session_folder(to)));
    }
    return fmt::format("move {} to {}", session, to);
  }

  std::string add(const std::string& session, const std::string& id) {
    static_cast<void>(create_session(*other_, {.session_id = session}));
    const std::string json = line(id, id.size() % 2 == 0 ? "alpha" : "beta gamma");
    const std::string_view view = json;
    static_cast<void>(add_lines(*other_, session, EntryType::kConversation, {&view, 1}, {}));
    return "add to " + session;
  }

  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  Memory& memory_;
  Process other_;
  std::mt19937 random_;
  std::vector<std::string> sessions_ = {"s1", "s2", "s3", "s4", "s5"};
  int made_ = 0;
};

}  // namespace

TEST_CASE("whatever happens by chance, a process that watches answers as one that comes") {
  for (const std::uint32_t seed : {1U, 2U, 3U, 4U, 314U}) {
    Memory memory;
    const Process held = memory.watching();
    Hands hands(memory, seed);
    std::string done;
    for (int i = 0; i < 40; ++i) {
      done += hands.act() + "; ";
      if (i % 3 != 0) {
        const std::string differs = difference(answers(*held), memory.right_answers());
        INFO("seed ", seed, ": ", done);
        REQUIRE(differs == "");
      }
    }
  }
}

TEST_CASE("threads that ask while another process writes find what it wrote before they asked") {
  Memory memory;
  const Process other = memory.open();
  const Process held = memory.watching();
  std::atomic<int> written{0};
  std::atomic<int> missed{0};
  std::atomic<bool> is_over{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_over) {
        const int before = written;
        const Result<QueryAnswer> answer =
            answer_query(*held, {.text = "tail", .filter = {.limit = 0}});
        missed += !answer || answer->hits.size() < static_cast<std::size_t>(before) ? 1 : 0;
      }
    });
  }
  for (int i = 0; i < 60; ++i) {
    memory.add(*other, fmt::format("s{}", 1 + i % 3), fmt::format("new-{}", i), "tail");
    written = i + 1;
  }
  is_over = true;
  threads.clear();
  CHECK(missed == 0);
  CHECK(difference(answers(*held), memory.right_answers()) == "");
}

}  // namespace bmad_mem::test::root_index_watch
