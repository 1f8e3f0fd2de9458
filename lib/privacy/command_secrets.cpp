// command_secrets.cpp - passwords of a column of a table, as commands print it.
//
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
