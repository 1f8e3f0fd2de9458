// summary_prompt.hpp - what a writer of summaries gets.
//
//   instructions
//   =====1f3870be= summary.md =====      the marks hold a key that stands nowhere between them,
//   …                                    so that no message can close them
//   =====1f3870be= messages =====
//   [user, 2026-01-11T10:00:00Z]
//   …
//   =====1f3870be= end =====
//
// The messages of a conversation are in the order in which they were said. Pure: lines of logs in,
// messages out. A message of a sub-agent carries one of these, true:
// `metadata.sidechain`, `metadata.isSidechain`, `context.is_sidechain`, `context.isSidechain`,
// `isSidechain`, `sidechain`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/summary.hpp"

namespace bmad_mem {

struct DialogueMessage {
  std::string id;
  Timestamp at{};
  std::string role;
  std::string content;
  /// What the message says of itself (`metadata.tokens`, `tokens`), else estimate_tokens().
  std::size_t tokens = 0;
  bool is_sidechain = false;
  bool is_sensitive = false;
  std::optional<Timestamp> expires_at = {};
};

/// The messages in `lines`, entries of a conversation's log in its order, each where it was first
/// said, with what its last version says. Lines that are no entries are passed over.
std::vector<DialogueMessage> read_dialogue(std::span<const std::string> lines);

/// When tools were used: the times of the events of kind tool_use in `lines`, those of sub-agents
/// left out, sorted.
std::vector<Timestamp> read_tool_uses(std::span<const std::string> lines);

// A conversation made short without a model: its summary, and what came
// after it word for word.

struct ConversationToCompact {
  bool enabled = true;
  /// Of summary.md; nothing when there is none.
  std::optional<std::string_view> summary = {};
  std::string_view last_summarized_id = {};
  std::span<const DialogueMessage> messages = {};  ///< In order, of the main conversation.
  std::size_t max_tokens = 0;                      ///< 0: no threshold.
};

/// Without a last summarized id (a resumed session) it takes the newest messages that fit.
CompactedConversation compact_conversation(const ConversationToCompact& input);

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
