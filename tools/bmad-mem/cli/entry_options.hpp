// entry_options.hpp - the fields of entries as options of `add`, and the JSON they make.
//
// The options are made from the table of fields (bmad_mem/entry_fields.hpp) when somebody asks for
// them, once a process, by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"

namespace bmad_mem::cli {

/// The options of the fields that every type has, and `--field` for any other.
std::span<const Option> common_entry_options();

/// The options of the fields that this type has beyond those, required ones first.
std::span<const Option> entry_options(EntryType type);

/// Whether any option that makes a field was given, so that JSON as well would be too much.
bool has_entry_options(EntryType type, const Arguments& args);

/// One JSON object from the options and the positional text `main_text` (may be empty). `agent_id`
/// is who writes, for entries that don't say; may be empty.
/// What the fields may hold is for the engine to judge; this only fails for what can't become JSON.
/// Errors: E_INVALID_FORMAT with the option as field.
Result<std::string> entry_from_options(EntryType type, const Arguments& args,
                                       std::string_view main_text, std::string_view agent_id);

/// What `edit` changes of `entry`, as one JSON object: the new text `main_text` (may be empty),
/// each
/// --set FIELD=VALUE, and null for each --unset FIELD. Errors: E_INVALID_QUERY for a field that is
/// nearly one of the type's, for one that is not there to be removed, and for one named twice.
Result<std::string> changes_from_options(const Entry& entry, const Arguments& args,
                                         std::string_view main_text);

// Entries on stdin, in whichever way other programs print JSON.
//
//   {"role":"user",…}        JSONL: an object a line
//   {"role":"assistant",…}
//
//   [                        an array of objects, on one line or many
//     {"role":"user",…}, …
//   ]
//
//   {                        objects over several lines, one behind the other, as jq prints them
//     "role": "user"
//   }

/// One entry's text in the input, and the line on which it starts, counted from 1.
struct InputPiece {
  std::string_view text;
  std::uint64_t line = 1;
  std::uint64_t column = 1;  ///< 1-based byte in that line.
};

/// Walks through a text, counting lines.
class TextPosition {
 public:
  explicit TextPosition(std::string_view text) : text_(text) {}

  /// The `size` bytes at `at`, which is not before that of an earlier call.
  InputPiece piece(std::size_t at, std::size_t size = 0);

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
};

/// Most that is taken from stdin at once: more than a session can hold by default.
inline constexpr std::size_t kInputSizeMax = 64U << 20U;

/// All of stdin. Errors: E_STORAGE_IO, E_SIZE_LIMIT beyond kInputSizeMax.
Result<std::string> read_stdin();

/// `text`, or stdin for "-"; the file `name`, or stdin for "-". Errors: as read_stdin().
Result<std::string> text_or_stdin(std::string text);
Result<std::string> read_named(const std::string& name);

/// All of a small file. Errors: as read_stdin(), with the path.
Result<std::string> read_whole_file(const std::string& path);

/// Takes `input` apart. Whether the pieces are JSON is for the engine to say; a piece that never
/// ends is cut at the end of its line. Empty lines are passed over.
std::vector<InputPiece> split_input(std::string_view input);

/// Makes `error`, which speaks of `piece` alone (its column, if known, counts from the piece's
/// first byte), speak of the whole input.
void place_error(Error& error, const InputPiece& piece);

// What texts say of the fields of entries, out of the table.

/// `text`, of help or JSON, with what the table says in place of
///   {filter fields}       status, severity, … and context.NAME
///   {fields by type}      decision: rationale, impact (low|medium|high|critical), … finding: …
///   "{record fields}":{}  "role":{"description":"Who speaks.","enum":["user", …]}, …
std::string with_fields(std::string_view text);

/// For each type a table in Markdown, of all its fields.
std::string field_tables();

}  // namespace bmad_mem::cli
