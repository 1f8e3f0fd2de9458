// made_weights.hpp - weights that were drawn, not learned: whole files for tests, without a
// network.
#pragma once

#include <string>
#include <string_view>

#include "encoder/weights.hpp"

namespace bmad_mem::test {

/// A file of few pieces: the letters, the space, and some pairs and words of them. The same each
/// time.
const std::string& made_weights_file();

/// `file` with the XXH3 that it should end with.
std::string with_weights_hash(std::string file);

/// As a model reads it.
encoder::AlignedBytes aligned_copy(std::string_view file);

}  // namespace bmad_mem::test
