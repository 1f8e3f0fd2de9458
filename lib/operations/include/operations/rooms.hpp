// rooms.hpp - an opened root with all rooms in it.
#pragma once

#include "store/store.hpp"

namespace bmad_mem {

/// Gives `store`, which was just made, its index and those who do what it asks of the rooms above
/// it. Whoever makes a Store calls it once.
void join_rooms(Store& store);

}  // namespace bmad_mem
