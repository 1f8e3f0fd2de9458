// wrapped_line.hpp - a log's line on its way to another file, byte for byte, with what is to be
// said about it in front.
//
//   {"type":"fact","reason":"superseded","entry":{"id":"fact-1", "mine": 1.00}}
//                                                |<----- as in the log ----->|
//
// The line must come back as it was: blanks, order and the spelling of numbers included, since what
// was moved away may be put back. So it is neither parsed nor written anew, only stood in a place
// where JSON allows it, and the whole is still one JSON object that people and programs can read.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// A string member that stands between "type" and "entry".
struct WrapLabel {
  std::string_view name;
  std::string_view value;
};

/// Appends the wrapped line to `out`, without '\n'. `entry` must be a line that a log takes: one
/// JSON object without line breaks.
void append_wrapped(std::string& out, EntryType type, std::span<const WrapLabel> labels,
                    std::string_view entry);

/// A wrapped line, taken apart.
struct WrappedLine {
  EntryType type = EntryType::kConversation;
  /// The line that was wrapped, with all blanks around it: a log may have some, too. Lives as long
  /// as the text.
  std::string_view entry;
  /// The other members; `entry` is null in it. Lives until the parser parses again.
  JsonValue members;
};

/// Takes `text` apart: written by append_wrapped(), or by a person, who may order the members and
/// put blanks between them as JSON allows. Uses `parser`.
/// Errors: E_INVALID_FORMAT with field, when it is no JSON object, or has no "type" that is one, or
/// no "entry" that is an object.
Result<WrappedLine> unwrap_line(JsonParser& parser, std::string_view text);

}  // namespace bmad_mem
