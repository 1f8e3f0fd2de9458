#include "encoder/encoder_choice.hpp"

#include <cstdlib>

#include "encoder/model.hpp"

namespace bmad_mem {

Result<std::shared_ptr<TextEncoder>> encoder_of(const Store& /*store*/) {
  const char* const path = std::getenv("BMAD_MEM_ENCODER");
  static const auto model =
      path == nullptr ? Result<std::shared_ptr<TextEncoder>>(nullptr) : open_model(path);
  return model;
}

}  // namespace bmad_mem
