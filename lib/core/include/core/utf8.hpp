// Moved to bmad_mem/utf8.hpp; include that.
#pragma once
#include "bmad_mem/utf8.hpp"
