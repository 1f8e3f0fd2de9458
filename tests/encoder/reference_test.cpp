// reference_test.cpp - the model beside the package that it was made of.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "encoder/real_model.hpp"

namespace bmad_mem::test {
namespace {

using encoder::kernels_here;

double cosine(const std::vector<float>& ours, const std::vector<double>& theirs) {
  double product = 0;
  double our_square = 0;
  double their_square = 0;
  for (std::size_t at = 0; at < ours.size(); ++at) {
    product += double{ours[at]} * theirs[at];
    our_square += double{ours[at]} * double{ours[at]};
    their_square += theirs[at] * theirs[at];
  }
  return product / std::sqrt(our_square * their_square);
}

}  // namespace

TEST_CASE("texts have the pieces of the reference") {
  const auto model = real_model(*kernels_here().front());
  if (model == nullptr) {
    return;
  }
  for (const ReferenceText& reference : reference_texts()) {
    CAPTURE(reference.text);
    CHECK(model->tokenizer().pieces_of(reference.text) == reference.pieces);
  }
}

TEST_CASE("texts have the direction of the reference") {
  const auto model = real_model(*kernels_here().front());  // All kernels give the same bits.
  if (model == nullptr) {
    return;
  }
  double sum = 0;
  double count = 0;
  for (const ReferenceText& reference : reference_texts()) {
    CAPTURE(reference.text);
    const std::vector<float> sentence = model->sentences({&reference.pieces, 1});
    if (reference.pieces.empty()) {
      CHECK(std::ranges::all_of(sentence, [](float number) { return number == 0; }));
      continue;
    }
    const double same = cosine(sentence, reference.vector);
    CHECK(same >= 0.995);
    sum += same;
    ++count;
  }
  CHECK((count == 0 || sum / count >= 0.999));
}

TEST_CASE("texts that say the same are nearer than others") {
  const auto model = real_model(*kernels_here().front());
  if (model == nullptr) {
    return;
  }
  const std::vector<std::string> texts = {"I adopted a puppy last week",
                                          "She got a small dog in May.",
                                          "SELECT name FROM users WHERE id = 7;"};
  const std::vector<float> vectors = model->encode(texts, {}).value();
  const auto product = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t at = 0; at < encoder::kVectorSize; ++at) {
      sum += double{vectors[a * encoder::kVectorSize + at]} *
             double{vectors[b * encoder::kVectorSize + at]};
    }
    return sum;
  };
  CHECK(product(0, 0) == doctest::Approx(1));
  CHECK(product(0, 1) > product(0, 2));
  CHECK(product(0, 1) > product(1, 2));
}

TEST_CASE("what it can't read has no direction, and names mean nothing to it") {
  const auto model = real_model(*kernels_here().front());
  if (model == nullptr) {
    return;
  }
  for (const char* text : {"猫怕什么？", "Мы купили новую машину", "汽车", " ", "9f3a2b1c",
                           "dGhpcyBpcyBiYXNlNjQgdGV4dA=="}) {
    CAPTURE(text);
    const std::vector<float> vector = model->encode(std::vector<std::string>{text}, {}).value();
    CHECK(std::ranges::all_of(vector, [](float number) { return number == 0; }));
  }
  for (const char* text : {"We bought a new car", "Fix the flaky test of the merger (#412)"}) {
    CAPTURE(text);
    const std::vector<float> vector = model->encode(std::vector<std::string>{text}, {}).value();
    CHECK(std::ranges::any_of(vector, [](float number) { return number != 0; }));
  }
  for (const char* word : {"car", "automobile", "purchase", "puppy", "throughput"}) {
    CAPTURE(word);
    CHECK(model->knows(word));
  }
  for (const char* word :
       {"enoent", "nginx", "kowalski", "kubernetes", "9f3a2b1c", "zzz", "汽车"}) {
    CAPTURE(word);
    CHECK_FALSE(model->knows(word));
  }
}

}  // namespace bmad_mem::test
