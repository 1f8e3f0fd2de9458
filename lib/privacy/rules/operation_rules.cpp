// operation_rules.cpp - keys of monitoring, secret stores, identity and data services.
#include "rules.hpp"

namespace bmad_mem {
namespace {

// clang-format off: a row a rule.
constexpr SecretRule kRules[] = {
    {.id = "datadog-key", .what = "Datadog API or application key", .kind = RuleKind::kAssigned, .keywords = "datadog+key ddapikey ddappkey", .pattern = "[0-9a-f]{32}|[0-9a-f]{40}", .entropy_min = 3, .finds = "DD_API_KEY=·3f8a1c9e7b2d4056a8c1e3f59b7d2064", .spares = "datadog_commit=3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e"},
};
// clang-format on

}  // namespace

std::span<const SecretRule> operation_rules() { return kRules; }

}  // namespace bmad_mem
