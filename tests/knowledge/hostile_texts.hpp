// hostile_texts.hpp - what somebody would write who wants to be taken for the prompt itself.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace bmad_mem::test {

struct HostileText {
  const char* name;
  std::string text;
};

/// One for each trick. Each holds the word CANARY.
const std::vector<HostileText>& hostile_texts();

/// Tricks put together at random, with the word CANARY between any two.
std::string random_hostile_text(std::mt19937& random);

}  // namespace bmad_mem::test
