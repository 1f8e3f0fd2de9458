// search_settings.hpp - what the config and the clock say to a search.
#pragma once

#include "search/search.hpp"
#include "store/store.hpp"

namespace bmad_mem {

SearchSettings search_settings(const Store& store);

}  // namespace bmad_mem
