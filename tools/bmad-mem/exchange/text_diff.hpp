// text_diff.hpp - what changed between two texts, as `diff -u` shows it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// The hunks of a unified diff, each line with its '\n': "@@ -1,3 +1,4 @@", " kept", "-gone",
/// "+new", with `context` lines around each change. Empty when the texts are equal. Where a
/// thousand lines and more lie between the first and the last change, all of them count as changed.
std::string unified_diff(std::string_view before, std::string_view after, std::size_t context);

}  // namespace bmad_mem::cli
