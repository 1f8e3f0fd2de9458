// posix_error.hpp - from errno to an Error that says what was tried and what to do next.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// `action` is what failed, as an infinitive: "read", "write to", "rename". E_STORAGE_FULL for
/// ENOSPC, EDQUOT and EFBIG, otherwise E_STORAGE_IO.
Error posix_error(int error_number, std::string_view action, std::string path);

}  // namespace bmad_mem
