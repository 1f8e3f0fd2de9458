// summary_answer.hpp - what a writer of summaries may answer.
//
//   # Session summary …                                         the whole of it, or
//   [{"file":"summary.md","old":"…","new":"…"}]                 edits of it, either of them perhaps
//   {"result":"…","usage":{…}}                                  wrapped so, as `claude -p` does
//
// Anything else is refused, with a reason that names the file that may be edited.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// What a writer says it has used.
struct WriterUsage {
  std::optional<std::uint64_t> input_tokens;
  std::optional<std::uint64_t> output_tokens;
  std::optional<std::uint64_t> cache_read_tokens;
  std::optional<std::uint64_t> cache_written_tokens;
};

struct WriterAnswer {
  std::string text;
  WriterUsage usage;
};

/// Unwraps what a writer printed. The usage is a member `usage` beside `result`, else of a JSON
/// object on the last line of `err`: `input_tokens`, `output_tokens`, `cache_read_input_tokens`,
/// `cache_creation_input_tokens`.
WriterAnswer read_writer_answer(std::string_view out, std::string_view err = {});

/// The summary `body` as `answer` wants it. Errors: E_INVALID_FORMAT for what is neither a summary
/// with the headings of `body` nor edits of summary.md; E_SIZE_LIMIT for what is too long.
Result<std::string> revised_summary(std::string_view body, std::string_view answer);

}  // namespace bmad_mem
