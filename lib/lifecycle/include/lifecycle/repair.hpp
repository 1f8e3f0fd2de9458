// repair.hpp - what is wrong with what is stored, and mending it.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<VerifyReport> verify_store(const Store& store, std::span<const std::string> sessions,
                                  const MemoryManager::Progress& on_progress);
Result<RepairReport> repair_store(
    Store& store, std::span<const std::string> sessions, const MemoryManager::Progress& on_progress,
    const std::function<bool(const std::string& session_id)>& is_elsewhere = {});
/// See MemoryManager::accept_changes().
Result<RepairReport> accept_changes(Store& store, std::span<const std::string> sessions);

}  // namespace bmad_mem
