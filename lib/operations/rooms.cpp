#include "operations/rooms.hpp"

#include <memory>

#include "lifecycle/archiving.hpp"
#include "lifecycle/compaction.hpp"
#include "search/held_indexes.hpp"
#include "search/root_index.hpp"

namespace bmad_mem {

void join_rooms(Store& store) {
  store.root_index = std::make_shared<RootIndex>(store);
  store.above = {.compact = compact_session, .restore = restore_session, .seal_index = seal_index};
}

}  // namespace bmad_mem
