// json_problem.cpp - finds where and why a JSON text is refused.
// It runs once simdjson has refused the text: simdjson is faster, and reports no position.
#include <algorithm>
#include <cassert>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_cursor.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

using Json = nlohmann::json;

/// One open object or array, and the place in it.
struct Level {
  bool is_object = false;
  std::size_t index = 0;  // In an array: which element.
  std::string key;        // In an object: the latest key.
  std::set<std::string> keys;
};

/// As much of a key as a path of fields can hold, fit for a terminal.
std::string shown_key(std::string_view key) {
  constexpr std::size_t kShownMax = 64;
  std::string shown(utf8_prefix(key, kShownMax));
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }, '?');
  return shown;
}

/// Stops at the first thing that is wrong and keeps its place and reason.
class ProblemFinder final : public nlohmann::json_sax<Json> {
 public:
  /// `count` is how many bytes of `text` were handed out so far.
  ProblemFinder(std::string_view text, const std::size_t* count) : text_(text), count_(count) {}

  bool null() override { return scalar(); }
  bool boolean(bool /*value*/) override { return scalar(); }
  bool number_integer(number_integer_t /*value*/) override { return scalar(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return scalar(); }
  bool binary(binary_t& /*value*/) override { return scalar(); }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    if (text.find_first_of(".eE") == string_t::npos) {
      at_ = *count_ - std::min(*count_, text.size());  // The byte behind it was handed out, too.
      return refuse(
          fmt::format("the number {} is beyond 64 bits and would lose digits; write it "
                      "as a string",
                      utf8_prefix(text, 40)));
    }
    return scalar();
  }
  bool string(string_t& value) override {
    if (value.find('\0') != string_t::npos) {
      at_ = string_start();
      return refuse("the string contains NUL (\\u0000); leave it out");
    }
    return scalar();
  }
  bool start_object(std::size_t /*size*/) override { return open(true); }
  bool start_array(std::size_t /*size*/) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    assert(!levels_.empty() && levels_.back().is_object);
    Level& level = levels_.back();
    level.key = shown_key(value);
    at_ = string_start();
    if (value.find('\0') != string_t::npos) {
      return refuse("a key contains NUL (\\u0000); leave it out");
    }
    if (!level.keys.insert(value).second) {
      return refuse("the key is twice in one object; keep one of them");
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const Json::exception& failure) override {
    constexpr int kNumberOverflow = 406;
    at_ = position;
    if (failure.id == kNumberOverflow) {
      at_ = position + 1 - std::min(position, token.size());
      return refuse(fmt::format("the number {} is too large to keep; write it as a string",
                                utf8_prefix(token, 40)));
    }
    return refuse(syntax_reason(failure.what()));
  }

  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::string field() const {
    std::string path;
    for (const Level& level : levels_) {
      if (level.is_object && !level.key.empty()) {
        path += (path.empty() ? "" : ".") + level.key;
      } else if (!level.is_object) {
        path += fmt::format("[{}]", level.index);
      }
    }
    return path;
  }

 private:
  bool scalar() {
    if (!levels_.empty()) {
      ++levels_.back().index;
    }
    return true;
  }
  bool open(bool is_object) {
    if (levels_.size() >= kJsonDepthMax) {
      at_ = *count_;
      return refuse(fmt::format("nested deeper than {} levels", kJsonDepthMax));
    }
    levels_.push_back({.is_object = is_object, .index = 0, .key = {}, .keys = {}});
    return true;
  }
  bool close() {
    assert(!levels_.empty() && "nlohmann pairs its events");
    levels_.pop_back();
    return scalar();
  }
  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }
  /// The column of the opening quote of the string whose closing quote was just handed out: the
  /// last quote before that one without an odd number of backslashes in front.
  [[nodiscard]] std::size_t string_start() const {
    assert(*count_ > 0 && *count_ <= text_.size());
    for (std::size_t quote = *count_ - 1; quote-- > 0;) {
      if (text_[quote] == '"') {
        const std::size_t before = text_.substr(0, quote).find_last_not_of('\\') + 1;
        if ((quote - before) % 2 == 0) {
          return quote + 1;
        }
      }
    }
    return *count_;
  }
  /// nlohmann's own sentence without its "[json.exception.parse_error.101] parse error at .." head.
  static std::string syntax_reason(std::string_view what) {
    const std::size_t head = what.find("syntax error");
    constexpr std::size_t kReasonSizeMax = 300;  // It quotes the token, which can be a megabyte.
    std::string reason = "not valid JSON: ";
    reason += head == std::string_view::npos ? what : what.substr(head);
    reason = utf8_repaired(reason);
    if (reason.size() > kReasonSizeMax) {
      reason.resize(utf8_prefix(reason, kReasonSizeMax).size());
      reason += "...";
    }
    return reason;
  }

  std::string_view text_;
  const std::size_t* count_;
  std::vector<Level> levels_;
  std::size_t at_ = 0;
  std::string reason_;
};

Error problem_at(std::size_t column, std::string reason, std::string field = {}) {
  return Error{.code = ErrorCode::E_INVALID_FORMAT,
               .message = std::move(reason),
               .column = std::max<std::size_t>(column, 1),
               .field = std::move(field)};
}

/// Moves `cursor`, which stands at a value, to the key `key` in it; false when there is none.
bool enter(JsonCursor& cursor, std::string_view key) {
  if (cursor.peek() != '{') {
    return false;
  }
  cursor.step();
  while (cursor.peek() == '"') {
    JsonCursor behind_key = cursor;
    if (behind_key.string() == key) {
      return true;
    }
    cursor = behind_key;
    cursor.step();  // The ':'.
    cursor.value();
    if (cursor.peek() == ',') {
      cursor.step();
    }
  }
  return false;
}

}  // namespace

Error json_problem(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    return problem_at(1,
                      "the text starts with a byte order mark; save the file as UTF-8 without BOM");
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return problem_at(nul + 1, "the text contains a NUL byte");
  }
  if (const std::size_t valid = utf8_valid_size(text); valid != text.size()) {
    return problem_at(valid + 1, fmt::format("the text is not valid UTF-8: byte 0x{:02x}",
                                             static_cast<unsigned char>(text[valid])));
  }
  if (text.empty()) {  // Its own sentence in nlohmann 3.11.3 only.
    return problem_at(1, "not valid JSON: unexpected end of input");
  }
  std::size_t count = 0;
  ProblemFinder finder(text, &count);
  // SAX events carry no position.
  const auto counted = text | std::views::transform([&](char c) {
                         ++count;
                         return c;
                       });
  if (Json::sax_parse(counted.begin(), counted.end(), &finder)) {
    return problem_at(1, "not valid JSON");  // The two parsers disagree; simdjson's no counts.
  }
  assert(!finder.reason().empty() && "what stops the parser gives a reason");
  return problem_at(finder.at(), finder.reason(), finder.field());
}

// Keeps no values, so that nesting costs a bit a level.
bool is_well_formed_json(std::string_view text) { return Json::accept(text); }

TextPosition position_of_member(std::string_view text, std::string_view field) {
  TextPosition deepest;
  JsonCursor cursor(text);
  while (!field.empty()) {
    const std::size_t dot = std::min(field.find('.'), field.size());
    if (!enter(cursor, field.substr(0, dot))) {
      return deepest;
    }
    deepest = position_at(text, cursor.at());
    cursor.string();
    cursor.step();  // The ':'.
    field.remove_prefix(std::min(dot + 1, field.size()));
  }
  return deepest;
}

Error problem_in_file(Error problem, std::string_view text, std::string_view display_path) {
  problem.path = std::string(display_path);
  return placed_in(std::move(problem), text);
}

TextPosition position_at(std::string_view text, std::size_t offset) {
  assert(offset <= text.size());
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
  return {.line = 1 + static_cast<std::uint64_t>(std::ranges::count(before, '\n')),
          .column = 1 + before.size() - line_start};
}

Error placed_in(Error problem, std::string_view text) {
  const std::size_t offset = problem.column == 0 ? 0 : problem.column - 1;
  const TextPosition position = position_at(text, std::min(offset, text.size()));
  problem.line = position.line;
  problem.column = position.column;
  return problem;
}

namespace {

/// From a key to its value; from an element nowhere.
void skip_key(JsonCursor& cursor) {
  if (cursor.peek() != '"') {
    return;
  }
  JsonCursor behind = cursor;
  behind.string();
  if (behind.peek() == ':') {
    behind.step();
    cursor = behind;
  }
}

/// From an object or array to its member or element number `index`: to the key, if it has one.
void enter(JsonCursor& cursor, std::size_t index) {
  cursor.step();
  for (; index > 0 && cursor.peek() != '\0'; --index) {
    skip_key(cursor);
    cursor.value();
    cursor.step();  // The ','.
  }
}

JsonCursor at_path(std::string_view text, JsonPath path) {
  JsonCursor cursor(text);
  for (const std::size_t index : path) {
    skip_key(cursor);
    enter(cursor, index);
  }
  return cursor;
}

}  // namespace

std::size_t json_value_offset(std::string_view text, JsonPath path) {
  JsonCursor cursor = at_path(text, path);
  skip_key(cursor);
  return cursor.at();
}

std::size_t json_key_offset(std::string_view text, JsonPath path) {
  return at_path(text, path).at();
}

JsonNode JsonNode::member(std::size_t index, JsonValue value, std::string_view key) const {
  return child(index, value, fmt::format("{}{}{}", field_, field_.empty() ? "" : ".", key));
}

JsonNode JsonNode::element(std::size_t index, JsonValue value) const {
  return child(index, value, fmt::format("{}[{}]", field_, index));
}

Error JsonNode::refuse(std::string message) const {
  return refuse_at(json_value_offset(text_, path()), std::move(message));
}

Error JsonNode::refuse_key(std::string message) const {
  return refuse_at(json_key_offset(text_, path()), std::move(message));
}

Error JsonNode::refuse_kind(std::string_view wanted) const {
  return refuse(fmt::format("must be {}, not {}", wanted, json_kind_name(value_.kind())));
}

JsonNode JsonNode::child(std::size_t index, JsonValue value, std::string field) const {
  assert(depth_ < kDepthMax);
  JsonNode node(code_, text_, value);
  node.field_ = std::move(field);
  node.path_ = path_;
  node.path_[depth_] = index;
  node.depth_ = depth_ + 1;
  return node;
}

Error JsonNode::refuse_at(std::size_t offset, std::string message) const {
  return placed_in(
      {.code = code_, .message = std::move(message), .column = offset + 1, .field = field_}, text_);
}

}  // namespace bmad_mem
