// Moved to bmad_mem/rfc3339.hpp; include that.
#pragma once
#include "bmad_mem/rfc3339.hpp"
