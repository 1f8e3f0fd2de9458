// money_rules.cpp - keys of payment, shops, banks and exchanges.
#include "rules.hpp"

namespace bmad_mem {
namespace {

// clang-format off: a row a rule.
constexpr SecretRule kRules[] = {
    {.id = "stripe-secret-key", .what = "Stripe secret or restricted key", .keywords = "sk_live_ sk_test_ rk_live_ rk_test_", .pattern = "[sr]k_(?:live|test)_[0-9A-Za-z]{10,99}", .entropy_min = 3, .finds = "sk_live_·4eC39HqLyjWDarjtT1zdp7dc", .spares = "sk_live_your_key_here"},
};
// clang-format on

}  // namespace

std::span<const SecretRule> money_rules() { return kRules; }

}  // namespace bmad_mem
