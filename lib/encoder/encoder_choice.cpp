#include "encoder/encoder_choice.hpp"

namespace bmad_mem {

Result<std::shared_ptr<TextEncoder>> encoder_of(const Store& /*store*/) {
  return std::shared_ptr<TextEncoder>();
}

}  // namespace bmad_mem
