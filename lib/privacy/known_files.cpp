// known_files.cpp - finds secrets in lines of known files and in columns of tables.
//
//   .netrc               machine api.github.com login ann password HERE
//   .pypirc, settings    username = ann (line end) password = HERE
//   vaults of Ansible    $ANSIBLE_VAULT;1.1;AES256 (line end) HERE
//   .docker/config.json  "auths": {"ghcr.io": {"auth": "HERE"}}
//   user,password,mail   the same place of each of the next lines
//   | user | password |  the same below a line of dashes
#include <algorithm>
#include <cassert>
#include <cstddef>

#include "assignment_parts.hpp"
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

using std::string_view;

constexpr std::size_t kLineMax = 512;

/// The fields of a line, apart by `sign`; quotes may be around each.
struct Fields {
  static constexpr std::size_t kMax = 32;
  ValuePart fields[kMax];
  std::size_t count = 0;
  std::size_t end = 0;
};

Fields fields_at(string_view text, std::size_t at, char sign) {
  assert(at <= text.size());
  Fields all;
  const std::size_t limit = std::min(text.size(), at + 4 * kLineMax);
  while (all.count < Fields::kMax) {
    const bool is_quoted = byte_at(text, at) == '"';
    std::size_t end = at + (is_quoted ? 1U : 0U);
    const std::size_t begin = end;
    while (end < limit && text[end] != '\n' &&
           (is_quoted ? text[end] != '"' : text[end] != sign && text[end] != '\r')) {
      ++end;
    }
    const string_view field = text.substr(begin, end - begin);
    all.fields[all.count++] = place_of(text, sign == '|' ? trimmed(field, " `\r") : field);
    at = end + (is_quoted && byte_at(text, end) == '"' ? 1U : 0U);
    if (byte_at(text, at) != sign || at >= limit) {
      break;
    }
    ++at;
  }
  at += byte_at(text, at) == '\r' ? 1U : 0U;
  assert(all.count > 0 && all.count <= Fields::kMax && at <= text.size());
  all.end = at;
  return all;
}

bool is_field_name(string_view name) {
  constexpr std::size_t kNameMax = 40;
  return !name.empty() && name.size() <= kNameMax && is_letter(name.front()) &&
         all_are(name, [](char c) { return is_word_byte(c) || c == ' ' || c == '-'; });
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

void scan_column(StructureScan& scan, std::size_t at, std::size_t size) {
  constexpr std::size_t kRowsMax = 10'000;
  constexpr std::size_t kGapMax = 64;
  const string_view text = scan.text;
  // The name ends at a sign or at its line, and one of both is a sign.
  const auto is_of_name = [](char c) { return is_word_byte(c) || c == '"' || c == '-'; };
  std::size_t behind_name = run_end(text, at + size, is_of_name, 24);
  std::size_t name = run_begin(text, at, is_of_name, 24);
  if (is_blank(byte_at(text, behind_name)) || is_blank(byte_before(text, name))) {
    const std::size_t next = skip_blanks(text, behind_name);
    const std::size_t first = blanks_begin(text, name, kGapMax);
    if (byte_at(text, next) == '|' || byte_before(text, first) == '|') {
      behind_name = next;
      name = first;
    }
  }
  const char after = byte_at(text, behind_name);
  const char before = byte_before(text, name);
  const auto is_sign = [](char c) { return c == ',' || c == ';' || c == '\t' || c == '|'; };
  const char sign = is_sign(after) ? after : before;
  const bool ends = is_sign(after) || after == '\n' || after == '\r';
  if (at < scan.table_end || !is_sign(sign) || !ends ||
      (before != '\n' && name != 0 && before != sign)) {
    return;
  }
  const std::size_t line = run_begin(text, name, [](char c) { return c != '\n'; }, kLineMax);
  const Fields head = fields_at(text, line, sign);
  if (head.count < 2 || byte_at(text, head.end) != '\n' ||
      !std::all_of(
          head.fields, head.fields + head.count,
          [&](const ValuePart& field) {
            return is_field_name(field.of(text)) || (sign == '|' && field.begin == field.end);
          })) {
    return;
  }
  std::size_t next = head.end;
  if (sign == '|') {
    // Of a document or a database: a line between the names and the rows.
    next = run_end(
        text, next + 1, [](char c) { return string_view("-+:| ").contains(c); }, 4 * kLineMax);
    if (!text.substr(head.end, next - head.end).contains("--")) {
      return;
    }
    next += byte_at(text, next) == '\r' ? 1U : 0U;
  }
  for (std::size_t row = 0; row < kRowsMax && byte_at(text, next) == '\n'; ++row) {
    const Fields fields = fields_at(text, next + 1, sign);
    if (fields.count != head.count) {
      break;
    }
    for (std::size_t i = 0; i < head.count; ++i) {
      const ValuePart& value = fields.fields[i];
      if (const std::optional<ValueVerdict> verdict = judge_value(
              head.fields[i].of(text), value.of(text),
              byte_before(text, value.begin) == '"' ? ValueForm::kQuoted : ValueForm::kLiteral)) {
        scan.add(value.begin, value.end, verdict->rule, verdict->action);
      }
    }
    next = fields.end;
    scan.table_end = next;
  }
}

}  // namespace bmad_mem
