#include "knowledge/dialogue.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "knowledge/summary_file.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kToolUse = "tool_use";

bool is_of_sidechain(JsonValue entry) {
  for (const JsonValue place : {entry, entry["metadata"], entry["context"]}) {
    for (const std::string_view name : {"sidechain", "isSidechain", "is_sidechain"}) {
      if (place[name].boolean()) {
        return true;
      }
    }
  }
  return false;
}

std::size_t tokens_of(JsonValue entry) {
  constexpr std::int64_t kBelievable = 10'000'000;
  for (const JsonValue said : {entry["metadata"]["tokens"], entry["tokens"]}) {
    if (said.integer() > 0 && said.integer() <= kBelievable) {
      return static_cast<std::size_t>(said.integer());
    }
  }
  return estimate_tokens(entry["content"].string());
}

DialogueMessage to_message(JsonValue entry) {
  return {.id = std::string(entry["id"].string()),
          .at = try_parse_rfc3339(entry["timestamp"].string()).value_or(Timestamp{}),
          .role = std::string(entry["role"].string()),
          .content = std::string(entry["content"].string()),
          .tokens = tokens_of(entry),
          .is_sidechain = is_of_sidechain(entry),
          .is_sensitive = entry["sensitive"].boolean(),
          .expires_at = try_parse_rfc3339(entry[kExpiresField].string())};
}

}  // namespace

std::vector<DialogueMessage> read_dialogue(std::span<const std::string_view> lines) {
  std::vector<DialogueMessage> messages;
  std::unordered_map<std::string, std::size_t> places;
  JsonParser parser;
  for (const std::string_view line : lines) {
    const Result<JsonValue> entry = parser.parse(line);
    if (!entry || (*entry)["id"].string().empty()) {
      continue;
    }
    DialogueMessage message = to_message(*entry);
    const auto [place, is_new] = places.try_emplace(message.id, messages.size());
    if (is_new) {
      messages.push_back(std::move(message));
    } else {
      messages[place->second] = std::move(message);
    }
  }
  return messages;
}

std::vector<Timestamp> read_tool_uses(std::span<const std::string_view> lines) {
  std::vector<Timestamp> times;
  std::unordered_set<std::string> known;
  JsonParser parser;
  for (const std::string_view line : lines) {
    const Result<JsonValue> entry = parser.parse(line);
    if (!entry || (*entry)["kind"].string() != kToolUse || is_of_sidechain(*entry) ||
        !known.emplace((*entry)["id"].string()).second) {
      continue;
    }
    times.push_back(try_parse_rfc3339((*entry)["timestamp"].string()).value_or(Timestamp{}));
  }
  std::ranges::sort(times);
  return times;
}

namespace {

CompactedConversation declined(CompactionDecline why, std::string explanation) {
  CompactedConversation result;
  result.declined = why;
  result.explanation = std::move(explanation);
  return result;
}

std::string head_of(const DialogueMessage& message) {
  return fmt::format("### {}, {}\n\n", message.role, format_rfc3339(message.at));
}

/// What a message adds to a context: its text as it counts in the conversation, and its head.
std::size_t cost_of(const DialogueMessage& message) {
  return message.tokens + estimate_tokens(head_of(message));
}

std::string boundary_line(std::string_view last_id, std::size_t messages) {
  if (last_id.empty()) {
    return fmt::format(
        "--- compacted: above, a summary of the conversation; below, its newest {} word for word "
        "---",
        messages == 1 ? "message" : fmt::format("{} messages", messages));
  }
  return fmt::format(
      "--- compacted: above, a summary of the conversation up to message {}; below, what came "
      "after it, word for word ---",
      without_controls(last_id));
}

std::string_view without_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

std::string to_markdown(const CompactedConversation& result,
                        std::span<const DialogueMessage> messages) {
  std::string text = fmt::format("{}\n\n{}\n", without_end(result.summary), result.boundary);
  for (const DialogueMessage& message : messages) {
    text += fmt::format("\n{}{}\n", head_of(message), without_end(message.content));
  }
  return text;
}

/// How many of the newest messages fit into `tokens_left`.
std::size_t newest_that_fit(std::span<const DialogueMessage> messages, std::size_t tokens_left) {
  std::size_t count = 0;
  for (auto at = messages.rbegin(); at != messages.rend(); ++at) {
    const std::size_t cost = cost_of(*at);
    if (cost > tokens_left) {
      break;
    }
    tokens_left -= cost;
    ++count;
  }
  return count;
}

/// The messages that go with the summary; those of a resumed session are chosen to fit.
std::optional<std::span<const DialogueMessage>> messages_after(const ConversationToCompact& input,
                                                               std::size_t tokens_of_summary) {
  if (!input.last_summarized_id.empty()) {
    const auto last =
        std::ranges::find(input.messages, input.last_summarized_id, &DialogueMessage::id);
    if (last == input.messages.end()) {
      return std::nullopt;
    }
    return std::span(last + 1, input.messages.end());
  }
  if (input.max_tokens == 0) {
    return input.messages;
  }
  const std::size_t left =
      input.max_tokens > tokens_of_summary ? input.max_tokens - tokens_of_summary : 0;
  return input.messages.last(newest_that_fit(input.messages, left));
}

}  // namespace

CompactedConversation compact_conversation(const ConversationToCompact& input) {
  if (!input.enabled) {
    return declined(CompactionDecline::kDisabled,
                    "summaries are switched off (memory_config.summarizer.enabled)");
  }
  if (!input.summary) {
    return declined(CompactionDecline::kNoSummary, "the session has no summary.md");
  }
  if (is_empty_summary(*input.summary)) {
    return declined(CompactionDecline::kEmptyTemplate, "the summary says nothing yet");
  }
  CompactedConversation result;
  result.summary = *input.summary;
  result.resumed_session = input.last_summarized_id.empty();
  result.tokens = estimate_tokens(result.summary) +
                  estimate_tokens(boundary_line(input.last_summarized_id, input.messages.size()));
  const auto after = messages_after(input, result.tokens);
  if (!after) {
    return declined(CompactionDecline::kSummarizedIdNotFound,
                    fmt::format("message {}, up to which the summary goes, is not in the session",
                                without_controls(input.last_summarized_id)));
  }
  result.boundary = boundary_line(input.last_summarized_id, after->size());
  for (const DialogueMessage& message : *after) {
    result.tokens += cost_of(message);
    result.messages.push_back(
        {.id = message.id, .at = message.at, .role = message.role, .content = message.content});
  }
  if (input.max_tokens != 0 && result.tokens > input.max_tokens) {
    return declined(CompactionDecline::kThresholdExceeded,
                    fmt::format("summary and {} messages after it have {} tokens, and may have {}",
                                after->size(), result.tokens, input.max_tokens));
  }
  result.markdown = to_markdown(result, *after);
  return result;
}

}  // namespace bmad_mem
