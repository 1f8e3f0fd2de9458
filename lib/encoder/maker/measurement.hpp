// measurement.hpp - how fast and how exact a weights file is, for `bmad-bench encoder`.
#pragma once

#include <string>

#include "bmad_mem/result.hpp"
#include "kernels.hpp"

namespace bmad_mem::encoder {

/// One JSON object: "kernels", "open_ms" (an array of milliseconds of opening and one text),
/// "short_pieces", "short_ms", "long_pieces" and "long_ms" (arrays of milliseconds of CPU), and
/// where `reference` is not empty "texts", "other_pieces" (texts with pieces that differ from it),
/// "worst_cosine" and "mean_cosine". `reference`: the path of JSON lines with text, pieces and
/// vector. Errors: those of the files.
Result<std::string> measured(const std::string& weights, const std::string& reference,
                             const Kernels& kernels);

}  // namespace bmad_mem::encoder
