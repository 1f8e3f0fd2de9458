#include "encoder/lite_model.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <random>
#include <thread>

#include <doctest/doctest.h>

#include "base/hash.hpp"
#include "base/little_endian.hpp"
#include "encoder/made_weights.hpp"

namespace bmad_mem::test {
namespace {

using encoder::Activations;
using encoder::Finish;
using encoder::kBlock;
using encoder::Kernels;
using encoder::kernels_here;
using encoder::kVectorSize;
using encoder::LiteModel;
using encoder::Matrix;

std::shared_ptr<LiteModel> made_model(const Kernels& kernels) {
  return LiteModel::read(aligned_copy(made_weights_file()), "made", kernels).value();
}
LiteModel& fastest() {
  static const std::shared_ptr<LiteModel> model = made_model(*kernels_here().front());
  return *model;
}

/// Of all sizes, and what hurts.
std::vector<std::string> sharp_texts() {
  std::vector<std::string> texts = {"",
                                    "   ",
                                    std::string(3, '\0'),
                                    "\xFF\xFE\x80",
                                    "👩‍👩‍👧 👍🏽",
                                    "用户",
                                    "e\xCC\x81\xCC\x81\xCC\x81",
                                    "%",
                                    "the dog",
                                    std::string(1U << 20U, 'a')};
  std::string grown;
  for (int pieces = 0; pieces < 140; pieces += 5) {
    texts.push_back(grown);
    grown += "dingo";
  }
  return texts;
}

/// Of any texts, also those that encode() would not read.
std::vector<float> vectors_of(const LiteModel& model, const std::vector<std::string>& texts) {
  std::vector<encoder::PieceNumbers> pieces;
  for (const std::string& text : texts) {
    pieces.push_back(model.tokenizer().pieces_of(text));
  }
  return model.vectors(model.sentences(pieces));
}

double length(std::span<const float> vector) {
  double square = 0;
  for (const float number : vector) {
    square += double{number} * double{number};
  }
  return square;
}

}  // namespace

TEST_CASE("each text gets a vector of length 1, or none where nothing can be encoded") {
  const std::vector<std::string> texts = sharp_texts();
  const std::vector<float> vectors = fastest().encode(texts, {}).value();
  REQUIRE(vectors.size() == texts.size() * kVectorSize);
  double readable = 0;
  for (std::size_t text = 0; text < texts.size(); ++text) {
    CAPTURE(text);
    const encoder::CutText cut = fastest().tokenizer().cut(texts[text]);
    const double expected = 2 * cut.letters > 3 * cut.parts ? 1 : 0;
    readable += expected;
    CHECK(length(std::span(vectors).subspan(text * kVectorSize, kVectorSize)) ==
          doctest::Approx(expected).epsilon(1e-4));
  }
  CHECK(readable > 20);
  CHECK(readable < static_cast<double>(texts.size()) - 5);
  CHECK(fastest().encode({}, {}).value().empty());
}

TEST_CASE("a text gets the same vector alone and among others") {
  const std::vector<std::string> texts = sharp_texts();
  const std::vector<float> together = fastest().encode(texts, {}).value();
  for (std::size_t text = 0; text < texts.size(); ++text) {
    CAPTURE(text);
    const std::vector<float> alone = fastest().encode({&texts[text], 1}, {}).value();
    CHECK(std::ranges::equal(alone, std::span(together).subspan(text * kVectorSize, kVectorSize)));
  }
}

TEST_CASE("all kernels give the same bits") {
  std::vector<std::string> texts;
  std::string text = "a ";
  for (const std::size_t words : {1U, 3U, 9U, 40U}) {
    texts.push_back(text.append(words * 6, 'b'));
    text += " the dog ";
  }
  const std::vector<float> expected = vectors_of(*made_model(*kernels_here().back()), texts);
  for (const Kernels* kernels : kernels_here()) {
    CAPTURE(kernels->name);
    CHECK(vectors_of(*made_model(*kernels), texts) == expected);
  }
}

TEST_CASE("vectors have the same bits on every machine") {
  const std::vector<std::string> texts = {"the dog", "a cat is doing 5 things in the box"};
  const std::vector<float> vectors = vectors_of(fastest(), texts);
  std::string bytes;
  for (const float number : vectors) {
    put_little(std::bit_cast<std::uint32_t>(number), bytes);
  }
  CHECK(xxh3(made_weights_file()) == 0x3d0ca04ce9a7d0d9U);
  CHECK(xxh3(bytes) == 0xc5618a79e1bcf414U);
}

TEST_CASE("kernels sum the largest products without overflow") {
  const encoder::MatrixShape shape = {1536, kBlock};
  for (const int weight : {127, -127}) {
    for (const int input : {1, 255}) {  // -127 and 127
      const std::vector<std::int8_t> weights(std::size_t{shape.inputs} * shape.outputs,
                                             static_cast<std::int8_t>(weight));
      const std::vector<float> ones(shape.outputs, 1);
      const std::vector<float> biases(shape.outputs, 0);
      const std::vector<std::int32_t> zeros(
          shape.outputs, encoder::kByteZero * weight * static_cast<int>(shape.inputs));
      const Matrix matrix{shape, weights, ones, biases, zeros};
      Activations activations;
      activations.reshape(1, shape.inputs);
      std::ranges::fill(activations.bytes, static_cast<std::uint8_t>(input));
      activations.scales[0] = 1;
      for (const Kernels* kernels : kernels_here()) {
        CAPTURE(kernels->name);
        std::vector<float> out(shape.outputs);
        kernels->multiply(activations, matrix, Finish::kStore, out.data());
        CHECK(out ==
              std::vector<float>(shape.outputs, static_cast<float>(1536 * weight * (input - 128))));
      }
    }
  }
}

TEST_CASE("a deadline ends the encoding between texts") {
  const auto now = std::chrono::steady_clock::now();
  const std::vector<std::string> texts = {"the dog"};
  const auto result = fastest().encode(texts, now);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::E_QUERY_TIMEOUT);
  CHECK(fastest().encode(texts, now + std::chrono::hours(1)));
}

TEST_CASE("threads encode at the same time") {
  const std::vector<std::string> texts = {"the dog", "doing", "a cat is in the box"};
  const std::vector<float> expected = fastest().encode(texts, {}).value();
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  for (std::vector<float>& result : results) {
    threads.emplace_back([&] { result = fastest().encode(texts, {}).value(); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::vector<float>& result : results) {
    CHECK(result == expected);
  }
}

}  // namespace bmad_mem::test
