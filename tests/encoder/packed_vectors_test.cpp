// packed_vectors_test.cpp - four bits a number lose little, and all processors come to the same.
#include "encoder/packed_vectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "encoder/text_encoder.hpp"

namespace bmad_mem::test::packed_vectors_test {
namespace {

constexpr std::array<std::uint32_t, 9> kDimensions = {1, 31, 32, 64, 65, 100, 128, 384, 4096};

using Vector = std::vector<float>;

/// Of length 1, in any direction.
Vector drawn(std::uint32_t dimension, std::mt19937& random) {
  std::normal_distribution<float> normal;
  Vector vector(dimension);
  double square = 0;
  for (float& number : vector) {
    number = normal(random);
    square += double{number} * double{number};
  }
  for (float& number : vector) {
    number = static_cast<float>(number / std::sqrt(square));
  }
  return vector;
}

/// Between `one` and `other`; 0 is `one`.
Vector mixed(const Vector& one, const Vector& other, float share) {
  Vector vector(one.size());
  double square = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    vector[i] = one[i] * (1 - share) + other[i] * share;
    square += double{vector[i]} * double{vector[i]};
  }
  for (float& number : vector) {
    number = static_cast<float>(number / std::sqrt(square));
  }
  return vector;
}

double cosine(const Vector& one, const Vector& other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    sum += double{one[i]} * double{other[i]};
  }
  return sum;
}

std::vector<std::uint8_t> packed(const Vector& vector) {
  std::vector<std::uint8_t> row(packed_size(static_cast<std::uint32_t>(vector.size())), 0xEE);
  pack_vector(vector, row.data());
  return row;
}

/// The number that a row has at `at`, of `dimension`, as the picture in the header says it.
double unpacked(const std::vector<std::uint8_t>& row, std::size_t at, std::size_t dimension) {
  const std::uint8_t byte = row[at / 64 * 32 + at % 32];
  const int value = at % 64 < 32 ? byte & 0xF : byte >> 4;
  return (value - 8) * 3 / (7 * std::sqrt(static_cast<double>(dimension)));
}

std::int16_t compared(const Vector& query, const std::vector<std::uint8_t>& row) {
  std::int16_t quick = 0;
  std::int16_t plain = 0;
  PackedQuery(query).compare(row.data(), 1, &quick);
  PackedQuery(query, true).compare(row.data(), 1, &plain);
  CHECK(quick == plain);
  return quick;
}

}  // namespace

TEST_CASE("a packed number is the nearest step, and three deviations at most") {
  std::mt19937 random(7);
  for (const std::uint32_t dimension : kDimensions) {
    CAPTURE(dimension);
    const double step = 3 / (7 * std::sqrt(static_cast<double>(dimension)));
    for (int round = 0; round < 20; ++round) {
      const Vector vector = drawn(dimension, random);
      const std::vector<std::uint8_t> row = packed(vector);
      CHECK(is_packed(row.data()));
      for (std::size_t i = 0; i < dimension; ++i) {
        const double kept = std::clamp(double{vector[i]}, -7 * step, 7 * step);
        CHECK(std::abs(unpacked(row, i, dimension) - kept) <= step / 2 + 1e-6);
      }
    }
  }
}

TEST_CASE("a cosine of packed numbers is nearly that of the numbers") {
  struct Row {
    std::uint32_t dimension;
    double worst;
    double mean;
  };
  // A step is 3 / 7 deviation, whose error spreads by 0.124 of one; the query's 8 bits add little.
  constexpr std::array<Row, 6> kRows = {{{32, 0.12, 0.025},
                                         {64, 0.08, 0.020},
                                         {100, 0.07, 0.015},
                                         {128, 0.06, 0.015},
                                         {384, 0.035, 0.010},
                                         {4096, 0.015, 0.010}}};
  std::mt19937 random(11);
  for (const Row& row : kRows) {
    CAPTURE(row.dimension);
    const int rounds = row.dimension > 1000 ? 100 : 1000;
    double sum = 0;
    double worst = 0;
    for (int round = 0; round < rounds; ++round) {
      const Vector query = drawn(row.dimension, random);
      const auto share = static_cast<float>(round) / static_cast<float>(rounds);
      const Vector entry = mixed(query, drawn(row.dimension, random), share);
      const double error =
          std::abs(compared(query, packed(entry)) / kCosineScale - cosine(query, entry));
      sum += error;
      worst = std::max(worst, error);
    }
    MESSAGE(row.dimension, " numbers: worst ", worst, ", mean ", sum / rounds);
    CHECK(worst < row.worst);
    CHECK(sum / rounds < row.mean);
  }
}

TEST_CASE("the sum is that of the numbers as they are packed") {
  std::mt19937 random(3);
  for (const std::uint32_t dimension : kDimensions) {
    CAPTURE(dimension);
    for (int round = 0; round < 20; ++round) {
      const Vector query = drawn(dimension, random);
      const std::vector<std::uint8_t> row = packed(drawn(dimension, random));
      double sum = 0;
      for (std::size_t i = 0; i < dimension; ++i) {
        sum += query[i] * unpacked(row, i, dimension);
      }
      // The query has 127 steps up to its greatest number.
      CHECK(std::abs(compared(query, row) / kCosineScale - std::clamp(sum, -1.0, 1.0)) < 0.02);
    }
  }
}

TEST_CASE("any bytes are compared, and the same everywhere") {
  std::mt19937 random(5);
  for (const std::uint32_t dimension : kDimensions) {
    Vector query = drawn(dimension, random);
    std::vector<std::uint8_t> row(packed_size(dimension));
    for (int round = 0; round < 50; ++round) {
      std::ranges::generate(row, [&] { return static_cast<std::uint8_t>(random()); });
      row[0] = round == 0 ? 0 : row[0];
      CHECK((compared(query, row) == kNoVector) == (row[0] == 0));
    }
    std::ranges::fill(row, std::uint8_t{0xFF});
    std::ranges::fill(query, 1.0F / std::sqrt(static_cast<float>(dimension)));
    CHECK(compared(query, row) == kCosineScale);
    std::ranges::fill(row, std::uint8_t{0x11});
    CHECK(compared(query, row) == -kCosineScale);
  }
}

TEST_CASE("nothing in a text is not the same as no vector, and near to nothing as well") {
  std::mt19937 random(13);
  for (const std::uint32_t dimension : kDimensions) {
    const Vector query = drawn(dimension, random);
    const std::vector<std::uint8_t> empty = packed(Vector(dimension));
    CHECK(is_packed(empty.data()));
    CHECK(compared(query, empty) == kNothing);
    const std::vector<std::uint8_t> missing(packed_size(dimension));
    CHECK_FALSE(is_packed(missing.data()));
    CHECK(compared(query, missing) == kNoVector);
    CHECK(compared(Vector(dimension), packed(query)) == 0);
    CHECK(compared(Vector(dimension), empty) == kNothing);
  }
}

TEST_CASE("rows that lie side by side are compared one by one") {
  std::mt19937 random(17);
  const Vector query = drawn(100, random);
  std::vector<std::uint8_t> rows;
  std::vector<std::int16_t> wanted;
  for (int i = 0; i < 300; ++i) {
    const std::vector<std::uint8_t> row =
        i % 5 == 0 ? std::vector<std::uint8_t>(packed_size(100)) : packed(drawn(100, random));
    rows.insert(rows.end(), row.begin(), row.end());
    wanted.push_back(compared(query, row));
  }
  std::vector<std::int16_t> got(300);
  PackedQuery(query).compare(rows.data(), 300, got.data());
  CHECK(got == wanted);
  PackedQuery(query).compare(rows.data(), 0, nullptr);
}

}  // namespace bmad_mem::test::packed_vectors_test
