// Moved to bmad_mem/json_parser.hpp; include that.
#pragma once
#include "bmad_mem/json_parser.hpp"
