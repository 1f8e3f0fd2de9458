#include "operations/rooms.hpp"

#include <memory>

#include "lifecycle/maintenance.hpp"
#include "lifecycle/repair.hpp"
#include "privacy/redaction.hpp"
#include "search/indexing.hpp"
#include "search/root_index.hpp"

namespace bmad_mem {

RoomsAbove all_rooms() {
  return {.make_root_index = [](const Store& store) { return std::make_shared<RootIndex>(store); },
          .compact = compact_session,
          .restore = restore_session,
          .tend_index =
              [](const Store& store) {
                tend_index(store, kEncodeAtTheEnd,
                           store.seals_any ? SealWhen::kAny : SealWhen::kSome,
                           store.replaces_vectors ? OtherVectors::kReplace : OtherVectors::kKeep);
              },
          .hide_id = hidden_id,
          .look_before_append = look_before_append,
          .open_user = open_user_store,
          .open_other = open_other_store};
}

}  // namespace bmad_mem
