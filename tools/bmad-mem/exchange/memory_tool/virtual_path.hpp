// virtual_path.hpp - the paths that a model sees: "/memories" and what is below it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

struct VirtualPath {
  std::string given;               ///< As the model wrote it; answers repeat it.
  std::vector<std::string> names;  ///< From "/memories" on; empty for that itself.

  [[nodiscard]] bool is_root() const { return names.empty(); }
};

/// Takes apart what the model wrote. No name is empty, ".", ".." or holds a '/' or a NUL, nor does
/// it become such by decoding what looks like percent-encoding, however often. Errors:
/// E_INVALID_FORMAT with the sentence that the memory tool documents for it.
Result<VirtualPath> parse_virtual_path(std::string_view given);

/// Whether `inner` is `outer`, or below it.
bool is_within(const VirtualPath& inner, const VirtualPath& outer);

}  // namespace bmad_mem::cli
