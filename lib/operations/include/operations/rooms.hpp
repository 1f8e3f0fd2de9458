// rooms.hpp - who does what the store asks of the rooms above it.
#pragma once

#include "store/store.hpp"

namespace bmad_mem {

RoomsAbove all_rooms();

}  // namespace bmad_mem
