// command_secrets.cpp - passwords that commands read from a pipe or at a place of their arguments,
// and those of a column of a table.
//
//   echo HERE | docker login --password-stdin      echo "ann:HERE" | chpasswd
//   chpasswd <<< "ann:HERE"                        htpasswd -b file ann HERE
//   wpa_passphrase net HERE
//   user,password,mail                             the same place of each of the next lines
//   | user | password |                            the same below a line of dashes
#include <algorithm>
#include <cstddef>

#include "assignment_parts.hpp"
#include "bmad_mem/text.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using std::string_view;

constexpr std::size_t kLineMax = 512;

void judge_part(StructureScan& scan, const ValuePart& value, ValueForm form) {
  if (const std::optional<ValueVerdict> verdict =
          judge_value("password", value.of(scan.text), form)) {
    scan.add(value.begin, value.end, verdict->rule, verdict->action);
  }
}

/// The next argument of a command from `at` on: in quotes, or up to a blank or '|'.
ValuePart argument_at(string_view text, std::size_t at) {
  at = skip_blanks(text, at);
  if (const std::optional<ValuePart> quoted = quoted_at(text, at)) {
    return *quoted;
  }
  const std::size_t end = run_end(
      text, std::min(at, text.size()),
      [](char c) { return !is_space(c) && c != '|' && c != ';' && c != '"' && c != '\\'; },
      kLineMax);
  return {.begin = at, .end = end};
}

/// Where the argument behind `value` begins.
std::size_t behind(string_view text, const ValuePart& value) {
  return run_end(text, std::min(value.end, text.size()), is_quote, 1);
}

void judge_piped(StructureScan& scan, ValuePart value, bool has_user) {
  const string_view text = scan.text;
  if (value.of(text) == "-n" || value.of(text) == "-e" || value.of(text) == "%s" ||
      value.of(text) == "%s\\n") {
    value = argument_at(text, behind(text, value));
  }
  if (has_user) {
    const std::size_t colon = value.of(text).find(':');
    if (colon == string_view::npos) {
      return;
    }
    value.begin += colon + 1;
  }
  judge_part(scan, value, ValueForm::kLiteral);
}

/// The fields of a line, apart by `sign`; quotes may be around each.
struct Fields {
  static constexpr std::size_t kMax = 32;
  ValuePart fields[kMax];
  std::size_t count = 0;
  std::size_t end = 0;
};

/// Bytes [begin, end) without the blanks and back-ticks around them.
ValuePart trimmed_part(string_view text, std::size_t begin, std::size_t end) {
  const string_view all = text.substr(begin, end - begin);
  const string_view part = trimmed(all, " `\r");
  begin += static_cast<std::size_t>(part.data() - all.data());
  return {.begin = begin, .end = begin + part.size()};
}

Fields fields_at(string_view text, std::size_t at, char sign) {
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
    all.fields[all.count++] =
        sign == '|' ? trimmed_part(text, begin, end) : ValuePart{.begin = begin, .end = end};
    at = end + (is_quoted && byte_at(text, end) == '"' ? 1U : 0U);
    if (byte_at(text, at) != sign || at >= limit) {
      break;
    }
    ++at;
  }
  at += byte_at(text, at) == '\r' ? 1U : 0U;
  all.end = at;
  return all;
}

bool is_field_name(string_view name) {
  constexpr std::size_t kNameMax = 40;
  return !name.empty() && name.size() <= kNameMax && is_letter(name.front()) &&
         all_are(name, [](char c) { return is_word_byte(c) || c == ' ' || c == '-'; });
}

}  // namespace

void scan_piped_password(StructureScan& scan, std::size_t at, std::size_t size) {
  const string_view text = scan.text;
  const bool has_user = text.substr(at, size) == "chpasswd";
  const std::size_t line = run_begin(text, at, [](char c) { return c != '\n'; }, kLineMax);
  const string_view before = text.substr(line, at - line);
  const std::size_t pipe = before.rfind('|');
  for (const string_view command : {"echo ", "printf "}) {
    const std::size_t echo = before.substr(0, std::min(pipe, before.size())).rfind(command);
    if (pipe != string_view::npos && echo != string_view::npos) {
      judge_piped(scan, argument_at(text, line + echo + command.size()), has_user);
      return;
    }
  }
  const std::size_t here = text.substr(0, std::min(text.size(), at + size + 64)).find("<<<", at);
  if (here != string_view::npos && !text.substr(at, here - at).contains('\n')) {
    judge_piped(scan, argument_at(text, here + 3), has_user);
  }
}

void scan_htpasswd(StructureScan& scan, std::size_t at, std::size_t size) {
  constexpr int kArgumentsMax = 8;
  const string_view text = scan.text;
  std::size_t next = at + size;
  // Arguments before the password: the file and the user, with -n the user; or the network.
  int wanted = text.substr(at, size) == "htpasswd " ? -1 : 1;
  for (int i = 0; i < kArgumentsMax; ++i) {
    const ValuePart argument = argument_at(text, next);
    const string_view word = argument.of(text);
    if (word.empty()) {
      return;
    }
    if (word.starts_with('-')) {
      wanted = word.contains('b') ? (word.contains('n') ? 1 : 2) : wanted;
    } else if (wanted < 0) {
      return;
    } else if (wanted-- == 0) {
      judge_part(scan, argument, ValueForm::kLiteral);
      return;
    }
    next = behind(text, argument);
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
  if (sign != '|' && name == line && head.count >= 2 && head.count <= 3) {
    // "airtableToken,…," of one row alone.
    const ValuePart& value = head.fields[1];
    if (const std::optional<ValueVerdict> verdict =
            judge_value(head.fields[0].of(text), value.of(text), ValueForm::kLiteral);
        verdict && any_is(value.of(text), is_digit)) {
      scan.add(value.begin, value.end, verdict->rule, verdict->action);
      return;
    }
  }
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
