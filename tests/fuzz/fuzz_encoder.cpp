// fuzz_encoder.cpp - texts for the encoder, and weights files with changed bytes.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "encoder/lite_model.hpp"
#include "encoder/made_weights.hpp"
#include "fuzz/changed_bytes.hpp"
#include "fuzz/fuzz_targets.hpp"
#include "fuzz/must.hpp"

namespace bmad_mem::test {
namespace {

using encoder::kVectorSize;
using encoder::LiteModel;

void check_text(std::string_view text) {
  static const std::shared_ptr<LiteModel> model =
      LiteModel::read(aligned_copy(made_weights_file()), "made").value();
  const encoder::PieceNumbers pieces = model->tokenizer().pieces_of(text);
  must(pieces.size() <= encoder::kPiecesMax, "few enough pieces");
  must(text.empty() == pieces.empty(), "a text has pieces");
  for (std::size_t at = 0; at < pieces.size(); ++at) {
    must(pieces[at] < model->weights().rows, "a piece has a row");
    must(at == 0 || pieces[at] != 0 || pieces[at - 1] != 0, "unknown neighbours are one");
  }
  const std::vector<std::string> texts = {std::string(text), "the dog"};
  const std::vector<float> vectors = model->encode(texts, {}).value();
  must(vectors.size() == texts.size() * kVectorSize, "each text has a vector");
  double square = 0;
  for (std::size_t at = 0; at < kVectorSize; ++at) {
    square += double{vectors[at]} * double{vectors[at]};
  }
  must(square == 0 || std::fabs(square - 1) < 1e-3, "a vector has length 1");
  must(model->encode(texts, {}).value() == vectors, "vectors are the same again");
}

void check_file(std::string_view changes, bool has_right_hash) {
  std::string file = changed_bytes(made_weights_file(), changes);
  if (has_right_hash) {
    file = with_weights_hash(std::move(file));
  }
  const auto model = LiteModel::read(aligned_copy(file), "made");
  if (!model) {
    must(model.error().code == ErrorCode::E_STORAGE_CORRUPT ||
             model.error().code == ErrorCode::E_NEWER_VERSION,
         "the code says what it is");
    return;
  }
  must(has_right_hash || file == made_weights_file(), "no change without its hash is taken");
  const std::vector<std::string> texts = {"the dog is doing"};
  must((*model)->encode(texts, {}).value().size() == kVectorSize, "each text has a vector");
}

}  // namespace

void fuzz_encoder(std::string_view bytes) {
  if (bytes.empty()) {
    return;
  }
  const std::string_view rest = bytes.substr(1);
  switch (static_cast<unsigned char>(bytes.front()) % 4) {
    case 0:
      return check_file(rest, false);
    case 1:
      return check_file(rest, true);
    default:
      return check_text(rest);
  }
}

}  // namespace bmad_mem::test
