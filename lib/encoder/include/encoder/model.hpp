// model.hpp - the encoder in C++: Universal Sentence Encoder lite, its weights in one file.
//
//   text -> at most 128 pieces -> transformer, 512 numbers -> projection, 128 numbers of length 1
//
// The same file and the same text give the same vector on every processor: integers are exact, and
// floats are added in one order everywhere. The network is of Cer and others 2018
// (arXiv:1803.11175).
#pragma once

#include <memory>
#include <string>

#include "bmad_mem/result.hpp"
#include "encoder/text_encoder.hpp"

namespace bmad_mem {

/// Numbers of a vector of the model.
inline constexpr std::uint32_t kModelDimension = 128;

/// Reads the weights at `path`, 7 MB; the file may change or go afterwards. Errors: those of the
/// system with E_STORAGE_IO; E_STORAGE_CORRUPT for a file that is cut, changed or something else;
/// E_NEWER_VERSION. Each names the path and what to do.
Result<std::shared_ptr<TextEncoder>> open_model(const std::string& path);

}  // namespace bmad_mem
