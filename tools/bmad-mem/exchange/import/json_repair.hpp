// json_repair.hpp - JSON from programs that are less strict than we are.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// `text` with what the parser refuses in strings replaced by U+FFFD: bytes that are not UTF-8, NUL
/// (raw or as \u0000), and half a surrogate pair, as JavaScript writes it when it cuts a text in
/// the middle of an emoji. What is wrong otherwise stays wrong.
std::string repaired_json(std::string_view text);

}  // namespace bmad_mem::cli
