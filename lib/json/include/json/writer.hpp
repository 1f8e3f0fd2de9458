// Moved to bmad_mem/json_writer.hpp; include that.
#pragma once
#include "bmad_mem/json_writer.hpp"
