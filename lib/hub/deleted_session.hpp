// deleted_session.hpp - a session that was deleted as a whole, and is kept for a while. Its logs
// are no more, but purges and redactions of the feed reach what is kept, and its own are pushed.
#pragma once

#include <span>
#include <string>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/result.hpp"
#include "hub/mirror_state.hpp"
#include "session_feed.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Whether the session was deleted here as a whole, which the hub will hear of. `rows` come of it:
/// where nothing is known of it yet, they tell whether it is the one that was deleted.
Result<bool> is_deleted_here(const Store& store, const std::string& session_id,
                             std::span<const FeedRow> rows = {});

/// Whether a session that is there was begun again after the one that the mirror knows was deleted,
/// of which the hub has not heard.
Result<bool> is_begun_again(const Store& store, const SessionMirror& mirror);

/// Applies `rows` to a session of which is_deleted_here(), up to its last deletion among them: what
/// follows that in the feed is a new session. Durable on success.
Status apply_to_deleted(Store& store, const std::string& session_id, std::span<const FeedRow> rows,
                        std::string_view replica, FeedOutcome& outcome);

/// Redacts the kept copy of a line that left the logs. The caller holds the session's lock, or the
/// root's when there is no session, and saves the mirror.
Status redact_out_line(Store& store, SessionMirror& mirror, const FeedRow& row);

}  // namespace bmad_mem
