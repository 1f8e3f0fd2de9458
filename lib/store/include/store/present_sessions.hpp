// present_sessions.hpp - which sessions a memory has, in folders and in archives.
#pragma once

#include <string>
#include <vector>

#include "bmad_mem/result.hpp"
#include "store/store_watch.hpp"

namespace bmad_mem {

struct Store;

/// The sessions there are: each in one of the first two lists, all sorted.
struct PresentSessions {
  std::vector<std::string> live;
  std::vector<std::string> packed;
  std::vector<std::string> evicted;  ///< Of these, those that something was evicted from.
};

/// One that comes or goes while they are listed is among them. It need not be where the list says.
/// With `with_remains`, folders that hold no session any more are among the live ones, unless there
/// is an archive: to look at each takes a third of a search over many.
Result<PresentSessions> present_sessions(const Store& store, bool with_remains = false);

/// Whether a folder that was listed holds no session any more. Errors: one that is_not_found() when
/// that was archived meanwhile, so that it may be in no list.
Result<bool> has_gone(const Store& store, const std::string& session_id);

/// What was found once, and until when that holds; see Store::present.
struct KeptSessions {
  PresentSessions sessions;
  StoreWatch::Moment moment = 0;
};

}  // namespace bmad_mem
