// shared_session.hpp - sessions that are known by a name, such as "mem0", and by no conversation.
//
//   outside of git     mem0                          one for all
//   in a repository    mem0-w4q7m2s8, mem0-bn3v09kd  one for each writer: it is written to until
//                                                    git tracks it
//
// Branches and clones that write under the same name never change the same file, so git merges them
// without a driver. Readers take all sessions of the name as one.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/memory_manager.hpp"

namespace bmad_mem::cli {

/// Whether `session_id` is one of the sessions of `name`: "mem0", "mem0-2", "mem0-w4q7m2s8".
bool is_shared_session(std::string_view session_id, std::string_view name);

/// Those there are, oldest first, archived ones too.
Result<std::vector<std::string>> shared_sessions(const MemoryManager& memory,
                                                 std::string_view name);

/// The ids of entries that were deleted from them and can be restored, also with whole sessions.
Result<std::set<std::string, std::less<>>> deleted_of_shared(const MemoryManager& memory,
                                                             std::string_view name);

/// The session of `name` to write to now, which may not be there. One that has `size_max` bytes is
/// full; 0: none ever is.
Result<std::string> writable_session_id(const MemoryManager& memory, const std::string& name,
                                        std::uint64_t size_max = 0);
/// The same, made when there is none. `params.session_id` is the name.
/// Errors: as MemoryManager::create_session().
Result<std::string> writable_session(MemoryManager& memory, SessionParams params,
                                     std::uint64_t size_max = 0);

}  // namespace bmad_mem::cli
