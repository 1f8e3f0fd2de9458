// search_settings.hpp - what the config and the clock say to a search.
#pragma once

#include "query/search.hpp"
#include "store.hpp"

namespace bmad_mem {

SearchSettings search_settings(const Store& store);

}  // namespace bmad_mem
