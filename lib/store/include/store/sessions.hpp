// sessions.hpp - sessions made, found and described.
#pragma once

#include <functional>
#include <string>

#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<std::string> create_session(Store& store, const SessionParams& params);
/// See MemoryManager::adopt_session().
Status adopt_session(Store& store, const Session& identity);
/// See MemoryManager::usual_session().
Result<UsualSession> usual_session(Store& store, const SessionParams& fresh,
                                   const std::function<Result<bool>()>& is_needed = {});
/// Removes what crashes have left of sessions that were never created. The caller holds the root's
/// lock, so none of them is in the making.
Status remove_unfinished_sessions(Store& store);

Result<Session> describe_session(const Store& store, const std::string& session_id);
SessionState state_of(const Store& store, const Session& session);

}  // namespace bmad_mem
