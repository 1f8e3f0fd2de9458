// json_writer.hpp - making JSON text: quoted strings, objects member by member, readable layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bmad_mem {

/// Appends `text` (UTF-8) to `out` as a JSON string: quotes, backslash and control characters are
/// escaped, everything else stays as it is.
void append_json_quoted(std::string& out, std::string_view text);

/// `text` as a JSON string.
std::string json_quoted(std::string_view text);

/// The shortest text that reads back as `number`, always with a '.' or an exponent ("1.0"). The
/// number must be finite.
std::string json_number(double number);

/// `text`, one valid JSON value, laid out for people: a member a line, two blanks a level, short
/// arrays of scalars on one line. Tokens keep their bytes. Ends without '\n'.
std::string json_pretty(std::string_view text);

/// Builds one compact JSON text from front to back. The caller pairs begin and end.
class JsonWriter {
 public:
  JsonWriter() {
    constexpr std::size_t kUsual = 320;
    text_.reserve(kUsual);
  }
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view key);

  JsonWriter& string(std::string_view value);
  JsonWriter& integer(std::int64_t value);
  JsonWriter& real(double value);
  JsonWriter& boolean(bool value);
  /// `text` must be one valid JSON value without line breaks; it is written as it is.
  JsonWriter& raw(std::string_view text);

  JsonWriter& member(std::string_view name, std::string_view value);
  JsonWriter& member(std::string_view name, const char* value);
  JsonWriter& member(std::string_view name, std::int64_t value);
  JsonWriter& member(std::string_view name, std::uint64_t value);
  JsonWriter& member(std::string_view name, int value);
  JsonWriter& member(std::string_view name, double value);
  JsonWriter& member(std::string_view name, bool value);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Hands the text over and starts anew.
  std::string take();

 private:
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace bmad_mem
