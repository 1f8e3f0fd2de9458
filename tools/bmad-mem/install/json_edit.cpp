// json_edit.cpp - adds members to a JSON file whose comments and layout stay, and removes them.
#include "install/json_edit.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/json_text.hpp"
#include "exchange/files.hpp"

namespace bmad_mem::cli {
namespace {

// Settings of programs that allow more than JSON does: comments (`//` and `/* */`), a comma after
// the last element, a byte order mark in front.
//
//   {                         {
//     // mine                                     the same length, so a place in one is
//     "a": 1, /* b */           "a": 1            the same place in the other
//   }                         }

constexpr std::string_view kMark = "\xEF\xBB\xBF";

/// One behind the comment that begins at `text[at]`; `at` when none does, or it doesn't end.
std::size_t comment_end(std::string_view text, std::size_t at) {
  const std::string_view two = text.substr(at, 2);
  if (two == "//") {
    return std::min(text.find('\n', at), text.size());
  }
  const std::size_t end = two == "/*" ? text.find("*/", at + 2) : std::string_view::npos;
  return end == std::string_view::npos ? at : end + 2;
}

void blank_out(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; ++at) {
    text[at] = text[at] == '\n' ? '\n' : ' ';
  }
}

/// `text` with blanks where comments and the mark stand; line breaks stay. A comment that doesn't
/// end is left as it is, so that a parser complains about its place.
std::string without_comments(std::string_view text) {
  std::string bare(text);
  std::size_t at = text.starts_with(kMark) ? kMark.size() : 0;
  blank_out(bare, 0, at);
  while (at < text.size()) {
    if (text[at] == '"') {
      at = std::min(json_string_end(text, at), text.size());
      continue;
    }
    const std::size_t end = comment_end(text, at);
    blank_out(bare, at, end);
    at = std::max(end, at + 1);
  }
  return bare;
}

/// The same without commas behind a last element. `bare` is what without_comments() returned.
std::string without_last_commas(std::string bare) {
  // The last two places where no blank stands.
  std::pair<std::size_t, std::size_t> last = {std::string::npos, std::string::npos};
  for (std::size_t at = 0; at < bare.size();) {
    const char c = bare[at];
    const bool closes = c == '}' || c == ']';
    // In `{,}` and `[1,,]` the comma is a mistake.
    if (closes && last.second != std::string::npos && bare[last.second] == ',' &&
        last.first != std::string::npos &&
        std::string_view("{[,:").find(bare[last.first]) == std::string_view::npos) {
      bare[last.second] = ' ';
    }
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) {
      last = {last.second, at};
    }
    const std::size_t next = c == '"' ? std::min(json_string_end(bare, at), bare.size()) : at + 1;
    if (next > at + 1) {
      last.second = next - 1;
    }
    at = next;
  }
  return bare;
}

// Stands in a container that we made and that is empty. JSON allows no such byte, so no file holds
// one; nor does a text of ours, since what is made gets its first piece at once.
constexpr std::string_view kFresh = "\x01";
constexpr std::string_view kFreshObject = "{\x01}";
constexpr std::string_view kFreshArray = "[\x01]";

/// The blanks in front of the first thing that is indented; two without any.
std::string indent_of(std::string_view text) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at)) {
    ++at;
    const std::size_t first = std::min(text.find_first_not_of(" \t", at), text.size());
    if (first > at && first < text.size() && text[first] == '"') {
      return std::string(text.substr(at, first - at));
    }
  }
  return "  ";
}

/// What stands between the brackets.
TextSpan inside(TextSpan container) { return {container.begin + 1, container.end - 1}; }

}  // namespace

JsonEdit::JsonEdit(std::string text) : text_(std::move(text)), indent_(indent_of(text_)) {
  change(0, 0, {});
}

void JsonEdit::change(std::size_t begin, std::size_t end, std::string_view other) {
  text_.replace(begin, end - begin, other);
  bare_ = without_comments(text_);
  plain_ = without_last_commas(bare_);
}

Result<JsonEdit> JsonEdit::read(std::string text) {
  const std::string plain = without_last_commas(without_comments(text));
  if (plain.find_first_not_of(kWhiteSpace) == std::string::npos) {
    return JsonEdit(std::move(text) + std::string(kFreshObject));
  }
  const ParsedJson value(plain);
  if (value && value->is_object()) {
    return JsonEdit(std::move(text));
  }
  Error error = value ? Error{.code = ErrorCode::E_INVALID_FORMAT,
                              .message = "the file contains no JSON object",
                              .line = 1}
                      : value.error();
  if (error.line == 0 && error.column > 0) {
    const std::string_view front = std::string_view(text).substr(0, error.column - 1);
    const std::size_t newline = front.rfind('\n');
    error.line = 1 + static_cast<std::uint64_t>(std::ranges::count(front, '\n'));
    error.column -= newline == std::string_view::npos ? 0 : newline + 1;
  }
  return error;
}

JsonEdit JsonEdit::new_file() { return JsonEdit(std::string(kFreshObject) + '\n'); }

std::optional<std::string> JsonEdit::result() const {
  const std::size_t fresh = text_.find(kFreshObject);
  if (fresh == std::string::npos) {
    return text_;
  }
  std::string rest = text_.substr(0, fresh) + text_.substr(fresh + kFreshObject.size());
  return fresh == 0 && rest == "\n" ? std::nullopt : std::optional(std::move(rest));
}

std::string_view JsonEdit::value(const JsonPath& path, std::string_view* key_found) const {
  const std::size_t start = skip_json_blanks(plain_, 0);
  std::string_view at =
      std::string_view(plain_).substr(start, json_value_end(plain_, start) - start);
  for (const std::string_view key : path) {
    if (at.starts_with('[')) {
      const std::vector<std::string_view> elements = json_elements(at);
      const std::size_t index = number_in<std::size_t>(key).value_or(elements.size());
      at = index < elements.size() ? elements[index] : std::string_view();
      continue;
    }
    const std::vector<MemberText> members =
        at.starts_with('{') ? json_members(at) : std::vector<MemberText>();
    const auto found = std::ranges::find(members, key, &MemberText::key);
    if (found == members.end()) {
      return {};
    }
    at = found->value;
    if (key_found != nullptr) {
      *key_found = found->key;
    }
  }
  return at;
}

TextSpan JsonEdit::span_of(std::string_view piece) const {
  const auto begin = static_cast<std::size_t>(piece.data() - plain_.data());
  return {.begin = begin, .end = begin + piece.size()};
}

std::vector<TextSpan> JsonEdit::elements(const JsonPath& path) const {
  std::vector<TextSpan> spans;
  if (const std::string_view array = value(path); array.starts_with('[')) {
    for (const std::string_view element : json_elements(array)) {
      spans.push_back(span_of(element));
    }
  }
  return spans;
}

std::vector<std::string> JsonEdit::keys(const JsonPath& path) const {
  const std::string_view object = value(path);
  return mapped(json_members(object.starts_with('{') ? object : std::string_view()),
                [](const MemberText& member) { return std::string(member.key); });
}

std::string JsonEdit::laid_out(std::string_view value, std::size_t depth) const {
  static constexpr std::size_t kLevel = 2;  // Blanks that json_pretty() indents by.
  const std::string pretty = json_pretty(value);
  std::string out;
  for (std::size_t at = 0; at < pretty.size();) {
    const std::size_t end = std::min(pretty.find('\n', at), pretty.size());
    const std::size_t first = std::min(pretty.find_first_not_of(' ', at), end);
    out += at == 0 ? "" : "\n";
    for (std::size_t i = 0; at > 0 && i < depth + (first - at) / kLevel; ++i) {
      out += indent_;
    }
    out.append(pretty, first, end - first);
    at = end + 1;
  }
  return out;
}

void JsonEdit::add_to(TextSpan container, std::size_t depth, std::string_view piece) {
  std::string outer = "\n";
  for (std::size_t i = 0; i < depth; ++i) {
    outer += indent_;
  }
  const std::string line = outer + indent_ + std::string(piece);
  const TextSpan room = inside(container);
  const std::size_t last = room.of(plain_).find_last_not_of(kWhiteSpace);
  if (room.of(text_) == kFresh) {
    change(room.begin, room.end, line + outer);
  } else if (last == std::string_view::npos) {
    change(room.begin, room.begin, piece);
  } else {
    const std::size_t value_end = room.begin + last + 1;
    const std::size_t end = end_of_last(value_end, room.end);
    if (bare_[room.begin + room.of(bare_).find_last_not_of(kWhiteSpace)] == ',') {
      change(end, end, line + ",");
    } else {
      change(end, end, end == value_end ? "," + line : line);
      if (end != value_end) {  // Comments stand in between.
        change(value_end, value_end, ",");
      }
    }
  }
}

TextSpan JsonEdit::make_container(const JsonPath& path, std::string_view empty) {
  if (value(path).empty()) {
    const JsonPath parent(path.begin(), path.end() - 1);
    const TextSpan outer = make_container(parent, kFreshObject);
    add_to(outer, parent.size(), json_quoted(path.back()) + ": " + std::string(empty));
  }
  return span_of(value(path));
}

void JsonEdit::add_member(const JsonPath& path, std::string_view key, std::string_view value) {
  const TextSpan object = make_container(path, kFreshObject);
  add_to(object, path.size(), json_quoted(key) + ": " + laid_out(value, path.size() + 1));
}

void JsonEdit::add_element(const JsonPath& path, std::string_view value) {
  add_to(make_container(path, kFreshArray), path.size(), laid_out(value, path.size() + 1));
}

void JsonEdit::replace(std::string_view value, std::string_view other) {
  const TextSpan span = span_of(value);
  change(span.begin, span.end, other);
}

std::size_t JsonEdit::end_of_last(std::size_t begin, std::size_t end) const {
  const std::size_t last = TextSpan{begin, end}.of(text_).find_last_not_of(kWhiteSpace);
  return last == std::string_view::npos ? begin : begin + last + 1;
}

std::size_t JsonEdit::begin_to_remove(TextSpan room, TextSpan piece) const {
  const std::size_t begin = end_of_last(room.begin, piece.begin);
  const std::size_t next = std::min(text_.find_first_not_of(kWhiteSpace, piece.end), room.end);
  // Behind `// …` the line must end before anything else comes.
  const bool in_comment = without_comments(text_.substr(0, begin) + "x").back() != 'x';
  return in_comment && !TextSpan{piece.end, next}.of(text_).contains('\n') ? piece.begin : begin;
}

void JsonEdit::remove_with_comma_behind(TextSpan room, TextSpan piece, std::size_t comma) {
  const bool is_last = TextSpan{comma + 1, room.end}.of(plain_).find_first_not_of(kWhiteSpace) ==
                       std::string_view::npos;
  const bool is_near = end_of_last(piece.end, comma) == piece.end;
  if (is_last) {
    const std::size_t begin = begin_to_remove(room, {piece.begin, comma + 1});
    change(comma, comma + 1, {});
    change(begin, piece.end, {});
  } else if (is_near) {
    const std::size_t next = text_.find_first_not_of(kWhiteSpace, comma + 1);
    const bool is_comment = bare_[next] == ' ';
    change(piece.begin, is_comment ? comma + 1 : next, {});
  } else {
    change(comma, comma + 1, {});
    change(piece.begin, piece.end, {});
  }
}

void JsonEdit::remove_element(const JsonPath& path, TextSpan piece) {
  const TextSpan room = inside(span_of(value(path)));
  const TextSpan before{room.begin, piece.begin};
  const TextSpan after{piece.end, room.end};
  if (const std::size_t comma = after.of(bare_).find_first_not_of(kWhiteSpace);
      comma != std::string_view::npos) {
    return remove_with_comma_behind(room, piece, piece.end + comma);
  }
  if (const std::size_t found = before.of(bare_).find_last_not_of(kWhiteSpace);
      found != std::string_view::npos) {
    const std::size_t comma = room.begin + found;
    if (end_of_last(comma + 1, piece.begin) == comma + 1) {
      // The comma before it and the blanks on both sides of the comma.
      return change(end_of_last(room.begin, comma), piece.end, {});
    }
    change(begin_to_remove(room, piece), piece.end, {});
    return change(comma, comma + 1, {});
  }
  const bool is_alone = end_of_last(before.begin, before.end) == before.begin &&
                        end_of_last(after.begin, after.end) == after.begin;
  if (!is_alone || !before.of(text_).contains('\n')) {
    return change(is_alone ? piece.begin : begin_to_remove(room, piece), piece.end, {});
  }
  change(room.begin, room.end, kFresh);  // We made it.
  if (!path.empty()) {
    remove_member({path.begin(), path.end() - 1}, path.back());
  }
}

void JsonEdit::remove_member(const JsonPath& path, std::string_view key) {
  JsonPath whole = path;
  whole.push_back(key);
  std::string_view key_text;
  if (const std::string_view there = value(whole, &key_text); !there.empty()) {
    // The key's view begins behind its quote.
    remove_element(path, {.begin = span_of(key_text).begin - 1, .end = span_of(there).end});
  }
}

Result<std::string> with_setting(std::string_view text, const std::string& key,
                                 const std::optional<std::string>& value) {
  BMAD_TRY_ASSIGN(JsonEdit edit, JsonEdit::read(std::string(text)));
  JsonPath path = lines_of(key, '.');
  path.insert(path.begin(), "memory_config");
  const std::string_view place = edit.value(path);
  const std::string_view name = path.back();
  const JsonPath parent(path.begin(), path.end() - 1);
  if (!value) {
    edit.remove_member(parent, name);
  } else if (!place.empty()) {
    edit.replace(place, *value);
  } else {
    edit.add_member(parent, name, *value);
  }
  return edit.text();
}

}  // namespace bmad_mem::cli
