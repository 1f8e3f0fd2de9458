#include "cli/summary_view.hpp"

#include "cli/redaction_view.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

void print_summary_update(Tool& tool, const SummaryUpdate& update) {
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("session_id", update.session_id);
    json.member("last_summarized_id", update.last_summarized_id);
    json.member("id_was_moved", update.id_was_moved).member("messages", update.messages);
    json.member("tokens_in", std::uint64_t{update.tokens_in});
    json.member("tokens_out", std::uint64_t{update.tokens_out});
    if (update.cache_read_tokens) {
      json.member("cache_read_tokens", *update.cache_read_tokens);
    }
    if (update.cache_written_tokens) {
      json.member("cache_written_tokens", *update.cache_written_tokens);
    }
    add_counts(json, "redacted", update.redacted);
    json.end_object();
    tool.out().print("{}\n", json.text());
    return;
  }
  tool.out().print("summarized {} up to {} ({} tokens in, {} out)\n",
                   format_count(update.messages, "message", "messages"),
                   tool.style().id(update.last_summarized_id), format_count(update.tokens_in),
                   format_count(update.tokens_out));
  print_counts(tool, update.redacted);
  if (!update.id_was_moved) {
    tool.note("a compaction is going on: the mark stays where it was");
  }
}

std::string due_reason(const SummaryStatus& status) {
  switch (status.due) {
    case SummaryDue::kDueFirst:
      return "the conversation is long enough for a first summary";
    case SummaryDue::kDueToolCalls:
      return "enough was said and done since the last one";
    case SummaryDue::kDueTokens:
      return "enough was said since the last one";
    case SummaryDue::kDisabled:
      return "switched off (memory_config.summarizer.enabled)";
    case SummaryDue::kNoMessages:
      return "nothing was said since the last one";
    case SummaryDue::kTooShort:
      return "the conversation is too short for a summary";
    case SummaryDue::kTooFewTokens:
      return "too little was said since the last one";
    case SummaryDue::kTooFewToolCalls:
      return "a compaction is going on, and too few tools were used since the last one";
    case SummaryDue::kPending:
      return printable(status.pending_by) + " is writing it";
    case SummaryDue::kSidechain:
      return "the newest message is a sub-agent's";
  }
  return {};
}

}  // namespace bmad_mem::cli
