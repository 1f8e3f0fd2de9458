#include "store/unpacked_cache.hpp"

#include <memory>
#include <string>

#include <doctest/doctest.h>

namespace bmad_mem::test::unpacked_cache_test {
namespace {

void add(UnpackedCache& cache, std::uint64_t owner, std::size_t part, std::uint64_t size_max) {
  cache.add(owner, part, std::make_shared<std::string>(std::to_string(part)), 10, size_max);
}

bool holds(UnpackedCache& cache, std::uint64_t owner, std::size_t part) {
  const auto found = cache.find<std::string>(owner, part);
  return found != nullptr && *found == std::to_string(part);
}

}  // namespace

TEST_CASE("what is likely is free, and what is not is shared") {
  constexpr std::uint64_t kMax = UnpackBudget::kExcessMax;
  constexpr std::uint64_t kRatio = UnpackBudget::kLikelyRatio;
  UnpackBudget budget;
  CHECK(budget.allowed(1000, 5000) == 5000);
  for (int i = 0; i < 100; ++i) {
    budget.spend(kMax, kRatio * kMax);
  }
  CHECK(budget.allowed(1000, 10 * kMax) == kRatio * 1000 + kMax);
  const auto unpack = [](std::string_view /*packed*/, std::uint64_t size_max) {
    return size_max < kMax ? Result<std::string>(Error{.code = ErrorCode::E_SIZE_LIMIT})
                           : Result<std::string>("text");
  };
  const std::string packed(1000, 'x');
  CHECK(unpack_within(&budget, packed, kMax, unpack).value() == "text");
  budget.spend(1, kMax / 2);
  const auto refused = unpack_within(&budget, packed, kMax, unpack);
  REQUIRE(!refused);
  CHECK(refused.error().os_error == EAGAIN);  // At another time it would not be.
  CHECK(budget.allowed(1000, 10 * kMax) < kRatio * 1000 + kMax / 2);
  CHECK(unpack_within(nullptr, packed, kMax, unpack));
  CHECK(unpack_within(&budget, packed, kMax - 1, unpack).error().code == ErrorCode::E_SIZE_LIMIT);
}

TEST_CASE("of a limited budget everything is taken before it is unpacked") {
  UnpackBudget budget;
  CHECK(budget.take(1000 * UnpackBudget::kLikelyRatio, 1000));
  CHECK(budget.take(UnpackBudget::kExcessMax, 0));
  CHECK(budget.take(1000 * UnpackBudget::kLikelyRatio, 1000));
  CHECK(budget.take(1, 0).error().os_error == EAGAIN);
  UnpackBudget limited;
  limited.limit(1000);
  CHECK(limited.take(100, 0));
  CHECK(limited.take(1000, 100));  // The packed bytes were taken.
  CHECK(limited.take(1, 0).error().os_error == EAGAIN);
  CHECK(limited.take(1001, 0).error().os_error == EFBIG);  // It never has as many.
  const auto unpack = [](std::string_view /*packed*/, std::uint64_t /*size_max*/) {
    return Result<std::string>("text");
  };
  CHECK(unpack_within(&limited, "packed", 100, unpack).error().os_error == EAGAIN);
  CHECK(unpack_within(&limited, "packed", 6, unpack).value() == "text");
}

TEST_CASE("what was asked for last stays") {
  UnpackedCache cache;
  const std::uint64_t one = cache.new_owner();
  const std::uint64_t two = cache.new_owner();
  CHECK(one != two);
  add(cache, one, 1, 30);
  add(cache, one, 2, 30);
  add(cache, two, 1, 30);
  CHECK(cache.size() == 30);
  CHECK(holds(cache, one, 1));
  add(cache, two, 3, 30);
  CHECK_FALSE(holds(cache, one, 2));
  CHECK(holds(cache, one, 1));
  CHECK(holds(cache, two, 1));
  CHECK(holds(cache, two, 3));
  add(cache, two, 3, 30);  // Again: counted once.
  CHECK(cache.size() == 30);
  add(cache, one, 4, 0);
  CHECK(cache.size() == 10);
  CHECK(holds(cache, one, 4));
}

TEST_CASE("what is forgotten lives as long as somebody uses it") {
  UnpackedCache cache;
  const std::uint64_t one = cache.new_owner();
  const std::uint64_t two = cache.new_owner();
  add(cache, one, 1, 100);
  add(cache, one, static_cast<std::size_t>(-1), 100);
  add(cache, two, 1, 100);
  const auto used = cache.find<std::string>(one, 1);
  cache.forget(one);
  CHECK(cache.size() == 10);
  CHECK_FALSE(holds(cache, one, 1));
  CHECK(holds(cache, two, 1));
  CHECK(*used == "1");
  cache.forget(one);
  cache.forget(two);
  CHECK(cache.size() == 0);
}

}  // namespace bmad_mem::test::unpacked_cache_test
