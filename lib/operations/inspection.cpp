// inspection.cpp - what people want to know of a memory at work: its locks and its settings.
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/locks.hpp"
#include "bmad_mem/settings.hpp"
#include "store/access.hpp"
#include "store/config.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"

namespace bmad_mem {

Result<std::vector<LockHolder>> list_lock_holders(const MemoryManager& memory) {
  const Store& store = MemoryInside::settings(memory);
  std::vector<LockHolder> holders;
  const auto probe = [&](std::string session_id, const std::string& lock,
                         const std::string& info) -> Status {
    BMAD_TRY_ASSIGN(std::optional<LockHolder> holder, probe_lock(*store.files, lock, info));
    if (holder) {
      holder->session_id = std::move(session_id);
      holders.push_back(*std::move(holder));
    }
    return {};
  };
  BMAD_TRY(probe("", kLockName, kLockInfoName));
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.session_ids());
  for (const std::string& session_id : sessions) {
    BMAD_TRY(probe(session_id, lock_path(session_id), lock_info_path(session_id)));
  }
  return holders;
}

std::string effective_settings(const MemoryManager& memory) {
  return config_text(MemoryInside::settings(memory).config);
}

}  // namespace bmad_mem
