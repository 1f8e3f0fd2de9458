// watched_memory.hpp - a memory on a real disk, which processes watch while others change it past
// the engine.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "operations/rooms.hpp"
#include "search/reads.hpp"
#include "search/root_index.hpp"
#include "search/root_index_memory.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "store/store_watch.hpp"
#include "support/faulty_file_system.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::root_index_watch {

namespace fs = std::filesystem;
using root_index::answers;
using root_index::difference;
using root_index::expect;
using root_index::Lines;
using root_index::Process;

/// The machine's, and what was added to it.
class LaterClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override { return system_clock().now() + later; }
  std::chrono::seconds later{0};
};

inline std::string line(const std::string& id, const std::string& text) {
  return fmt::format(R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","role":"user",)"
                     R"("agent_id":"Ann","content":"common {}","context":{{"topic":"t{}",)"
                     R"("conversation_id":"c1"}},"decay_factor":1.0}})",
                     id, text, text.size() % 2);
}

/// A memory on a real disk. Every question takes what is new into the index.
class Memory {
 public:
  Memory() {
    fs::create_directories(root + "/sessions");
    disk = open_posix_file_system(root).value();
    Process process = open();
    for (const std::string id : {"s1", "s2", "s3"}) {
      expect(create_session(*process, {.session_id = id}));
      for (int i = 0; i < 4; ++i) {
        add(*process, id, fmt::format("{}-{}", id, i), i % 2 == 0 ? "alpha" : "beta gamma");
      }
    }
  }

  enum class With : std::uint8_t { kIndex, kNoIndex, kWatch };

  /// As another process would.
  Process open(With with = With::kIndex) {
    auto files = std::make_unique<FaultyFileSystem>(*disk);
    Process process{.store = std::make_unique<Store>(clock, all_rooms()), .files = files.get()};
    Store& store = *process.store;
    store.files = std::move(files);
    store.root = root;
    store.lock_timeout = std::chrono::milliseconds(1000);
    store.notes_accesses = false;
    store.config.privacy.deleted_retention_days = 30;
    store.config.indexing.enabled = with != With::kNoIndex;
    store.config.indexing.rebuild_threshold_writes = 1;
    store.watch = with == With::kWatch ? std::make_unique<StoreWatch>(store) : nullptr;
    return process;
  }

  /// A process that watches, and has seen all there is.
  Process watching() {
    Process process = open(With::kWatch);
    for (int i = 0; i < 3; ++i) {  // The first one flushes.
      CHECK(difference(answers(*process), right_answers()) == "");
    }
    return process;
  }

  Lines right_answers() { return answers(*open(With::kNoIndex)); }

  void add(Store& store, const std::string& session, const std::string& id,
           const std::string& text) {
    const std::string json = line(id, text);
    const std::string_view view = json;
    expect(add_lines(store, session, EntryType::kConversation, {&view, 1}, {}));
  }

  [[nodiscard]] std::string path(const std::string& relative) const {
    return root + "/" + relative;
  }
  [[nodiscard]] std::string log(const std::string& session) const {
    return path(session_file(session, entry_type_info(EntryType::kConversation).log_file));
  }
  /// Writes past the engine, in place.
  void write(const std::string& relative, std::string_view bytes) const {
    folder.write("memory/" + relative, bytes);
  }

  TemporaryDirectory folder;
  std::string root = folder.path("memory");
  std::unique_ptr<FileSystem> disk;
  LaterClock clock;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Changes bytes in place, and puts the time of the last change back.
inline void edit_in_place(const std::string& path, std::string_view from, std::string_view to) {
  struct stat before{};
  REQUIRE(::stat(path.c_str(), &before) == 0);
  const std::size_t at = bytes_of(path).find(from);
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  if (at != std::string::npos) {
    CHECK(::pwrite(file, to.data(), to.size(), static_cast<off_t>(at)) ==
          static_cast<ssize_t>(to.size()));
  }
  const std::array<timespec, 2> times = {before.st_atim, before.st_mtim};
  ::futimens(file, times.data());
  ::close(file);
}

inline void append(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

/// The logs of sessions that a question, which no entry answers, makes a process look at.
inline Lines looked_at(const Process& process) {
  process.files->clear_log();
  expect(answer_query(*process, {.text = "nosuchword"}));
  Lines calls = process.files->log();
  std::erase_if(calls, [](const std::string& call) { return !call.contains(".jsonl"); });
  return calls;
}

/// Without it there is nothing to prove here.
inline bool can_watch() {
  const TemporaryDirectory folder;
  const bool can = FolderWatch::tells_all(folder.path());
  WARN_MESSAGE(can, "$TMPDIR is on a file system that is not watched");
  return can;
}

}  // namespace bmad_mem::test::root_index_watch
