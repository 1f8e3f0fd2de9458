// model.hpp - the model in C++: its weights are a file, encoder.bmw.
#pragma once

#include <memory>
#include <string>

#include "bmad_mem/result.hpp"
#include "encoder/text_encoder.hpp"

namespace bmad_mem {

/// Errors: E_STORAGE_IO for a file that can't be read.
Result<std::shared_ptr<TextEncoder>> open_model(const std::string& path);

}  // namespace bmad_mem
