// rehearsal.hpp - does the same operations to a store and to its model, and compares all there is
// to see after each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model_based/memory_model.hpp"
#include "model_based/operations.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test {

class Rehearsal {
 public:
  /// Does one operation to both. Ends the property (RC_ASSERT) when the two differ.
  void perform(const Operation& operation);
  /// Compares bytes, entries, versions, search, counts and findings.
  void compare();

  // How rich a series was, for the shares that RapidCheck prints.
  [[nodiscard]] bool has_versions();
  [[nodiscard]] bool has_quarantine();

 private:
  static std::string session_name(const Operation& operation);
  void create_session(const Operation& operation);
  void add(const Operation& operation);
  void add_batch(const Operation& operation);
  void edit(const Operation& operation);
  void repair();

  /// What the model expects of a batch.
  struct Expected {
    std::string lines;
    std::vector<std::string> ids;
    std::size_t skipped = 0;
    std::size_t rejected = 0;
  };
  Expected expected_of(const Operation& operation);

  void compare_bytes(const std::string& session);
  void compare_quarantine(const std::string& session);
  void compare_findings(const std::string& session);
  void compare_entries();
  void compare_search();

  MemoryFixture memory_;
  MemoryModel model_;
  std::string latest_word_;
};

}  // namespace bmad_mem::test
