// json_edit.hpp - adding to a JSON file of somebody else, and taking it out again, to the byte.
//
// The file is never written anew from its values: pieces of text go in and come out, and whatever
// else stands there keeps its bytes. Taking out what was put in leaves the text that was there
// before, because where it was put tells what was there:
//
//   {                          { "a": 1 }                 {}
//     "hooks": {               { "a": 1,                  {"hooks": {
//       "Stop": [ours]           "hooks": {                  "Stop": [ours]
//     }                            "Stop": [ours]          }}
//   }                            } }
//   made by us: behind the     behind a comma: the        was empty: right behind the bracket,
//   bracket stands a newline,  comma goes as well         and the bracket stays
//   and it goes with the last
//
//   { "a": 1, // note          { "a": 1, // note
//   }                            "hooks": {},             a last comma was there: ours has one, too
//                              }
//   { "a": 1 // note           { "a": 1, // note
//   }                            "hooks": {}              none was: it goes with ours
//                              }
//   (blank)                    {…} without a newline at its end, behind what was there
//
// Comments, last commas and a byte order mark are allowed and keep their bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

/// The way to a value: the keys of the objects on it, and the indexes in arrays as digits.
using JsonPath = std::vector<std::string_view>;

/// A piece of a text.
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::string_view of(std::string_view text) const {
    return text.substr(begin, end - begin);
  }
};

/// A JSON text, an object, that is edited. Spans hold until the next change.
class JsonEdit {
 public:
  /// A text with nothing but blanks and comments is an object that is not there yet. Errors:
  /// E_INVALID_FORMAT with the line, for what is no JSON object.
  static Result<JsonEdit> read(std::string text);
  /// A file that is not there yet.
  static JsonEdit new_file();

  /// What to write: nothing when nothing is left of a file that we made ourselves.
  [[nodiscard]] std::optional<std::string> result() const;
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The text as JSON: as long as it, with blanks in place of comments. Spans fit both.
  [[nodiscard]] const std::string& plain() const { return plain_; }

  /// The value at `path`, and its key as it stands between its quotes, pieces of plain(); empty
  /// when there is none.
  [[nodiscard]] std::string_view value(const JsonPath& path,
                                       std::string_view* key_found = nullptr) const;
  /// The elements of the array at `path`; none when there is no array.
  [[nodiscard]] std::vector<TextSpan> elements(const JsonPath& path) const;
  /// The keys of the object at `path`, as they stand between their quotes.
  [[nodiscard]] std::vector<std::string> keys(const JsonPath& path) const;

  /// Adds a member to the object at `path`, which is made where there is none. `value` is JSON.
  void add_member(const JsonPath& path, std::string_view key, std::string_view value);
  /// Adds an element to the array at `path`, which is made where there is none.
  void add_element(const JsonPath& path, std::string_view value);
  /// Puts another value in the place of `value`, a piece of plain().
  void replace(std::string_view value, std::string_view other);

  /// Takes an element, or a member with its key, out of the container at `path`, and the container
  /// as well when it was made by us and is empty then, and so on for what holds it.
  void remove_element(const JsonPath& path, TextSpan piece);
  /// The same for a member.
  void remove_member(const JsonPath& path, std::string_view key);

 private:
  explicit JsonEdit(std::string text);

  [[nodiscard]] TextSpan span_of(std::string_view piece) const;
  /// The container at `path`, which is made as `empty` where there is none.
  TextSpan make_container(const JsonPath& path, std::string_view empty);
  void add_to(TextSpan container, std::size_t depth, std::string_view piece);
  void change(std::size_t begin, std::size_t end, std::string_view other);
  /// One behind the last thing in `text_` between both that is no blank; `begin` without any.
  [[nodiscard]] std::size_t end_of_last(std::size_t begin, std::size_t end) const;
  /// Where a piece before `end` may begin to go, so that no comment takes what follows with it.
  [[nodiscard]] std::size_t begin_to_remove(TextSpan room, TextSpan piece) const;
  void remove_with_comma_behind(TextSpan room, TextSpan piece, std::size_t comma);
  /// `value` laid out for `depth`, but for its first line.
  [[nodiscard]] std::string laid_out(std::string_view value, std::size_t depth) const;

  std::string text_;
  std::string bare_;    ///< Without comments.
  std::string plain_;   ///< And without last commas.
  std::string indent_;  ///< Of one level.
};

/// `text`, of config.json, with `value` at `key` below memory_config, or without `key` when there
/// is no value; every other byte stays. Errors: those of JsonEdit::read().
Result<std::string> with_setting(std::string_view text, const std::string& key,
                                 const std::optional<std::string>& value);

}  // namespace bmad_mem::cli
