// memory_fixture.hpp - a memory root of a test's own, with a clock that stands still and a person
// with an editor.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "support/manual_clock.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test {

class MemoryFixture {
 public:
  /// Makes the root and opens it.
  MemoryFixture();

  MemoryManager& operator*() { return *manager_; }
  MemoryManager* operator->() { return &*manager_; }
  /// Opens the root anew, as another process would.
  void reopen();
  /// As reopen(), with options of the test's own; `root` and `clock` are filled in.
  Status reopen(OpenOptions options);

  /// A new session with this id.
  std::string session(const std::string& id = "s1");
  /// Adds `json` and returns the id; the test ends when it is refused.
  std::string add(EntryType type, std::string_view json, const std::string& session = "s1");
  /// The same for a fact, a short one.
  std::string add_fact(const std::string& id, const std::string& content = "x",
                       const std::string& session = "s1");
  /// The line that add_fact() writes, without '\n'.
  [[nodiscard]] static std::string fact(const std::string& id, const std::string& content = "x");

  /// The ids of all entries there are, sorted.
  [[nodiscard]] std::vector<std::string> listed(
      ArchivedSessions archived = ArchivedSessions::kWith) const;
  /// The ids of all entries that a query for `text` finds, sorted.
  [[nodiscard]] std::vector<std::string> found(
      const std::string& text, ArchivedSessions archived = ArchivedSessions::kWith) const;

  /// Path of the session's file `name`, or of its log of `type`, on disk.
  [[nodiscard]] std::string path(std::string_view name, const std::string& session = "s1") const;
  [[nodiscard]] std::string path(EntryType type, const std::string& session = "s1") const;
  /// The bytes of that file; empty when there is none.
  [[nodiscard]] std::string read(std::string_view name, const std::string& session = "s1") const;
  [[nodiscard]] std::string read(EntryType type, const std::string& session = "s1") const;
  /// Writes that file past the engine, as a person with an editor would.
  void write(std::string_view name, std::string_view bytes, const std::string& session = "s1");
  void write(EntryType type, std::string_view bytes, const std::string& session = "s1");
  /// All files below the root with their bytes, but for the lock's, by name: to compare.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> files() const;

  [[nodiscard]] const std::string& root() const { return root_; }

  TemporaryDirectory folder;
  ManualClock clock;

 private:
  std::string root_;
  std::optional<MemoryManager> manager_;
};

/// The code of a call that must have failed.
template <typename T>
ErrorCode code_of(const Result<T>& result) {
  if (result) {
    throw std::runtime_error("succeeded, and should not have");
  }
  return result.error().code;
}

}  // namespace bmad_mem::test
