// Moved to bmad_mem/entry_type.hpp; include that.
#pragma once
#include "bmad_mem/entry_type.hpp"
