#include "operations/rooms.hpp"

#include <chrono>
#include <memory>

#include "lifecycle/maintenance.hpp"
#include "privacy/redaction.hpp"
#include "search/indexing.hpp"
#include "search/root_index.hpp"

namespace bmad_mem {

namespace {

/// How long a process that has answered encodes before it ends.
constexpr std::chrono::milliseconds kTendMax{200};

}  // namespace

RoomsAbove all_rooms() {
  return {.make_root_index = [](const Store& store) { return std::make_shared<RootIndex>(store); },
          .compact = compact_session,
          .restore = restore_session,
          .tend_index = [](const Store& store) { tend_index(store, kTendMax); },
          .hide_id = hidden_id,
          .open_user = open_user_store};
}

}  // namespace bmad_mem
