// root_index_memory.hpp - a memory on a disk in memory whose questions flush after each entry, and
// what many questions say of it: for the tests of the index of the whole memory.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "bmad_mem/entry_type.hpp"
#include "operations/rooms.hpp"
#include "search/reads.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::root_index {

using Lines = std::vector<std::string>;

/// Stands first of its letter in a dictionary, so that it is there as a whole.
inline constexpr const char* kDoomed = "qxvunspoken";

/// A root that was opened, and its disk.
struct Process {
  std::unique_ptr<Store> store;
  FaultyFileSystem* files = nullptr;

  Store& operator*() const { return *store; }
};

template <typename T>
void expect(const T& result) {
  if (!result) {
    FAIL(result.error().to_string());
  }
}

/// What a store answers to many questions.
inline Lines answers(const Store& store) {
  Lines lines;
  const auto note = [&](const std::string& question, const Hit& hit) {
    lines.push_back(fmt::format("{}: {} {} {:.6f} {} {}", question, hit.entry.session_id,
                                hit.entry.id, hit.relevance, hit.entry.archived, hit.entry.json));
  };
  for (const char* text :
       {"common", "alpha", "be*", "+common -alpha", "type:fact gamma", "\"common alpha\"",
        "session:s1 common", "gamna~", "is:pinned", "archived:only common", kDoomed, "tail"}) {
    const Result<QueryAnswer> answer = answer_query(store, {.text = text, .filter = {.limit = 0}});
    if (!answer) {
      lines.push_back(fmt::format("{}: {}", text, error_code_name(answer.error().code)));
      continue;
    }
    for (const Hit& hit : answer->hits) {
      note(text, hit);
    }
  }
  for (const auto all = list_topics(store, {}); const TopicCount& each : all.value()) {
    lines.push_back(fmt::format("topic {} {}", each.topic, each.entries));
  }
  for (const auto all = list_times(store, {}, TimelineUnit::kMonth);
       const TimelineBucket& each : all.value()) {
    lines.push_back(fmt::format("time {}", each.total()));
  }
  return lines;
}

/// The answers of only one of two.
inline std::string difference(const Lines& got, const Lines& right) {
  std::string lines;
  for (const std::string& line : got) {
    lines += std::ranges::find(right, line) == right.end() ? "\n+ " + line : "";
  }
  for (const std::string& line : right) {
    lines += std::ranges::find(got, line) == got.end() ? "\n- " + line : "";
  }
  return lines.empty() && got != right ? "another order" : lines;
}

/// Some sessions on a disk in memory. Every query takes what is new into the index.
class Memory {
 public:
  Memory() {
    disk.make_folders(kSessionsFolder);
    Process process = open();
    for (const std::string id : {"s1", "s2", "s3"}) {
      expect(create_session(*process, {.session_id = id}));
      for (int i = 0; i < 4; ++i) {
        add(*process, id, fmt::format("{}-{}", id, i), i % 2 == 0 ? "alpha" : "beta gamma");
      }
    }
    settle();
  }

  /// As another process would.
  Process open(bool with_index = true) {
    auto files = std::make_unique<FaultyFileSystem>(disk);
    Process process{.store = std::make_unique<Store>(clock, all_rooms()), .files = files.get()};
    process.store->files = std::move(files);
    process.store->lock_timeout = std::chrono::milliseconds(1000);
    process.store->notes_accesses = false;
    process.store->config.privacy.deleted_retention_days = 30;
    process.store->config.indexing.enabled = with_index;
    process.store->config.indexing.rebuild_threshold_writes = 1;
    return process;
  }

  void add(Store& store, const std::string& session, const std::string& id,
           const std::string& text) {
    const std::string line = fmt::format(
        R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","role":"user","agent_id":"Ann",)"
        R"("content":"common {}","context":{{"topic":"t{}","conversation_id":"c1"}},)"
        R"("decay_factor":1.0}})",
        id, text, text.size() % 2);
    const std::string_view view = line;
    expect(add_lines(store, session, EntryType::kConversation, {&view, 1}, {}));
  }

  /// Time passes: what was written can tell by its mtime that it is the same.
  void settle() { clock.advance(std::chrono::hours(1)); }

  Lines right_answers() { return answers(*open(false)); }

  /// A process that comes now, and one that was there before, answer as the logs do.
  void check(const Process* other = nullptr) {
    settle();
    const Lines right = right_answers();
    CHECK(difference(answers(*open()), right) == "");
    if (other != nullptr) {
      CHECK(difference(answers(**other), right) == "");
    }
    settle();
    CHECK(difference(answers(*open()), right_answers()) == "");
  }

  void flush() {
    settle();
    expect(answer_query(*open(), {.text = "common"}));
    REQUIRE(disk.info(kIndexCurrentFile));
  }

  nlohmann::json current() { return nlohmann::json::parse(disk.read(kIndexCurrentFile)); }
  /// Puts `rest` in its place, with the hash that it needs.
  void write_current(nlohmann::json rest) {
    rest.erase("version");
    rest.erase("xxh3");
    const std::string text = rest.dump().substr(1);
    disk.write(kIndexCurrentFile,
               fmt::format("{{\"version\": 2, \"xxh3\": \"{}\",\n{}", hash_hex(xxh3(text)), text));
  }

  Lines segment_files() {
    Lines names = disk.list(kIndexFolder).value();
    std::erase_if(names, [&](const std::string& name) {
      return !name.ends_with(".seg") ||
             disk.info(fmt::format("index/{}", name))->kind == FileKind::kDirectory;
    });
    std::ranges::sort(names);
    return names;
  }
  Lines named_segments() {
    Lines names;
    const nlohmann::json all = current();
    for (const auto& each : all["segments"].items()) {
      names.push_back(each.key());
    }
    std::ranges::sort(names);
    return names;
  }
  void check_tidy() {
    CHECK(segment_files() == named_segments());
    CHECK(named_segments().size() <= 8);
  }

  std::string log(const std::string& session) {
    return session_file(session, entry_type_info(EntryType::kConversation).log_file);
  }

  /// Files below `folder` with their bytes.
  std::vector<std::pair<std::string, std::string>> files(const std::string& folder) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto names = disk.list(folder); const std::string& name : names.value()) {
      const std::string path = folder.empty() ? name : folder + "/" + name;
      const FileKind kind = disk.info(path).value().kind;
      if (kind == FileKind::kDirectory) {
        std::ranges::move(files(path), std::back_inserter(all));
      } else if (kind == FileKind::kRegular) {
        all.emplace_back(path, disk.read(path));
      }
    }
    return all;
  }
  void remove_folder(const std::string& folder) {
    for (const auto names = disk.list(folder); const std::string& name : names.value()) {
      const std::string path = folder + "/" + name;
      if (disk.info(path).value().kind == FileKind::kDirectory) {
        remove_folder(path);
      } else {
        expect(disk.remove(path));
      }
    }
    expect(disk.remove_directory(folder));
  }
  void put_back(const std::vector<std::pair<std::string, std::string>>& files,
                const std::string& folder) {
    if (disk.info(folder)) {
      remove_folder(folder);
    }
    disk.make_folders(folder);
    for (const auto& [path, bytes] : files) {
      disk.make_folders(path.substr(0, path.rfind('/')));
      disk.write(path, bytes);
    }
  }

  /// Files of the index that hold `word`.
  Lines index_files_with(const std::string& word) {
    Lines found;
    for (const auto& [path, bytes] : files(kIndexFolder)) {
      if (bytes.contains(word)) {
        found.push_back(path);
      }
    }
    return found;
  }

  /// The logs that a question, which no entry answers, makes a process open.
  static Lines logs_opened(const Process& process) {
    process.files->clear_log();
    expect(answer_query(*process, {.text = "nosuchword"}));
    Lines opened = process.files->log();
    std::erase_if(opened, [](const std::string& call) {
      return !call.starts_with("open ") || !call.contains(".jsonl");
    });
    return opened;
  }

  MemoryFileSystem disk;
  ManualClock clock;
};

}  // namespace bmad_mem::test::root_index
