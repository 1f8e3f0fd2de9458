// personal_scan.hpp - what the scanners of personal data share: groups of digits and words near.
//
//   text ──► '@' ──► e-mail          text ──► a run of digits ──► groups ──► each kind's judge
//
//   "+49 30 1234567"  ──►  49│30│1234567      one sign between groups; at most kGroupsMax of them
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace bmad_mem {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// Runs of digits with signs between them, of which the first begins no word.
struct DigitGroups {
  static constexpr std::size_t kGroupsMax = 8;

  std::array<Span, kGroupsMax> groups{};
  std::size_t count = 0;
  std::string digits;  ///< Of all groups, without the signs.

  [[nodiscard]] std::size_t begin() const { return groups[0].begin; }
  [[nodiscard]] std::size_t end() const {
    assert(count > 0 && count <= kGroupsMax && "the caller has looked whether there is a group");
    return groups[count - 1].end;
  }
  /// Whether the groups have these sizes.
  [[nodiscard]] bool has_sizes(std::initializer_list<std::size_t> sizes) const;
  /// The sign between all groups; '\0' when they differ or there is but one group.
  [[nodiscard]] char sign(std::string_view text) const;
  /// The first `group_count` groups alone.
  [[nodiscard]] DigitGroups first(std::size_t group_count) const;
};

/// The groups from the digit at `at` on.
DigitGroups read_digit_groups(std::string_view text, std::size_t at);

/// Whether one of `words`, in small letters and apart by '|', begins a word in the 40 bytes before
/// `at`.
bool is_announced(std::string_view text, std::size_t at, std::string_view words);

/// Whether one of `words` ends right before `at`, but for blanks, quotes and signs such as ":".
bool is_named(std::string_view text, std::size_t at, std::string_view words);

/// The number that `digits` spell; at most 19 of them.
std::uint64_t number_of(std::string_view digits);

/// Whether `digits` satisfy the check of Luhn.
bool has_luhn_check(std::string_view digits);

// Each returns where the datum stands that begins with the digits at `at` or near before them.

// contacts.cpp. Of an address of mail, the '@' is at `at`.
std::optional<Span> email_at(std::string_view text, std::size_t at);
std::optional<Span> phone_at(std::string_view text, const DigitGroups& groups);
std::optional<Span> ip_at(std::string_view text, std::size_t at);

// national_ids.cpp
std::optional<Span> iban_at(std::string_view text, std::size_t at);
std::optional<Span> card_at(std::string_view text, const DigitGroups& groups);
std::optional<Span> national_id_at(std::string_view text, const DigitGroups& groups);

}  // namespace bmad_mem
