// Moved to bmad_mem/json_value.hpp; include that.
#pragma once
#include "bmad_mem/json_value.hpp"
