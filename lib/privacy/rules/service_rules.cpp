// service_rules.cpp - keys of services that fit no other file.
#include "rules.hpp"

namespace bmad_mem {
namespace {

// clang-format off: a row a rule.
constexpr SecretRule kRules[] = {
    {.id = "postman-api-key", .what = "Postman API key", .keywords = "PMAK-", .pattern = "PMAK-[0-9a-f]{24}-[0-9a-f]{34}", .entropy_min = 3, .finds = "PMAK-·3f8a1c9e7b2d4056a8c1e3f5-9b7d20643f8a1c9e7b2d4056a8c1e3f59b", .spares = "PMAK-1234"},
};
// clang-format on

}  // namespace

std::span<const SecretRule> service_rules() { return kRules; }

}  // namespace bmad_mem
