// rules.hpp - the files of the table of secrets, one a field. Private to this room.
#pragma once

#include <span>
#include <string_view>

#include "privacy/secret_rule.hpp"

namespace bmad_mem {

std::span<const SecretRule> ai_rules();         ///< Model and machine-learning providers.
std::span<const SecretRule> cloud_rules();      ///< Clouds, hosting, content delivery, DNS.
std::span<const SecretRule> code_rules();       ///< Source hosting, CI, package registries.
std::span<const SecretRule> message_rules();    ///< Chat, mail, telephony, notification.
std::span<const SecretRule> money_rules();      ///< Payment, shops, banks, exchanges.
std::span<const SecretRule> operation_rules();  ///< Monitoring, secrets stores, identity, data.
std::span<const SecretRule> service_rules();    ///< All the others.

/// For SecretRule::can_be: whether `secret` has a small letter, a capital and a digit. Names in
/// code and words joined by '-' rarely have all three; of 20 and more drawn letters and digits, 97
/// % do.
bool is_mixed(std::string_view secret);

}  // namespace bmad_mem
