// sha256.hpp - SHA-256 (FIPS 180-4), for names that other programs make with it.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// 64 hexadecimal digits, lower case. Not for secrets: it takes no care of timing.
std::string sha256_hex(std::string_view text);

}  // namespace bmad_mem::cli
