// known_files.cpp - secrets in lines of files that tools read by themselves.
//
//   .netrc               machine api.github.com login ann password HERE
//   .pypirc, settings    username = ann (line end) password = HERE
//   vaults of Ansible    $ANSIBLE_VAULT;1.1;AES256 (line end) HERE
//   .docker/config.json  "auths": {"ghcr.io": {"auth": "HERE"}}
#include <algorithm>
#include <cstddef>

#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "privacy_words.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kFileValueMax = 512;

bool is_file_value_byte(char c) {
  return static_cast<unsigned char>(c) > ' ' && !is_quote(c) && c != '\\' && c != ',' && c != ';';
}

/// `name = value`, `"name": "value",`, `name => 'value'` or `name 'value'`, alone in its line.
struct Member {
  std::string_view name;
  std::string_view value;
  bool is_quoted = false;
  bool is_assigned = false;  ///< With a sign, not only a blank.
  char after = '\0';
};

Member member_of(std::string_view line) {
  const auto skip = [&](std::string_view some) {
    line.remove_prefix(std::min(line.find_first_not_of(some), line.size()));
  };
  const auto take = [&](const auto& is_part) {
    const std::string_view part = line.substr(0, run_end(line, 0, is_part, kFileValueMax));
    line.remove_prefix(part.size());
    return part;
  };
  Member member;
  skip(" \t\"':-$@");
  member.name = take(is_word_byte);
  for (const std::string_view joint : {".", "->", "::", "->"}) {
    if (line.starts_with(joint) && is_letter(byte_at(line, joint.size()))) {
      line.remove_prefix(joint.size());
      member.name = take(is_word_byte);  // "config.username", "this->mail->password".
    }
  }
  if (is_quote(byte_at(line, 0))) {
    line.remove_prefix(1);
  }
  skip(" \t");
  const std::size_t sign = std::min(line.find_first_not_of("=:>"), line.size());
  member.is_assigned = sign > 0;
  line.remove_prefix(sign);
  skip(" \t");
  const char quote = byte_at(line, 0);
  if (is_quote(quote)) {
    line.remove_prefix(1);
    member.is_quoted = true;
  }
  member.value = member.is_quoted
                     ? take([&](char c) { return c != quote; })
                     : take([](char c) { return !is_space(c) && c != ',' && c != ';'; });
  if (member.is_quoted && line.empty()) {
    return {};
  }
  line.remove_prefix(member.is_quoted ? 1 : 0);
  member.after = byte_at(line, 0);
  skip(" \t\r,;");
  return line.empty() || line.front() == '#' || line.starts_with("//") ? member : Member();
}

/// The member of the line before `at` that is no comment.
Member member_before(std::string_view text, std::size_t at) {
  constexpr int kCommentsMax = 3;
  for (int i = 0; i <= kCommentsMax && at > 0; ++i) {
    const std::size_t begin =
        run_begin(text, at - 1, [](char c) { return c != '\n'; }, kFileValueMax);
    const std::string_view line = trimmed(text.substr(begin, at - 1 - begin));
    if (!line.starts_with('#') && !line.starts_with("//") && !line.empty()) {
      return member_of(line);
    }
    at = begin;
  }
  return {};
}

/// Whether a value without quotes is more likely code than a word somebody chose.
bool is_expression(const Member& member) {
  const std::string_view value = member.value;
  const std::size_t dot = value.find('.');
  return value.find_first_of("([{<$&*") != std::string_view::npos || member.after == ';' ||
         (contains_folded(value, "pass") && value.contains('_')) ||
         (dot != std::string_view::npos && all_are(value.substr(0, dot), is_word_byte) &&
          (is_letter(byte_at(value, dot + 1)) || byte_at(value, dot + 1) == '_'));
}

}  // namespace

void scan_netrc(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  if (is_word_byte(byte_before(text, at)) || !is_space(byte_at(text, at + size))) {
    return;
  }
  constexpr std::size_t kWordMax = 256;
  constexpr int kPairsMax = 4;
  std::size_t place = at + size;
  const auto next_word = [&] {
    const std::size_t begin = run_end(text, place, is_space, 64);
    place = run_end(text, begin, [](char c) { return !is_space(c); }, kWordMax);
    return text.substr(begin, place - begin);
  };
  if (text[at] == 'm') {
    next_word();  // The name of the machine.
  }
  for (int i = 0; i < kPairsMax; ++i) {
    const std::string_view key = next_word();
    const std::size_t key_end = place;
    if (key == "password" && (i > 0 || text[at] == 'm')) {
      const std::size_t begin =
          run_end(text, key_end, [](char c) { return is_space(c) || c == '"'; }, 8);
      const std::size_t end = run_end(text, begin, is_file_value_byte, kFileValueMax);
      if (end > begin && !stands_for_password(text.substr(begin, end - begin))) {
        const bool is_open = end == begin + kFileValueMax;
        scan.add(begin, is_open ? scan.real_end(end, is_file_value_byte) : end, "netrc");
      }
      return;
    }
    if (key != "login" && key != "account") {
      return;
    }
    next_word();
  }
}

void scan_login(StructureScan& scan, std::size_t at, std::size_t /*size*/) {
  constexpr std::size_t kSizeMin = 4;
  const std::string_view text = scan.text;
  const std::size_t line = run_begin(text, at, [](char c) { return c != '\n'; }, 128);
  if (line == 0 || line + 64 < at) {
    return;
  }
  const std::size_t end = run_end(text, at, [](char c) { return c != '\n'; }, kFileValueMax);
  const Member password = member_of(text.substr(line, end - line));
  if ((!ends_folded(password.name, "password") && !ends_folded(password.name, "passwd")) ||
      (!password.is_assigned && !password.is_quoted) || password.value.size() < kSizeMin ||
      std::ranges::count(password.value, ' ') > (password.is_quoted ? 1 : 0)) {
    return;
  }
  // "open sesame", but not "Your password".
  if (password.value.contains(' ') &&
      (!is_lower(password.value.front()) || contains_folded(password.value, "pass") ||
       contains_folded(password.value, "your ") || contains_folded(password.value, "the "))) {
    return;
  }
  const Member user = member_before(text, line);
  const bool is_user = ends_folded(user.name, "user") || ends_folded(user.name, "username") ||
                       ends_folded(user.name, "login") || ends_folded(user.name, "user_name");
  if (!is_user || user.value.empty() || user.is_quoted != password.is_quoted ||
      equals_folded(user.value, user.name)) {
    return;
  }
  // A label: "Username", "Password".
  const bool is_label = is_upper(password.value.front()) && all_are(password.value, is_letter);
  const bool is_weak = password.is_quoted && (is_common_password(password.value) ||
                                              kPasswordWords.contains(password.value));
  if (is_label || (!password.is_quoted && is_expression(password)) ||
      (!is_weak && is_unfilled(password.value))) {
    return;
  }
  const bool is_pypirc = user.name == "username" && !password.is_quoted;
  const auto begin = static_cast<std::size_t>(password.value.data() - text.data());
  scan.add(begin, begin + password.value.size(), is_pypirc ? "pypirc" : "password");
}

void scan_ansible_vault(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  constexpr std::size_t kHeadMax = 80;
  std::size_t next =
      run_end(text, at + size, [](char c) { return c != '\n' && c != '\\' && c != '"'; }, kHeadMax);
  std::size_t begin = 0;
  std::size_t end = 0;
  while (next < text.size()) {
    const std::size_t gap = run_end(
        text, next, [](char c) { return is_space(c) || c == '\\' || c == 'n' || c == 'r'; }, 64);
    const std::size_t stop = run_end(text, gap, is_hex_digit, 4 * kHeadMax);
    if (gap == next || stop < gap + 8) {
      break;
    }
    begin = end == 0 ? gap : begin;
    end = next = stop;
  }
  if (end > begin) {
    scan.add(begin, end, "password-hash");
  }
}

void scan_docker_auth(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  if (!is_quote(byte_before(text, at)) && !is_space(byte_before(text, at))) {
    return;
  }
  const std::size_t value = value_after_name(text, at + size);
  if (value == std::string_view::npos) {
    return;
  }
  const auto is_inside = [](char c) { return is_base64(c) || c == '=' || is_base64url(c); };
  const std::size_t end = run_end(text, value, is_inside, kFileValueMax);
  const std::string_view encoded = text.substr(value, end - value);
  constexpr std::size_t kLoginMin = 8;
  const bool is_login = encoded.size() >= kLoginMin && is_encoded_login(encoded);
  if (is_login || (size > 4 && looks_random(encoded))) {
    const bool is_open = encoded.size() == kFileValueMax;
    scan.add(value, is_open ? scan.real_end(end, is_inside) : end, "docker-auth");
  }
}

}  // namespace bmad_mem
