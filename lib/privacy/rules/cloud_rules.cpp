// cloud_rules.cpp - keys of clouds, hosting, content delivery and DNS.
#include "rules.hpp"

namespace bmad_mem {
namespace {

// clang-format off: a row a rule.
constexpr SecretRule kRules[] = {
    {.id = "aws-access-key-id", .what = "AWS access key id", .keywords = "AKIA ASIA ABIA ACCA", .pattern = "(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", .entropy_min = 3, .finds = "AKIA·Z7QWERT2YUIOP3AS", .spares = "AKIAIOSFODNN7EXAMPLE"},
};
// clang-format on

}  // namespace

std::span<const SecretRule> cloud_rules() { return kRules; }

}  // namespace bmad_mem
