// summary_prompt.hpp - what a writer of summaries gets.
//
//   instructions
//   =====1f3870be= summary.md =====      the marks hold a key that stands nowhere between them,
//   …                                    so that no message can close them
//   =====1f3870be= messages =====
//   [user, 2026-01-11T10:00:00Z]
//   …
//   =====1f3870be= end =====
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "bmad_mem/summary.hpp"
#include "knowledge/dialogue.hpp"

namespace bmad_mem {

/// Most that the messages of one prompt may be; what is beyond comes next time.
inline constexpr std::size_t kPromptTokensMax = 60'000;
/// A longer message is cut in its middle.
inline constexpr std::size_t kPromptMessageSizeMax = 16'000;

/// The prompt for the summary `body` and `messages`, of which there is at least one: the same bytes
/// for the same input, and no ticket. What is marked as sensitive is left out, and said to be.
SummaryPrompt summary_prompt(std::string_view body, std::span<const DialogueMessage> messages);

// What a writer of summaries may answer.
//
//   # Session summary …                                         the whole of it, or
//   [{"file":"summary.md","old":"…","new":"…"}]                 edits of it, either of them perhaps
//   {"result":"…","usage":{…}}                                  wrapped so, as `claude -p` does
//
// Anything else is refused, with a reason that names the file that may be edited.

/// What a writer says it has used.
struct WriterUsage {
  std::optional<std::uint64_t> input_tokens;
  std::optional<std::uint64_t> output_tokens;
  std::optional<std::uint64_t> cache_read_tokens;
  std::optional<std::uint64_t> cache_written_tokens;
};

struct WriterAnswer {
  std::string text;
  WriterUsage usage = {};
};

/// Unwraps what a writer printed. The usage is a member `usage` beside `result`, else of a JSON
/// object on the last line of `err`: `input_tokens`, `output_tokens`, `cache_read_input_tokens`,
/// `cache_creation_input_tokens`.
WriterAnswer read_writer_answer(std::string_view out, std::string_view err = {});

/// The summary `body` as `answer` wants it. Errors: E_INVALID_FORMAT for what is neither a summary
/// with the headings of `body` nor edits of summary.md; E_SIZE_LIMIT for what is too long.
Result<std::string> revised_summary(std::string_view body, std::string_view answer);

}  // namespace bmad_mem
