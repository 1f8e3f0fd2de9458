// replay_test.cpp - the fuzz targets over texts that are likely to hurt, and over random changes of
// them: some seconds of fuzzing in every test run, with any compiler.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "concurrency/child.hpp"
#include "fuzz/fuzz_seeds.hpp"
#include "fuzz/fuzz_targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned chance);

namespace bmad_mem::test {
namespace {

/// One input; a reader that takes longer is one that a stranger can hold up.
constexpr std::chrono::seconds kLongest{10};

using Target = void (*)(std::string_view);

/// A few random changes: bytes replaced, removed, doubled, or taken from another text.
std::string changed(std::string text, const std::vector<std::string>& others,
                    std::mt19937& random) {
  constexpr std::string_view kSharp = "\"\\{}[]:,\n\r\0 0e-+.\xEF\xBB\xBF\xFF\xC3";
  const auto below = [&](std::size_t limit) { return random() % std::max<std::size_t>(limit, 1); };
  for (std::size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = kSharp[below(kSharp.size())];
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), 1 + below(20)));
        break;
      case 3:
        text.resize(at);
        break;
      default: {
        const std::string& other = others[below(others.size())];
        text.insert(at, other.substr(below(other.size()), 1 + below(30)));
      }
    }
  }
  return text;
}

/// What a target is busy with, for who finds out why it ended.
std::string_view running;

void replay(Target target, const std::vector<std::string>& texts, int rounds) {
  using Clock = std::chrono::steady_clock;
  std::mt19937 random(test_seed("replay"));
  for (const std::string& text : texts) {
    for (int round = 0; round <= rounds; ++round) {
      const std::string input = round == 0 ? text : changed(text, texts, random);
      running = input;
      const auto began = Clock::now();
      target(input);
      CHECK_MESSAGE(Clock::now() - began < kLongest, fmt::format("took too long: {:?}", input));
    }
  }
  running = {};
}

/// So that a target that ends the process, a sanitizer or a signal leaves its input.
const bool kSaysInput = [] {
  std::signal(SIGABRT, [](int) {
    fmt::print(stderr, "the input was {:?}\n", running);
    std::signal(SIGABRT, SIG_DFL);
  });
  return true;
}();

}  // namespace

#define BMAD_FUZZ(name, seeds, rounds, what) \
  TEST_CASE("fuzz " #name ": " what) { replay(fuzz_##name, seeds(), rounds); }
#include "fuzz/targets.inc"
#undef BMAD_FUZZ

TEST_CASE("libFuzzer's functions run a target, from its seeds") {
  std::string data(64, '\0');
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes.
  auto* const bytes = reinterpret_cast<std::uint8_t*>(data.data());
  const std::size_t size = LLVMFuzzerCustomMutator(bytes, 0, data.size(), 64);
  CHECK(data.substr(0, size) == json_seeds()[1]);
  CHECK(LLVMFuzzerTestOneInput(bytes, size) == 0);
}

}  // namespace bmad_mem::test

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* /*data*/, std::size_t size,
                                        std::size_t /*size_max*/) {
  return size;
}
