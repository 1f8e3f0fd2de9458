// ai_rules.cpp - keys of model and machine-learning providers.
#include "rules.hpp"

namespace bmad_mem {
namespace {

// clang-format off: a row a rule.
constexpr SecretRule kRules[] = {
    {.id = "huggingface-token", .what = "Hugging Face access token", .keywords = "hf_", .pattern = "hf_[A-Za-z]{34}", .entropy_min = 3, .finds = "hf_·QkWmRtYuIoPaSdFgHjKlZxCvBnMqWeRtYu", .spares = "hf_hub_download_with_a_very_long_name_of_"},
};
// clang-format on

}  // namespace

std::span<const SecretRule> ai_rules() { return kRules; }

}  // namespace bmad_mem
