// summary due - whether a summary is to be written now, and why.
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/summary.hpp"
#include "commands/commands.hpp"
#include "json_members.hpp"
#include "session_choice.hpp"
#include "summary_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

std::string status_as_json(const SummaryStatus& status) {
  JsonWriter json;
  json.begin_object().member("session_id", status.session_id).member("due", is_due(status.due));
  json.member("reason", summary_due_name(status.due)).member("exists", status.exists);
  json.member("is_template", status.is_template);
  add_text(json, "last_summarized_id", status.last_summarized_id);
  if (status.updated_at) {
    json.member("updated_at", format_rfc3339(*status.updated_at));
  }
  json.member("messages", status.messages).member("messages_since", status.messages_since);
  json.member("tokens", status.tokens).member("tokens_since", status.tokens_since);
  json.member("tool_calls_since", status.tool_calls_since);
  if (status.pending_since) {
    json.key("pending").begin_object().member("since", format_rfc3339(*status.pending_since));
    json.member("by", status.pending_by).member("is_stale", status.pending_is_stale).end_object();
  }
  json.member("compacting", status.compacting).end_object();
  return json.take();
}

void print_status(Tool& tool, const SummaryStatus& status) {
  tool.out().print("{}: {}\n", tool.style().bold(is_due(status.due) ? "due" : "not due"),
                   due_reason(status));
  tool.out().print("  since the last one: {}, {}, {}\n",
                   format_count(status.messages_since, "message", "messages"),
                   format_count(status.tokens_since, "token", "tokens"),
                   format_count(status.tool_calls_since, "tool call", "tool calls"));
  tool.out().print("  in all: {}, {}\n", format_count(status.messages, "message", "messages"),
                   format_count(status.tokens, "token", "tokens"));
  if (status.pending_since) {
    tool.out().print("  begun by {} at {}{}\n", printable(status.pending_by),
                     format_rfc3339(*status.pending_since),
                     status.pending_is_stale ? ", given up" : "");
  }
}

Result<ExitStatus> run_summary_due(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const SummaryStatus status, Summaries(memory).status(session));
  if (tool.json()) {
    tool.out().print("{}\n", status_as_json(status));
  } else {
    print_status(tool, status);
  }
  return is_due(status.due) ? ExitStatus::kDone : ExitStatus::kNothingFound;
}

constexpr Option kSummaryDueOptions[] = {kSessionOption};
constexpr Example kSummaryDueExamples[] = {
    {.command = "bmad-mem -q summary due && bmad-mem summary update",
     .says = "what `summary update` asks for itself"},
};

}  // namespace

const Command kSummaryDue = {
    .name = "summary due",
    .group = Group::kKnow,
    .summary = "say whether a summary is to be written now, and why",
    .description =
        "An update is due when the conversation has become long enough for a first one, and then "
        "whenever enough tokens have come since the last one; while a compaction of the "
        "conversation is going on, only when enough tools were used as well. The thresholds stand "
        "in config.json under summarizer. Messages of sub-agents do not count. Writes nothing.",
    .options = kSummaryDueOptions,
    .examples = kSummaryDueExamples,
    .exit_status = "0 due, 1 failed (the error's code is on stderr), 2 wrong usage, 3 not due.",
    .run = run_summary_due,
};

}  // namespace bmad_mem::cli
