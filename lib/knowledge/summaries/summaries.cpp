// summaries.cpp - shows the summary of a session, and compacts its conversation with it.
#include <algorithm>
#include <cassert>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/summary.hpp"
#include "knowledge/summary_file.hpp"
#include "knowledge/summary_prompt.hpp"
#include "model/entry.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"
#include "summaries/summary_session.hpp"

namespace bmad_mem {
namespace {

using std::chrono::milliseconds;

/// Reads the session's files once no update is pending, or after the longest wait.
Result<SummaryFiles> wait_for_update(const Store& store, const std::string& session_id,
                                     milliseconds wait_max) {
  constexpr milliseconds kFirstPause{10};
  constexpr milliseconds kLongestPause{250};
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  for (milliseconds pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    Result<SummaryFiles> files = read_summary_files(store, session_id);
    const auto left = deadline - std::chrono::steady_clock::now();
    if (!files || !is_live(store, files->state.pending) || left <= milliseconds(0)) {
      return files;
    }
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(pause, left));
  }
}

Result<CompactedConversation> compact_now(const Store& store, const std::string& session_id,
                                          const CompactConversationOptions& options) {
  const SummarizerConfig& config = store.config.summarizer;
  const bool waits = options.wait && config.enabled;
  // The summary first: what is said while it is read comes behind it.
  BMAD_TRY_ASSIGN(
      const SummaryFiles files,
      wait_for_update(store, session_id, milliseconds(waits ? config.wait_timeout_ms : 0)));
  BMAD_TRY_ASSIGN(const Conversation talk, read_conversation(store, session_id));
  BMAD_TRY_ASSIGN(const FrontMatter summary, readable_summary(store, session_id, files));
  const std::string last_id = summary.value(kLastSummarizedId);
  return compact_conversation(
      {.enabled = config.enabled,
       .summary = files.text ? std::optional<std::string_view>(summary.body()) : std::nullopt,
       .last_summarized_id = last_id,
       .messages = talk.messages,
       .max_tokens = options.max_tokens});
}

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

CompactedConversation declined(CompactionDecline why, std::string explanation) {
  assert(why != CompactionDecline::kNone);
  return {.declined = why, .explanation = std::move(explanation)};
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
  assert(result.messages.size() == messages.size());
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
  assert(count <= messages.size());
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

Summaries::Summaries(MemoryManager& memory) : memory_(&memory) {}

Result<SummaryStatus> Summaries::status(std::string_view session_id) const {
  const std::string id(session_id);
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(*memory_, "summary due"));
  BMAD_TRY_ASSIGN(const SummaryFiles files, read_summary_files(*store, id));
  BMAD_TRY_ASSIGN(const Conversation talk, read_conversation(*store, id));
  return describe_summary(*store, id, files, talk);
}

Result<std::string> Summaries::show(std::string_view session_id) {
  const std::string id(session_id);
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "summary show"));
  BMAD_TRY_ASSIGN(SummaryFiles files, read_summary_files(*store, id));
  if (!files.text) {
    const Result<FileLock::Guard> guard = store->lock_session(id, "summary");
    BMAD_TRY_ASSIGN(files, read_summary_files(*store, id));
    if (!files.text) {
      files.text = summary_template();
      // Where nothing can be written, or may be, it is shown all the same.
      static_cast<void>(guard && check_write(*store, EntryType::kConversation) &&
                        replace_file(*store->files, session_file(id, kSummaryName), *files.text));
    }
  }
  if (may_read_summaries(*store)) {
    return std::move(*files.text);
  }
  BMAD_TRY_ASSIGN(const FrontMatter summary, readable_summary(*store, id, files));
  return summary.to_text();
}

Status Summaries::set_compacting(std::string_view session_id, bool compacting) {
  const std::string id(session_id);
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "summary compacting"));
  BMAD_TRY(check_session(*store, id));
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store->lock_session(id, "summary"));
  BMAD_TRY_ASSIGN(SummaryFiles files, read_summary_files(*store, id));
  files.state.compacting_since = compacting ? std::optional(store->clock.now()) : std::nullopt;
  return write_summary_state(*store, id, files.state);
}

Result<CompactedConversation> Summaries::compact(std::string_view session_id,
                                                 const CompactConversationOptions& options) {
  const std::string id(session_id);
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "summary compact"));
  BMAD_TRY_ASSIGN(CompactedConversation result, compact_now(*store, id, options));
  // Who can't count it has the conversation all the same.
  if (const auto guard = store->lock_session(id, "summary")) {
    note_summary_record(*store, id, compaction_record(result, store->clock.now()));
  }
  return result;
}

std::vector<DialogueMessage> read_dialogue(std::span<const std::string> lines) {
  std::vector<DialogueMessage> messages;
  std::unordered_map<std::string, std::size_t> places;
  JsonParser parser;
  for (const std::string& line : lines) {
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
  assert(messages.size() == places.size());
  return messages;
}

std::vector<Timestamp> read_tool_uses(std::span<const std::string> lines) {
  std::vector<Timestamp> times;
  std::unordered_set<std::string> known;
  JsonParser parser;
  for (const std::string& line : lines) {
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
