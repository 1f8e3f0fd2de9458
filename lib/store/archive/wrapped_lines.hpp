// wrapped_lines.hpp - a text of wrapped lines (model/wrapped_line.hpp), one a line, read to its
// end.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "model/wrapped_line.hpp"

namespace bmad_mem {

/// Hands over the lines of `text` one by one. Empty lines are passed over, and the last one may
/// lack its '\n', as people's editors have it. `display_path` is where the text comes from. Errors:
/// E_STORAGE_CORRUPT with path, line and field, for a line that is no wrapped one; what `take`
/// returns, with path and line.
Status for_each_wrapped(std::string_view text, const std::string& display_path,
                        const std::function<Status(const WrappedLine&)>& take);

}  // namespace bmad_mem
