// membership.cpp - a root becomes a mirror, begins again, and is an ordinary root once more.

#include <array>
#include <cassert>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "bmad_mem/hub.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "session_feed.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"

namespace bmad_mem {
namespace {

/// "hub join team shop", as far as config.json has noted it.
std::string join_command(const Store& store) {
  const HubConfig& config = store.config.hub;
  return fmt::format("hub join {} {}", config.service.empty() ? "SERVICE" : config.service,
                     config.project.empty() ? "PROJECT" : config.project);
}

/// As load_mirror_state(); of a damaged one, with what makes it again.
Result<std::optional<MirrorState>> load_state(const Store& store) {
  Result<std::optional<MirrorState>> state = load_mirror_state(*store.files);
  if (!state && state.error().code == ErrorCode::E_STORAGE_CORRUPT) {
    Error error = state.error();
    error.message = fmt::format(
        "is damaged; `bmad-mem hub leave` and `{}` make it again, and keep what was not pushed",
        join_command(store));
    return error;
  }
  return state;
}

/// Errors: E_HUB_NOT_FOUND when the root has joined none.
Result<MirrorState> joined_state(const Store& store) {
  BMAD_TRY_ASSIGN(std::optional<MirrorState> state, load_state(store));
  if (!state) {
    return Error{.code = ErrorCode::E_HUB_NOT_FOUND,
                 .message = fmt::format("this memory has joined no hub; `bmad-mem {}` does it",
                                        join_command(store))};
  }
  return *std::move(state);
}

Error not_there(const std::string& session_id, std::string_view why) {
  return {.code = ErrorCode::E_SESSION_NOT_FOUND,
          .message = fmt::format("session {} {}", session_id, why)};
}

/// The author of a clone chose its hub, and its lines.
Status check_trusted(const Store& store) {
  if (!store.origins->is_foreign()) {
    return {};
  }
  return path_error(ErrorCode::E_ACCESS_DENIED, store.files->display_path(kHubFolder),
                    "this memory came from elsewhere, and the name of its hub may have, too; "
                    "`bmad-mem trust` makes it yours");
}

Result<FileLock::Guard> acquire(const Store& store, FileLock& lock) {
  return lock.acquire(
      {.operation = "sync", .agent_id = store.agent_id, .timeout = store.lock_timeout});
}

}  // namespace

std::string new_replica_id() {
  std::string id;
  while (id.size() < 32) {
    id += fmt::format("{:04x}", system_random() & 0xFFFFU);
  }
  assert(id.size() == 32);
  return fmt::format("{}-{}-{}-{}-{}", id.substr(0, 8), id.substr(8, 4), id.substr(12, 4),
                     id.substr(16, 4), id.substr(20, 12));
}

FileLock mirror_lock(Store& store) {
  return {*store.files, store.clock, kHubLockName, kHubLockInfoName};
}

Result<JoinedMirror> lock_mirror(Store& store, FileLock& lock) {
  BMAD_TRY(joined_state(store));
  BMAD_TRY(check_trusted(store));
  BMAD_TRY_ASSIGN(FileLock::Guard guard, acquire(store, lock));
  // Another process may have synchronized, or left, while we waited.
  BMAD_TRY_ASSIGN(MirrorState state, joined_state(store));
  return JoinedMirror{.state = std::move(state), .guard = std::move(guard)};
}

Status check_head(const Store& store, const MirrorState& state, const HubHead& head, bool pulls) {
  if (head.version > kHubVersion || head.min_client > kHubVersion) {
    return Error{.code = ErrorCode::E_HUB_VERSION,
                 .message = "the hub is of a newer version; install a newer bmad-mem"};
  }
  // Seqs behind the last row have none, so a head may also go back to it: it was beyond all rows.
  const std::uint64_t last = state.mark.seq != 0 ? state.mark.seq : state.cursor;
  if (head.head < last || head.pushed < state.pushed) {
    return restored_hub(head.head, state.cursor);
  }
  if (!head.is_replica) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message =
                     "the hub does not know this replica, or has dropped it; `bmad-mem hub "
                     "leave` and `hub join` make it a new one"};
  }
  const std::chrono::days most(store.config.hub.stale_days);
  if (!pulls && head.now - head.seen_at > most) {  // What others forgot must not come back.
    return Error{
        .code = ErrorCode::E_CONCURRENT_MOD,
        .message = fmt::format(
            "the hub has not seen this replica for {} days, and memory_config.hub.stale_days is "
            "{}: it has to pull before it pushes; `bmad-mem sync` does both",
            std::chrono::floor<std::chrono::days>(head.now - head.seen_at).count(), most.count())};
  }
  return {};
}

Status join_hub(MemoryManager& memory, Hub& hub, const JoinOptions& options) {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(memory, "sync"));
  BMAD_TRY_ASSIGN(const std::optional<MirrorState> there, load_state(*store));
  if (there) {
    return path_error(ErrorCode::E_CONCURRENT_MOD, store->files->display_path(kHubStateFile),
                      fmt::format("this memory is a mirror of {} already; `bmad-mem hub "
                                  "leave` ends that",
                                  there->project));
  }
  BMAD_TRY(check_trusted(*store));
  // hub/sessions is of a hub that was left without a word: its state.json is gone.
  BMAD_TRY(remove_tree(*store->files, kHubSessionsFolder));
  const std::string replica = new_replica_id();
  BMAD_TRY(hub.add_replica(replica, options.host));
  return save_mirror_state(
      *store->files, {.service = options.service, .project = options.project, .replica = replica});
}

Status leave_hub(MemoryManager& memory) {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(memory, "hub leave"));
  const Result<MirrorState> joined = joined_state(*store);
  if (!joined && joined.error().code != ErrorCode::E_STORAGE_CORRUPT) {
    return joined.error();
  }
  FileLock lock = mirror_lock(*store);  // A sync that runs would write it again.
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, acquire(*store, lock));
  return remove_tree(*store->files, kHubFolder);
}

Status reclone_from_hub(MemoryManager& memory, Hub& hub, std::span<const std::string> sessions) {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(memory, "hub reclone"));
  FileSystem& files = *store->files;
  FileLock lock = mirror_lock(*store);
  BMAD_TRY_ASSIGN(JoinedMirror mirror, lock_mirror(*store, lock));
  BMAD_TRY_ASSIGN(const HubHead head, hub.head());
  if (sessions.empty()) {
    // Killed before the cursor is 0, it has to look at all again.
    mirror.state.seen.clear();
    BMAD_TRY(save_mirror_state(files, mirror.state));
    BMAD_TRY_ASSIGN(const std::vector<std::string> all, mirrored_sessions(files));
    for (const std::string& session_id : all) {
      BMAD_TRY(save_session_mirror(files, {.session_id = session_id, .is_behind = true}));
    }
    mirror.state.cursor = 0;
    mirror.state.mark = {};
    mirror.state.pushed = head.pushed;
    BMAD_TRY(save_mirror_state(files, mirror.state));
    for (const std::string& session_id : all) {
      BMAD_TRY_ASSIGN(const bool is_there, is_session_there(files, session_id));
      if (is_there || is_archived(*store, session_id)) {  // Others may have been deleted here.
        BMAD_TRY(remove_durably(files, hub_session_path(session_id)));
      }
    }
    return {};
  }
  FeedOutcome outcome;
  for (const std::string& session_id : sessions) {
    BMAD_TRY(check_session_id(session_id));
    BMAD_TRY_ASSIGN(const bool is_deleted, is_deleted_here(*store, session_id));
    if (is_deleted) {
      return not_there(session_id,
                       fmt::format("was deleted here, which the next sync reports to the hub; "
                                   "`bmad-mem session undelete {}` restores it",
                                   session_id));
    }
    mirror.state.seen.erase(session_id);
    BMAD_TRY(save_mirror_state(files, mirror.state));
    BMAD_TRY(apply_again(*store, hub, session_id, mirror.state.cursor, outcome));
    BMAD_TRY_ASSIGN(const bool is_there, is_session_there(files, session_id));
    if (!is_there && !is_archived(*store, session_id)) {
      return not_there(
          session_id,
          "is neither here nor at the hub; `bmad-mem session list` lists those that are here");
    }
  }
  refresh_changed(*store, outcome);
  return {};
}

Result<MirrorReport> mirror_report(const MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(memory, "hub status"));
  BMAD_TRY_ASSIGN(const MirrorState state, joined_state(*store));
  return MirrorReport{.service = state.service,
                      .project = state.project,
                      .replica = state.replica,
                      .cursor = state.cursor,
                      .stale_days = store->config.hub.stale_days};
}

Result<std::uint64_t> sessions_to_push(const MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(memory, "hub status"));
  BMAD_TRY_ASSIGN(const MirrorState state, joined_state(*store));
  std::uint64_t count = 0;
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, store->session_ids());
  BMAD_TRY_ASSIGN(const SessionDigests digests, SessionDigests::look(*store));
  for (const std::string& session_id : ids) {
    BMAD_TRY_ASSIGN(const std::uint64_t digest, digests.of(session_id));
    const auto seen = state.seen.find(session_id);
    count += seen == state.seen.end() || seen->second != digest ? 1 : 0;
  }
  return count;
}

FeedMark mark_of(const FeedRow& row) {
  return {.seq = row.seq,
          .hash = xxh3(fmt::format("{} {} {} {} {} {}", row.replica, static_cast<int>(row.op),
                                   row.session_id, static_cast<int>(row.log), row.target,
                                   row.entry_id))};
}

Status check_feed(Hub& hub, const MirrorState& state) {
  if (state.mark.seq == 0) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<FeedRow> rows, hub.rows(std::array{state.mark.seq}));
  if (rows.size() != 1 || mark_of(rows.front()) != state.mark) {
    return restored_hub(state.mark.seq - 1, state.cursor);
  }
  return {};
}

Error restored_hub(std::uint64_t head, std::uint64_t cursor) {
  return {
      .code = ErrorCode::E_STORAGE_CORRUPT,
      .message = fmt::format(
          "the hub has {} rows at most of the {} that this memory has applied: it was restored "
          "from a backup; nothing was changed; `bmad-mem hub repush` gives it back what it lost",
          head, cursor)};
}

}  // namespace bmad_mem
