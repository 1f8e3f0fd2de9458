// summary_prompt.cpp - writes the prompt for a summary, and parses the answer of the writer.
#include "knowledge/summary_prompt.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/summary_file.hpp"
#include "knowledge_prompts.hpp"

namespace bmad_mem {
namespace {

/// `text` in at most kPromptMessageSizeMax bytes, without its middle if need be.
std::string shortened(const std::string& text) {
  if (text.size() <= kPromptMessageSizeMax) {
    return text;
  }
  const std::string_view head = utf8_prefix(text, kPromptMessageSizeMax / 4 * 3);
  std::size_t tail = text.size() - kPromptMessageSizeMax / 4;
  while (is_continuation(text[tail])) {
    ++tail;
  }
  assert(head.size() <= tail && tail < text.size());
  return fmt::format("{}\n[… {} bytes left out …]\n{}", head, tail - head.size(),
                     std::string_view(text).substr(tail));
}

std::string shown(const DialogueMessage& message) {
  return fmt::format("[{}, {}]\n{}\n\n", without_controls(message.role), format_rfc3339(message.at),
                     message.is_sensitive ? "[left out: marked as sensitive]"
                                          : shortened(without_controls(message.content)));
}

/// A text that stands nowhere in `data`.
std::string unused_key(std::string_view data) {
  std::uint64_t seed = xxh3(data);
  std::string key;
  do {
    key = hash_hex(seed++).substr(0, 8);
  } while (data.find(key) != std::string_view::npos);
  return key;
}

constexpr std::size_t kQuoteSizeMax = 80;

/// `text` on one line, for a message.
std::string in_quotes(std::string_view text) {
  std::string line = without_controls(utf8_prefix(text, kQuoteSizeMax));
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return fmt::format("\"{}{}\"", line, text.size() > kQuoteSizeMax ? "…" : "");
}

Error refused(std::string_view why) {
  return Error{.code = ErrorCode::E_INVALID_FORMAT,
               .message = fmt::format("the writer's answer was not taken: {}", why)};
}

Error denied(std::string_view what) {
  return refused(fmt::format("it asks for {}; only {} may be edited", what, kSummaryFileName));
}

std::optional<std::uint64_t> count_of(JsonValue value) {
  return value.is_integer() && value.integer(-1) >= 0
             ? std::optional(static_cast<std::uint64_t>(value.integer()))
             : std::nullopt;
}

WriterUsage usage_of(JsonValue usage) {
  return {.input_tokens = count_of(usage["input_tokens"]),
          .output_tokens = count_of(usage["output_tokens"]),
          .cache_read_tokens = count_of(usage["cache_read_input_tokens"]),
          .cache_written_tokens = count_of(usage["cache_creation_input_tokens"])};
}

/// Models like to put a whole answer into a fence.
std::string_view without_fence(std::string_view answer) {
  answer = trimmed(answer);
  const std::size_t first_end = answer.find('\n');
  if (!answer.starts_with("```") || first_end == std::string_view::npos) {
    return answer;
  }
  const std::size_t last = answer.rfind('\n');
  assert(last >= first_end);
  const std::string_view inside =
      last > first_end ? answer.substr(first_end + 1, last - first_end - 1) : "";
  const bool is_whole =
      trimmed(answer.substr(last)) == "```" && inside.find("\n```") == std::string_view::npos;
  // With fences inside, the outer one is still one when the answer is Markdown in it.
  return is_whole || (trimmed(answer.substr(last)) == "```" && trimmed(inside).starts_with('#'))
             ? trimmed(inside)
             : answer;
}

/// Makes `edit` in `body`.
Status make_edit(JsonValue edit, std::string& body) {
  if (!edit.is_object()) {
    return denied(fmt::format("{} in the place of an edit", json_kind_name(edit.kind())));
  }
  for (const JsonMember& member : edit.members()) {
    const bool is_known = member.key == "file" || member.key == "old" || member.key == "new";
    if (!is_known) {
      return denied(fmt::format("something with a member {}", in_quotes(member.key)));
    }
    if (!member.value.is_string()) {
      return refused(fmt::format("\"{}\" of an edit must be a string, not {}", member.key,
                                 json_kind_name(member.value.kind())));
    }
  }
  if (!edit["file"].is_string() || !edit["old"].is_string() || !edit["new"].is_string()) {
    return refused(R"(an edit has "file", "old" and "new")");
  }
  if (edit["file"].string() != kSummaryFileName) {
    return denied(fmt::format("a change of {}", in_quotes(edit["file"].string())));
  }
  const std::string_view old_text = edit["old"].string();
  if (old_text.empty()) {
    return refused("the \"old\" of an edit is empty");
  }
  const std::size_t at = body.find(old_text);
  if (at == std::string::npos) {
    return refused(fmt::format("{} does not occur in {}", in_quotes(old_text), kSummaryFileName));
  }
  if (body.find(old_text, at + 1) != std::string::npos) {
    return refused(
        fmt::format("{} occurs more than once in {}", in_quotes(old_text), kSummaryFileName));
  }
  body.replace(at, old_text.size(), edit["new"].string());
  return {};
}

Result<std::string> edited(std::string_view body, std::string_view answer) {
  const ParsedJson edits(answer);
  if (!edits) {
    return refused(fmt::format("it begins like JSON and is none: {}", edits.error().message));
  }
  std::string result(body);
  BMAD_TRY(edits->is_object() ? make_edit(*edits, result) : Status());
  for (const JsonValue edit : edits->elements()) {
    BMAD_TRY(make_edit(edit, result));
  }
  return result;
}

/// A hand may have changed the headings: those that are there now are to stay.
Status check_headings(std::string_view body, std::string_view result) {
  const std::vector<std::string_view> there = summary_headings(result);
  auto at = there.begin();
  for (const std::string_view heading : summary_headings(body)) {
    const auto found = std::find(at, there.end(), heading);
    if (found == there.end()) {
      return refused(fmt::format("the heading {} of {} is missing, or not in its place",
                                 in_quotes(heading), kSummaryFileName));
    }
    at = found + 1;
  }
  return {};
}

Status check_size(std::string_view result) {
  const std::size_t tokens = estimate_tokens(result);
  if (result.size() <= kSummarySizeMax && tokens <= kSummaryTokensMax) {
    return {};
  }
  return Error{.code = ErrorCode::E_SIZE_LIMIT,
               .message = fmt::format(
                   "the writer's answer was not taken: {} would have {} bytes and {} tokens, and "
                   "may have {} and {}",
                   kSummaryFileName, result.size(), tokens, kSummarySizeMax, kSummaryTokensMax)};
}

}  // namespace

SummaryPrompt summary_prompt(std::string_view body, std::span<const DialogueMessage> messages) {
  assert(!messages.empty());
  SummaryPrompt prompt;
  std::string talk;
  std::size_t tokens = 0;
  for (const DialogueMessage& message : messages) {
    const std::string text = shown(message);
    tokens += estimate_tokens(text);
    if (tokens > kPromptTokensMax && prompt.messages > 0) {
      break;
    }
    talk += text;
    prompt.up_to_id = message.id;
    ++prompt.messages;
  }
  assert(prompt.messages > 0 && prompt.messages <= messages.size());
  prompt.messages_left = messages.size() - prompt.messages;
  const std::string summary = without_controls(body);
  const std::string mark = fmt::format("====={}=", unused_key(summary + talk));
  assert(!talk.contains(mark) && !summary.contains(mark) && "no message can close the fence");
  prompt.text = fmt::format(kSummaryText, mark, kSummaryTokensMax, kSummaryFileName);
  prompt.text += fmt::format("\n{0} {1} =====\n{2}{3}{0} messages =====\n{4}{0} end =====\n", mark,
                             kSummaryFileName, summary, summary.ends_with('\n') ? "" : "\n", talk);
  prompt.tokens = estimate_tokens(prompt.text);
  return prompt;
}

WriterAnswer read_writer_answer(std::string_view out, std::string_view err) {
  WriterAnswer answer{.text = std::string(out)};
  JsonParser parser;
  if (trimmed(out).starts_with('{')) {
    const Result<JsonValue> wrapped = parser.parse(trimmed(out));
    if (wrapped && (*wrapped)["result"].is_string()) {
      answer.text = (*wrapped)["result"].string();
      answer.usage = usage_of((*wrapped)["usage"]);
      return answer;
    }
  }
  const std::string_view said = trimmed(err);
  const Result<JsonValue> last = parser.parse(said.substr(said.rfind('\n') + 1));
  if (last) {
    answer.usage = usage_of((*last)["usage"]);
  }
  return answer;
}

Result<std::string> revised_summary(std::string_view body, std::string_view answer) {
  const std::string clean = without_controls(answer);
  const std::string_view text = without_fence(clean);
  std::string result;
  if (text.starts_with('[') || text.starts_with('{')) {
    BMAD_TRY_ASSIGN(result, edited(body, text));
    result = without_controls(result);
  } else {
    // A writer that copies the front matter means no harm; it is not the writer's.
    result = trimmed(FrontMatter(text).body());
    if (!result.starts_with('#')) {
      return refused(result.empty()
                         ? fmt::format("it is empty; it should be the new {}", kSummaryFileName)
                         : fmt::format("it should be the new {}, beginning with its first "
                                       "heading, or edits of it, and begins with {}",
                                       kSummaryFileName, in_quotes(result)));
    }
  }
  if (!result.ends_with('\n')) {
    result += '\n';
  }
  BMAD_TRY(check_size(result));
  BMAD_TRY(check_headings(body, result));
  if (is_empty_summary(result)) {
    return refused(fmt::format("{} would say nothing", kSummaryFileName));
  }
  assert(result.ends_with('\n') && result.size() <= kSummarySizeMax);
  return result;
}

}  // namespace bmad_mem
