// encoder_choice.hpp - which encoder a root uses.
//
//   memory_config.encoder: enabled, path, command, url ...   --> a program, a server, or
//   encoder.bmw beside the program, in ../share/bmad-mem     --> the model in C++
#pragma once

#include <memory>

#include "bmad_mem/result.hpp"
#include "encoder/text_encoder.hpp"

namespace bmad_mem {

struct Store;

/// The encoder of `store`, opened once; null where there is none, or the config wants none. Errors:
/// why the one that is asked for can't be used: a weights file that does not hold, a root that
/// nobody trusts, an address that is not of this machine.
Result<std::shared_ptr<TextEncoder>> encoder_of(const Store& store);

}  // namespace bmad_mem
