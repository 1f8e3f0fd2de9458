// trusted_memory.hpp - a memory root of a user's own, beside the folder that says so.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test {

/// Opened with a state folder.
class TrustedMemory {
 public:
  TrustedMemory() : root_(folder_.path("memory")), state_(folder_.path("state")) {
    REQUIRE(MemoryManager::init(root_, state_).has_value());
  }

  [[nodiscard]] MemoryManager open(Origin writes_as = Origin::kPerson) const {
    Result<MemoryManager> memory =
        MemoryManager::open({.root = root_, .state_folder = state_, .writes_as = writes_as});
    REQUIRE(memory.has_value());
    return std::move(*memory);
  }

  [[nodiscard]] MemoryManager open_at(const Clock& clock) const {
    Result<MemoryManager> memory =
        MemoryManager::open({.root = root_, .state_folder = state_, .clock = &clock});
    REQUIRE(memory.has_value());
    return std::move(*memory);
  }

  [[nodiscard]] std::string context(const std::string& task = {}) const {
    MemoryManager memory = open();
    const Result<Context> context = Knowledge(memory).context({.task = task, .since = {}});
    REQUIRE(context.has_value());
    return context->markdown;
  }

  /// Appends a line that somebody else wrote, as an import or git brings it.
  void bring(const std::string& session, std::string_view line) const {
    REQUIRE(open(Origin::kElsewhere)
                .add_batch(session, EntryType::kFact, {&line, 1},
                           {.known = KnownEntries::kAppendVersion})
                .has_value());
  }

  /// Appends a line as git or an editor would, past the program.
  void append(const std::string& session, std::string_view line) const {
    std::ofstream(root_ + "/sessions/" + session + "/facts.jsonl", std::ios::app) << line << '\n';
  }

  [[nodiscard]] std::filesystem::path state_file(std::string_view name) const {
    return std::filesystem::directory_iterator(state_ + "/roots")->path() / name;
  }
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string path(std::string_view name) const { return folder_.path(name); }

 private:
  TemporaryDirectory folder_;
  std::string root_;
  std::string state_;
};

inline RememberParams rule(std::string value, std::string session = {}) {
  return {.category = Category::kConstraint,
          .key = "push",
          .value = std::move(value),
          .confidence = 1,
          .session_id = std::move(session)};
}

}  // namespace bmad_mem::test
