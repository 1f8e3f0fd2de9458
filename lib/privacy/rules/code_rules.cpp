// code_rules.cpp - tokens of source hosting, CI and package registries.
#include "rules.hpp"

namespace bmad_mem {
namespace {

// clang-format off: a row a rule.
constexpr SecretRule kRules[] = {
    {.id = "github-pat", .what = "GitHub personal access token", .keywords = "ghp_", .pattern = "ghp_[0-9A-Za-z]{36}", .entropy_min = 3, .finds = "ghp_·aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5", .spares = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
};
// clang-format on

}  // namespace

std::span<const SecretRule> code_rules() { return kRules; }

}  // namespace bmad_mem
