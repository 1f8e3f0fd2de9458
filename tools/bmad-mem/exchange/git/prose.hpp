// prose.hpp - a log as text that reads well in `git diff`: a paragraph for each line.
//
//   2026-01-11 10:10:00  architect  decision dec-1kep8he609d3kfw, version 2
//     Use PostgreSQL
//     rationale: ACID
//
// Every field of a line is there, so that no change of it stays unseen; what says nothing, as
// decay_factor 1.0 and the source of a user's message, is left out. A manifest is one paragraph,
// without its statistics. The paragraph of a line depends on the line, and on how many
// lines before it have the same id: adding lines changes no paragraph.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// `text`, the content of a log, as prose. `file_name` may say what kind of entries they are, such
/// as "x/decisions.jsonl". Lines that are no entries are shown as they are. Nothing in the result
/// can steer a terminal.
std::string log_as_prose(std::string_view text, std::string_view file_name);

}  // namespace bmad_mem::cli
