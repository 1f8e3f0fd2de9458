// prng.hpp - random numbers that are the same on every machine and in every year.
//
// The standard fixes its engines but not its distributions, and libm rounds differently from
// version to version: here is integer arithmetic only.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace bmad_mem::bench {

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
  }

  /// 0 <= result < `bound`, which lies in 1 .. 2^32. Biased by less than bound / 2^32.
  std::uint64_t below(std::uint64_t bound) {
    assert(bound > 0 && bound <= (std::uint64_t{1} << 32U));
    return ((next() >> 32U) * bound) >> 32U;
  }

  /// low <= result <= high.
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }

  bool percent(std::uint64_t chance) { return below(100) < chance; }

  /// One of the elements, each as likely.
  template <typename Container>
  const auto& pick(const Container& container) {
    return container[static_cast<std::size_t>(below(container.size()))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace bmad_mem::bench
