// anonymizer_scan.cpp - finds people, hosts and places by their shape, and makes pseudonyms.
#include "anonymizer_scan.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "allow_list.hpp"
#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "privacy/anonymizer.hpp"
#include "privacy_tables.hpp"
#include "privacy_words.hpp"
#include "replacement.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

bool is_host_char(char c) { return is_alnum(c) || c == '-' || c == '.'; }

/// The patterns of tables/places.txt, and what each finds.
struct PrivatePlace {
  std::string_view kind;
  LazyPattern pattern;
};

void find_private_places(std::string_view text, Detections& changes) {
  static const auto kPlaces = [] {
    std::vector<PrivatePlace> places;
    for_each_word(
        kPlacesTable,
        [&](std::string_view row) {
          if (const std::size_t blank = row.find(' '); blank != std::string_view::npos) {
            places.push_back(
                {row.substr(0, blank), LazyPattern(std::string(row.substr(blank + 1)))});
          }
        },
        '\n');
    return places;
  }();
  for (const PrivatePlace& place : kPlaces) {
    const auto add = [&](std::span<const std::string_view> groups) {
      changes.push_back(detection_of(text, groups[1], place.kind));
    };
    place.pattern.for_each_match(text, add, /*last_group=*/1);
  }
}

/// Upper and lower case are the same thing.
std::string hash_of(const RedactionKey& key, std::string_view kind, std::string_view text) {
  return keyed_hash(fmt::format("{}\n{}", kind, lower_case(text)), key).substr(0, kPseudonymDigits);
}

}  // namespace

void find_contacts(std::string_view text, Detections& changes) {
  PersonalPolicies policies{};
  policies.fill(PersonalPolicy::kRedact);
  Detections found;
  find_personal(text, policies, found);
  std::ranges::copy_if(found, std::back_inserter(changes), [&](const Detection& each) {
    return each.rule != "ip" ||
           !kPublicHosts.contains(text.substr(each.begin, each.end - each.begin));
  });
  find_private_places(text, changes);
}

void find_hosts(std::string_view text, Detections& changes) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = run_end(text, i, is_host_char);
    if (end == i) {
      ++i;
      continue;
    }
    const std::size_t last = end_without(text, i, end, "-.");
    const std::string_view word = text.substr(i, last - i);
    const std::string lower = lower_ascii(word);
    const std::string_view before = text.substr(0, i);
    // In "https://name:password@host" the host stands behind the sign.
    const bool in_address = (before.ends_with("://") && !before.ends_with("file://")) ||
                            (before.ends_with('@') && word.contains('.'));
    const bool is_private = kPrivateHostEnds.any([&](std::string_view suffix) {
      return lower.size() > suffix.size() && lower.ends_with(suffix);
    });
    if ((in_address || is_private) && byte_at(text, end) != '@' && !word.empty() &&
        !kPublicHosts.contains(lower) && !is_pseudonym("ip", word)) {
      changes.push_back({.begin = i, .end = last, .rule = "host"});
    }
    i = end;
  }
}

std::size_t home_name_end(std::string_view text, std::size_t at) {
  constexpr int kWordsMax = 3;
  const auto is_part = [](char c) { return is_name_part(c) || c == '.' || c == '@'; };
  const std::size_t first = run_end(text, at, is_part);
  std::size_t end = first;
  for (int words = 1; words < kWordsMax && byte_at(text, end) == ' '; ++words) {
    const std::size_t next = run_end(text, end + 1, is_part);
    if (next == end + 1 || !is_capital(text.substr(end + 1))) {
      break;
    }
    end = next;
  }
  return byte_at(text, end) == '/' ? end : first;
}

std::size_t separator_size(std::string_view text, std::size_t at) {
  assert(at < text.size());
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(byte_at(text, i)); };
  const unsigned char first = byte(at);
  if (first < 0x80U) {
    return is_word_byte(text[at]) || text[at] == '-' ? 0 : 1;
  }
  if (first == 0xC2U && byte(at + 1) >= 0xA0U) {
    return 2;  // U+00A0 to U+00BF: blanks, quotes, signs.
  }
  const bool is_general = first == 0xE2U && (byte(at + 1) == 0x80U || byte(at + 1) == 0x81U);
  const bool is_east = first == 0xE3U && byte(at + 1) == 0x80U;
  const bool is_wide = first == 0xEFU && byte(at + 1) == 0xBCU &&
                       (byte(at + 2) <= 0x8FU || (byte(at + 2) >= 0x9AU && byte(at + 2) <= 0xA0U));
  return is_general || is_east || is_wide ? 3 : 0;
}

std::size_t name_end(std::string_view text, std::size_t at) {
  assert(at <= text.size());
  while (at < text.size() && separator_size(text, at) == 0) {
    ++at;
  }
  return at;
}

std::string_view name_before_address(std::string_view text, std::size_t at) {
  assert(at < text.size() && text[at] == '<');
  constexpr std::size_t kAddressSizeMax = 100;
  constexpr int kWordsMax = 4;
  const std::size_t close =
      text.substr(0, std::min(text.size(), at + kAddressSizeMax)).find('>', at);
  const std::string_view address =
      close == std::string_view::npos ? std::string_view() : text.substr(at + 1, close - at - 1);
  // Redaction may have taken the address out before.
  const bool is_redacted = address.starts_with("[REDACTED:email");
  const std::string_view local =
      is_redacted ? std::string_view() : address.substr(0, address.find('@'));
  if (!is_redacted &&
      (local.empty() || local.size() == address.size() || address.find(' ') != address.npos ||
       local == "noreply" || local == "no-reply")) {
    return {};
  }
  const std::size_t end = run_begin(text, at, [](char c) { return c == ' '; }, at);
  std::size_t begin = end;
  int words = 0;
  for (std::size_t stop = end; words < kWordsMax;) {
    const std::size_t word = run_begin(
        text, stop, [](char c) { return is_word_byte(c) || c == '-' || c == '.' || !is_ascii(c); },
        stop);
    if (word == stop || (is_ascii(text[word]) && !is_upper(text[word]))) {
      break;
    }
    begin = word;
    ++words;
    if (byte_before(text, word) != ' ') {
      break;
    }
    stop = word - 1;
  }
  const std::string_view name = text.substr(begin, end - begin);
  // One word may be that of a program: only if it is in the address as well. A Chinese, Japanese or
  // Korean name is one word, of two signs and more.
  constexpr unsigned char kThreeBytes = 0xE1;
  const bool is_eastern =
      name.size() >= 6 && static_cast<unsigned char>(name.front()) >= kThreeBytes;
  const bool is_alone = words < 2 && !is_eastern && !contains_folded(local, lower_ascii(name));
  return words == 0 || is_alone ? std::string_view() : name;
}

bool is_pseudonym(std::string_view kind, std::string_view text) {
  if (!text.starts_with(kind) || text.size() != kind.size() + 1 + kPseudonymDigits ||
      text[kind.size()] != '-') {
    return false;
  }
  return std::ranges::all_of(text.substr(kind.size() + 1),
                             [](char c) { return is_hex_digit(c) && !is_upper(c); });
}

std::string Pseudonyms::name(std::string_view kind, std::string_view original) {
  if (is_pseudonym(kind, original)) {
    return std::string(original);
  }
  std::string& given = given_[std::string(kind)][lower_case(original)];
  if (given.empty()) {
    given = fmt::format("{}-{}", kind, hash_of(key_, kind, original));
    assert(is_pseudonym(kind, given) && "so that a second run leaves it");
  }
  return given;
}

std::string Pseudonyms::email(std::string_view address) {
  static constexpr std::string_view kDomain = "@example.invalid";
  if (address.ends_with(kDomain) &&
      is_pseudonym("user", address.substr(0, address.size() - kDomain.size()))) {
    return std::string(address);
  }
  std::string& given = given_["email"][lower_case(address)];
  if (given.empty()) {
    given = fmt::format("user-{}{}", hash_of(key_, "email", address), kDomain);
  }
  return given;
}

std::map<std::string, std::uint64_t> Pseudonyms::counts() const {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [kind, names] : given_) {
    counts[kind] = names.size();
  }
  return counts;
}

}  // namespace bmad_mem
