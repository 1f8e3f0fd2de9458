// Stands in for the model in C++, and goes when that comes.
#include "encoder/model.hpp"

namespace bmad_mem {

Result<std::shared_ptr<TextEncoder>> open_model(const std::string& path) {
  return Error{
      .code = ErrorCode::E_STORAGE_IO, .message = "this build reads no weights yet", .path = path};
}

}  // namespace bmad_mem
