// anonymizer_scan.hpp - what in a text names a person, a machine or a place by its shape alone.
//
//   m@corp.example   +47 22 …   DE89 3704 …   10.1.2.3   00:1a:2b:…   db1.corp   \\\\server\\share
//
// Each appends to `changes`; the rule of a detection is the kind of its pseudonym. Threads: safe.
#pragma once

#include <cstddef>
#include <string_view>

#include "bmad_mem/text.hpp"
#include "privacy/redactor.hpp"

namespace bmad_mem {

/// Addresses of mail and of machines, telephone numbers, accounts, cards, numbers of people.
void find_contacts(std::string_view text, Detections& changes);
void find_hosts(std::string_view text, Detections& changes);

/// Of a name: that of a person, a folder or a host.
constexpr bool is_name_part(char c) { return is_word_byte(c) || c == '-' || !is_ascii(c); }
/// Whether it begins with a capital letter, or with one of a script beyond ASCII.
constexpr bool is_capital(std::string_view word) {
  return !word.empty() && (is_upper(word[0]) || !is_ascii(word[0]));
}

/// Where the name of a home folder ends that begins at `at`: "/Users/First Last/…" has blanks in
/// it.
std::size_t home_name_end(std::string_view text, std::size_t at);

/// How many bytes at `at` are none of a name: a sign, in any script; 0 when a name goes on there.
std::size_t separator_size(std::string_view text, std::size_t at);
/// Where the name ends that begins at `at`.
std::size_t name_end(std::string_view text, std::size_t at);

/// The name in front of the address of mail that begins with the '<' at `at`, as trailers of
/// commits and heads of letters have it; empty for none, and for one of a program.
std::string_view name_before_address(std::string_view text, std::size_t at);

}  // namespace bmad_mem
