// query_fixture.hpp - sessions in memory with an index each.
//
//   SmallMemory memory;
//   memory.say("s1", "Ann", "we take postgres");
//   search_sessions(memory.sessions(), ...)              indexes that are fresh and loaded
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/session_index.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test {

class SmallMemory {
 public:
  /// Appends `line`, a whole entry, to a log.
  void add(const std::string& session, EntryType type, const std::string& line);
  /// Appends a message by `who`.
  void say(const std::string& session, std::string_view who, std::string_view content,
           std::string_view role = "user");
  /// Appends a fact with more members, such as R"("tags":["a"])".
  void know(const std::string& session, std::string_view content, std::string_view members = {},
            std::string_view time = "2026-01-11T10:00:00Z");

  /// In the order in which they were first written to. Valid until the next call.
  std::span<IndexedSession* const> sessions();

  MemoryFileSystem files;
  ManualClock clock;

 private:
  std::vector<std::string> ids_;
  std::map<std::string, std::string> logs_;  // By path.
  std::vector<std::unique_ptr<SessionIndex>> indexes_;
  std::vector<IndexedSession*> pointers_;
  int last_id_ = 0;
};

}  // namespace bmad_mem::test
