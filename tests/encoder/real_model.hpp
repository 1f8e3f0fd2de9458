// real_model.hpp - the model as people have it, where `./dev encoder` could make it, and the texts
// to compare it with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "encoder/lite_model.hpp"

namespace bmad_mem::test {

/// Of $BMAD_MEM_ENCODER, else of the build; null where there is none, and said so.
std::shared_ptr<encoder::LiteModel> real_model(const encoder::Kernels& kernels);

struct ReferenceText {
  std::string text;
  encoder::PieceNumbers pieces;
  std::vector<double> vector;
};

/// Of $BMAD_SHARED_DATA, else of ../shared/data beside the project; empty where there are none, and
/// said so.
std::vector<ReferenceText> reference_texts();

}  // namespace bmad_mem::test
