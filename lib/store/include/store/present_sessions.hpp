// present_sessions.hpp - which sessions a memory has, in folders and in archives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bmad_mem/question.hpp"
#include "bmad_mem/result.hpp"
#include "store/store.hpp"
#include "store/store_watch.hpp"

namespace bmad_mem {

/// How many parts of what was evicted there are, by session.
using EvictedParts = std::map<std::string, std::uint32_t, std::less<>>;

/// The sessions there are: each in one of the first two lists, all sorted.
struct PresentSessions {
  std::vector<std::string> live;
  std::vector<std::string> packed;
  EvictedParts evicted;  ///< Of these, those that something was evicted from.
};

/// One that comes or goes while they are listed is among them. It need not be where the list says.
/// With `with_remains`, folders that hold no session any more are among the live ones, unless there
/// is an archive: to look at each takes a third of a search over many.
Result<PresentSessions> present_sessions(const Store& store, bool with_remains = false);

/// Whether a folder that was listed holds no session any more. Errors: one that is_not_found() when
/// that was archived meanwhile, so that it may be in no list.
Result<bool> has_gone(const Store& store, const std::string& session_id);

/// What was found once, and until when that holds; see Store::present.
struct CachedSessions {
  PresentSessions sessions;
  StoreWatch::Moment moment = 0;
  std::uint64_t look = 0;  ///< See Question.
};

/// Of `sessions` those that something was evicted from; of all when it is empty.
Result<EvictedParts> evicted_sessions(const Store& store, std::span<const std::string> sessions);

/// Whether `session_id` is a folder still, after it was read as one: a folder that went meanwhile
/// looked empty. What is no folder is noted as left out. Errors: one that is_not_found() when it
/// has gone.
Status check_still_there(const Store& store, const std::string& session_id);

/// The folder of a session before it is read, and the one of archives before that.
struct SeenFolder {
  std::string session_id;
  std::optional<FileInfo> folder = std::nullopt;
  std::optional<FileInfo> archives = std::nullopt;
};
SeenFolder see_folder(const Store& store, const std::string& session_id);
/// As check_still_there() of its session, which must not have gone and come back either: in between
/// it looked empty.
Status check_still_there(const Store& store, const SeenFolder& seen);
/// What is at `path`, if anything.
std::optional<FileInfo> look_at(const Store& store, const std::string& path);

/// What `look` finds in the sessions there are; it looks again when one came or went meanwhile, and
/// when a packed one turned out to be damaged: that one is left out then.
template <typename Look>
auto choose_steadily(const Store& store, const Look& look) -> decltype(look()) {
  constexpr int kTries = 32;  // Somebody may compact and archive without a pause.
  for (int tries = 1;;) {
    const std::uint64_t damages = store.damages;
    auto found = look();
    if (found) {
      return found;
    }
    if (store.damages != damages) {
      continue;  // No two times for the same file.
    }
    if (!is_not_found(found.error()) || tries++ == kTries) {
      return found;
    }
    Question::note_change();  // What it went by is not so any more.
  }
}

}  // namespace bmad_mem
