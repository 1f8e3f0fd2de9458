// message_rules.cpp - tokens of chat, mail, telephony and notification services.
#include "rules.hpp"

namespace bmad_mem {
namespace {

// clang-format off: a row a rule.
constexpr SecretRule kRules[] = {
    {.id = "slack-bot-token", .what = "Slack bot token", .keywords = "xoxb-", .pattern = "xoxb-[0-9]{10,13}-[0-9]{10,13}[0-9A-Za-z-]*", .entropy_min = 3, .finds = "xoxb-·1234567890123-1234567890123-aB3dE5fG7hJ9kL1mN3pQ5rS7", .spares = "xoxb-token-goes-here"},
};
// clang-format on

}  // namespace

std::span<const SecretRule> message_rules() { return kRules; }

}  // namespace bmad_mem
