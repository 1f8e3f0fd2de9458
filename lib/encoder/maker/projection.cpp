#include "maker/projection.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "base/little_endian.hpp"
#include "maker/conversion.hpp"
#include "weights.hpp"

namespace bmad_mem::encoder {
namespace {

using Table = std::vector<double>;  // [kWidth][kWidth]

/// The products of all pairs of numbers, summed over the sentences.
Table products_of(std::span<const float> sentences) {
  Table table(std::size_t{kWidth} * kWidth);
  for (std::size_t first = 0; first < sentences.size(); first += kWidth) {
    const std::span<const float> row = sentences.subspan(first, kWidth);
    for (std::size_t at = 0; at < kWidth; ++at) {
      for (std::size_t other = 0; other < kWidth; ++other) {
        table[at * kWidth + other] += double{row[at]} * double{row[other]};
      }
    }
  }
  return table;
}

/// Turns rows `a` and `b`.
void turn(double* a, double* b, double cosine, double sine) {
  for (std::size_t at = 0; at < kWidth; ++at) {
    const double before = a[at];
    a[at] = cosine * before - sine * b[at];
    b[at] = sine * before + cosine * b[at];
  }
}

/// Jacobi's method for symmetric matrices: the eigenvectors as rows, the values in the diagonal of
/// `table`.
Table eigenvectors_of(Table& table) {
  constexpr int kSweeps = 12;  // It converges quadratically; 8 are enough.
  Table vectors(table.size());
  for (std::size_t at = 0; at < kWidth; ++at) {
    vectors[at * kWidth + at] = 1;
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t p = 0; p < kWidth; ++p) {
      for (std::size_t q = p + 1; q < kWidth; ++q) {
        const double beside = table[p * kWidth + q];
        if (std::fabs(beside) <= 1e-15 * std::fabs(table[p * kWidth + p])) {
          continue;
        }
        const double half = (table[q * kWidth + q] - table[p * kWidth + p]) / (2 * beside);
        const double tangent = (half < 0 ? -1 : 1) / (std::fabs(half) + std::sqrt(half * half + 1));
        const double cosine = 1 / std::sqrt(tangent * tangent + 1);
        const double sine = tangent * cosine;
        turn(&table[p * kWidth], &table[q * kWidth], cosine, sine);
        for (std::size_t at = 0; at < kWidth; ++at) {
          double& a = table[at * kWidth + p];
          double& b = table[at * kWidth + q];
          const double before = a;
          a = cosine * before - sine * b;
          b = sine * before + cosine * b;
        }
        turn(&vectors[p * kWidth], &vectors[q * kWidth], cosine, sine);
      }
    }
  }
  return vectors;
}

/// Mixes the kVectorSize rows of kWidth numbers, whose signs a fixed sequence draws.
std::vector<double> rotated(const std::vector<double>& rows) {
  std::mt19937 signs(1);  // The same everywhere, as the standard says.
  std::vector<double> sign(kVectorSize);
  std::ranges::generate(sign, [&] { return (signs() & 1U) == 0 ? -1.0 : 1.0; });
  std::vector<double> mixed(rows.size());
  for (std::uint32_t to = 0; to < kVectorSize; ++to) {
    for (std::uint32_t from = 0; from < kVectorSize; ++from) {
      const double hadamard = std::popcount(to & from) % 2 == 0 ? 1 : -1;
      const double factor = hadamard * sign[from] / std::sqrt(double{kVectorSize});
      for (std::size_t at = 0; at < kWidth; ++at) {
        mixed[std::size_t{to} * kWidth + at] += factor * rows[std::size_t{from} * kWidth + at];
      }
    }
  }
  return mixed;
}

}  // namespace

std::string projection_of(std::span<const float> sentences) {
  Table table = products_of(sentences);
  const Table vectors = eigenvectors_of(table);
  std::vector<std::size_t> order(kWidth);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t at) { return table[at * kWidth + at]; });
  std::vector<double> rows;
  for (std::size_t at = 0; at < kVectorSize; ++at) {
    const auto from = vectors.begin() + static_cast<std::ptrdiff_t>(order[at] * kWidth);
    rows.insert(rows.end(), from, from + kWidth);
  }
  rows = rotated(rows);
  std::string bytes;
  std::string scales;
  for (std::size_t output = 0; output < kVectorSize; ++output) {
    std::array<std::int8_t, kWidth> weights{};
    const double scale =
        row_as_bytes(std::span<const double>(&rows[output * kWidth], kWidth), std::span(weights));
    bytes.append(reinterpret_cast<const char*>(weights.data()), weights.size());
    put_little(std::bit_cast<std::uint32_t>(static_cast<float>(scale)), scales);
  }
  return bytes + scales;
}

}  // namespace bmad_mem::encoder
