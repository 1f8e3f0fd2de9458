// packed_vectors.cpp - packs vectors to four bits a number, and computes cosines with them.
#include "encoder/packed_vectors.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bmad_mem {
namespace {

constexpr std::size_t kGroup = 64;  // Numbers.
constexpr std::size_t kHalf = kGroup / 2;
constexpr float kStepsMost = 7;
constexpr int kZero = 8;  // The value of a number that is 0.

float steps_per_one(std::size_t dimension) {
  return kStepsMost / 3 * std::sqrt(static_cast<float>(dimension));
}

std::uint8_t packed_number(std::span<const float> vector, std::size_t at, float steps) {
  const float value = at < vector.size() ? vector[at] * steps : 0;
  return static_cast<std::uint8_t>(
      kZero + static_cast<int>(std::lround(std::clamp(value, -kStepsMost, kStepsMost))));
}

/// Whether a row is what zeros were packed to. A unit vector has a number of at least 2 steps.
bool has_nothing(const std::uint8_t* row, std::size_t size) {
  return std::all_of(row, row + size, [](std::uint8_t two) { return two == (kZero << 4 | kZero); });
}

/// The sum over one row of value times number.
std::int32_t plain_dot(const std::uint8_t* row, std::span<const std::int8_t> numbers) {
  assert(numbers.size() % kGroup == 0);
  std::int32_t sum = 0;
  for (std::size_t group = 0; group * kGroup < numbers.size(); ++group) {
    const std::uint8_t* const bytes = row + group * kHalf;
    const std::int8_t* const low = numbers.data() + group * kGroup;
    for (std::size_t i = 0; i < kHalf; ++i) {
      sum += (bytes[i] & 0xF) * low[i] + (bytes[i] >> 4) * low[kHalf + i];
    }
  }
  return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::int32_t avx2_dot(const std::uint8_t* row,
                                                      std::span<const std::int8_t> numbers) {
  const __m256i low_bits = _mm256_set1_epi8(0xF);
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sum = _mm256_setzero_si256();
  for (std::size_t group = 0; group * kGroup < numbers.size(); ++group) {
    const auto at = [&](const void* from) __attribute__((target("avx2"))) {
      return _mm256_loadu_si256(static_cast<const __m256i*>(from));
    };
    const __m256i bytes = at(row + group * kHalf);
    const std::int8_t* const its = numbers.data() + group * kGroup;
    // Two products of 15 x 127 each: no sum of four is beyond 16 bits.
    const __m256i low = _mm256_maddubs_epi16(_mm256_and_si256(bytes, low_bits), at(its));
    const __m256i high = _mm256_maddubs_epi16(
        _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_bits), at(its + kHalf));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_add_epi16(low, high), ones));
  }
  const __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  const __m128i quarter = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
  return _mm_cvtsi128_si32(_mm_add_epi32(quarter, _mm_shuffle_epi32(quarter, 0xB1)));
}
#endif

auto best_dot() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) {
    return avx2_dot;
  }
#endif
  return plain_dot;
}

}  // namespace

void pack_vector(std::span<const float> vector, std::uint8_t* row) {
  assert(!vector.empty() && row != nullptr);
  const float steps = steps_per_one(vector.size());
  for (std::size_t i = 0; i < packed_size(static_cast<std::uint32_t>(vector.size())); ++i) {
    const std::size_t number = i / kHalf * kGroup + i % kHalf;
    row[i] = static_cast<std::uint8_t>(packed_number(vector, number, steps) |
                                       packed_number(vector, number + kHalf, steps) << 4U);
  }
}

PackedQuery::PackedQuery(std::span<const float> vector, bool is_plain)
    : dot_(is_plain ? plain_dot : best_dot()),
      numbers_((vector.size() + kGroup - 1) / kGroup * kGroup) {
  constexpr float kMost = 127;
  float most = 0;
  for (const float number : vector) {
    most = std::max(most, std::abs(number));
  }
  if (most == 0) {
    return;
  }
  for (std::size_t i = 0; i < vector.size(); ++i) {
    numbers_[i] = static_cast<std::int8_t>(std::lround(vector[i] * kMost / most));
    offset_ += kZero * numbers_[i];
  }
  scale_ = most / kMost / steps_per_one(vector.size()) * static_cast<float>(kCosineScale);
}

void PackedQuery::compare(const std::uint8_t* rows, std::size_t count,
                          std::int16_t* cosines) const {
  const std::size_t size = numbers_.size() / 2;
  for (std::size_t i = 0; i < count; ++i, rows += size) {
    if (!is_packed(rows)) {
      cosines[i] = kNoVector;
      continue;
    }
    const std::int32_t sum = dot_(rows, numbers_) - offset_;
    constexpr float kMost = kCosineScale;
    cosines[i] = sum == 0 && has_nothing(rows, size)
                     ? kNothing
                     : static_cast<std::int16_t>(
                           std::clamp(static_cast<float>(sum) * scale_, -kMost, kMost));
  }
}

}  // namespace bmad_mem
