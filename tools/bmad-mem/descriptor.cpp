#include "descriptor.hpp"

#include <unistd.h>

namespace bmad_mem::cli {

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    ::close(number_);
  }
}

}  // namespace bmad_mem::cli
