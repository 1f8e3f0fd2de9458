// personal.hpp - personal data: what it is, and what is done about it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "privacy/detection.hpp"

namespace bmad_mem {

enum class PersonalKind : std::uint8_t {
  kEmail,
  kPhone,
  kIban,
  kCard,
  kIp,
  kNationalId,  ///< SSN of the USA, and those of other countries that have a check digit.
};
inline constexpr std::size_t kPersonalKindCount = 6;

enum class PersonalPolicy : std::uint8_t {
  kKeep,    ///< Stays as it is.
  kMark,    ///< Stays, and its entry is marked as sensitive.
  kRedact,  ///< Is taken out.
};

/// A policy for each kind, in the order of PersonalKind.
using PersonalPolicies = std::array<PersonalPolicy, kPersonalKindCount>;

/// "email", "phone", "iban", "card", "ip", "national-id": also the rule of a detection.
std::string_view personal_kind_name(PersonalKind kind);

/// Appends the personal data in `text` whose policy isn't kKeep. Time is linear in its size.
void find_personal(std::string_view text, const PersonalPolicies& policies, Detections& out);

}  // namespace bmad_mem
