// memory_tool.hpp - the six commands of Anthropic's memory tool (memory_20250818) on one folder.
//
//   {"command":"create","path":"/memories/a.md","file_text":"…"}  ->  "File created successfully …"
//
// The sentences are those of the reference implementation, word by word: models know them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/result.hpp"
#include "exchange/memory_tool/memory_folder.hpp"

namespace bmad_mem::cli {

// What the commands do to texts, and how they show them. A text is what stands between its line
// ends: "a\nb\n" has the three lines "a", "b" and "".

/// Most lines of a file that can be shown: numbers have six digits.
inline constexpr std::size_t kViewLinesMax = 999'999;

/// "     1\tone": the lines of `text` from `first` to `last`, both 1-based and inclusive, joined by
/// line ends. What lies beyond the text is left out.
std::string numbered_lines(std::string_view text, std::uint64_t first, std::uint64_t last);

/// How many lines `text` has; at least 1.
std::uint64_t line_count(std::string_view text);

struct Replacement {
  std::string text;     ///< The whole text, changed.
  std::string snippet;  ///< The line of the change, with two lines before and after it.
};

/// Replaces the one place where `old_text` stands by `new_text`. Places on one line count as one,
/// and the first of them is meant, as in the reference implementation. `path` is for messages.
/// Errors: E_INVALID_FORMAT with the documented sentence when there is none, or several.
Result<Replacement> replace_once(std::string_view text, std::string_view old_text,
                                 std::string_view new_text, std::string_view path);

/// Puts `inserted` behind line `line` (0: in front of all). One line end at its end is dropped.
/// Errors: E_INVALID_FORMAT with the documented sentence when there is no such line.
Result<std::string> insert_lines(std::string_view text, std::int64_t line,
                                 std::string_view inserted);

/// "0B", "24B", "1.5K", "4K", up to G: steps of 1024, one decimal unless it is a whole number.
std::string short_size(std::uint64_t bytes);

class MemoryTool {
 public:
  /// Both must outlive it. Of a foreign memory, what is viewed is quoted.
  MemoryTool(MemoryFolder& folder, const SecretScanner& scanner, bool is_foreign)
      : folder_(folder), scanner_(scanner), is_foreign_(is_foreign) {}

  /// Does what `command`, an object, asks for. Errors: the message is what the model is told;
  /// nothing was changed, unless the code is E_STORAGE_IO or E_STORAGE_FULL.
  Result<std::string> run(JsonValue command);

  /// How many secrets were taken out of what was written last.
  [[nodiscard]] std::uint64_t redacted() const { return redacted_; }

 private:
  Result<std::string> view(JsonValue command) const;
  Result<std::string> view_folder(const VirtualPath& path) const;
  Result<std::string> create(JsonValue command);
  Result<std::string> str_replace(JsonValue command);
  Result<std::string> insert(JsonValue command);
  Result<std::string> remove(JsonValue command);
  Result<std::string> rename(JsonValue command);

  /// The path of a file that is to be changed, or why it can't be.
  [[nodiscard]] Status check_is_file(const VirtualPath& path) const;
  /// `text` without its secrets, which are counted.
  std::string clean(std::string text);
  /// Names are stored as they are, so a secret must not be in one.
  [[nodiscard]] Status check_name(const VirtualPath& path) const;

  MemoryFolder& folder_;
  const SecretScanner& scanner_;
  bool is_foreign_;
  std::uint64_t redacted_ = 0;
};

}  // namespace bmad_mem::cli
