// main.cpp - an outside program: it includes public headers, links bmad_mem::bmad_mem, and keeps a
// memory of its own in the folder it is given.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bmad_mem/memory_manager.hpp"

namespace {

/// Remembers a decision in a session, then opens the memory anew and reads it back.
bmad_mem::Status remember_and_recall(const std::string& root) {
  BMAD_TRY(bmad_mem::MemoryManager::init(root));
  std::string id;
  {
    BMAD_TRY_ASSIGN(auto memory,
                    bmad_mem::MemoryManager::open({.root = root, .agent_id = "outside"}));
    BMAD_TRY_ASSIGN(const std::string session, memory.create_session({.user_id = "user-789"}));
    BMAD_TRY_ASSIGN(
        id, memory.add_decision(session, {.decision = "Use PostgreSQL", .rationale = "ACID"}));
  }
  BMAD_TRY_ASSIGN(const auto memory, bmad_mem::MemoryManager::open({.root = root}));
  BMAD_TRY_ASSIGN(const std::vector<bmad_mem::Entry> entries, memory.list({}));
  BMAD_TRY_ASSIGN(const std::vector<bmad_mem::Hit> hits, memory.query({.text = "why postgres"}));
  if (entries.size() != 1 || entries[0].id != id || hits.size() != 1 || hits[0].entry.id != id) {
    return bmad_mem::Error{.code = bmad_mem::ErrorCode::E_STORAGE_CORRUPT,
                           .message = "the decision did not come back"};
  }
  std::printf("%s: %s\n", id.c_str(), entries[0].headline.c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const bmad_mem::Status status = remember_and_recall(argc > 1 ? argv[1] : "memory");
  if (!status) {
    std::fprintf(stderr, "%s\n", status.error().to_string().c_str());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
