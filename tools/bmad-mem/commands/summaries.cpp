// summaries.cpp - the running summary of a session.

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/summary.hpp"
#include "cli/entry_options.hpp"
#include "cli/session_choice.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "operation_calls.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

Result<ExitStatus> run_summary_show(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const std::string text, Summaries(memory).show(session));
  if (tool.json()) {
    print_object(tool, "session_id", session, "text", text);
  } else {
    tool.out().write(text);
  }
  return ExitStatus::kDone;
}

namespace {

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

}  // namespace

Result<ExitStatus> run_summary_due(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const SummaryStatus status, Summaries(memory).status(session));
  if (tool.json()) {
    print_object(tool, shaped(shape::summary_status, status, is_due(status.due)));
  } else {
    print_status(tool, status);
  }
  return is_due(status.due) ? ExitStatus::kDone : ExitStatus::kNothingFound;
}

Result<ExitStatus> run_summary_prompt(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const SummaryPrompt prompt, Summaries(memory).prompt(session));
  if (tool.json()) {
    print_object(tool, "session_id", session, shaped(shape::summary_prompt, prompt));
    return ExitStatus::kDone;
  }
  tool.out().write(prompt.text);
  tool.note(
      fmt::format("give the answer to `bmad-mem summary apply --ticket {} -`", prompt.ticket));
  if (prompt.messages_left > 0) {
    tool.note(format_count(prompt.messages_left, "message", "messages") +
              " did not fit, and will be in the next prompt");
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_summary_apply(Tool& tool) {
  const std::string name(tool.args().positional(0));
  BMAD_TRY_ASSIGN(const std::string answer, name == "-" ? read_stdin() : read_whole_file(name));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const SummaryUpdate update,
                  Summaries(memory).apply(session, answer, tool.args().value("ticket")));
  print_summary_update(tool, update);
  return ExitStatus::kDone;
}

namespace {

Result<ExitStatus> update_by_rules(Tool& tool, Summaries& summaries, const std::string& session) {
  BMAD_TRY_ASSIGN(const bool written, summaries.write_by_rules(session));
  if (tool.json()) {
    print_object(tool, "session_id", session, "written", written);
  } else {
    tool.note(written ? fmt::format("wrote the summary of {} by rules", session)
                      : "the summary stays: nothing is new, or it was not written by rules");
  }
  return ExitStatus::kDone;
}

}  // namespace

Result<ExitStatus> run_summary_update(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  Summaries summaries(memory);
  if (tool.args().has("rules")) {
    return update_by_rules(tool, summaries, session);
  }
  BMAD_TRY_ASSIGN(const std::optional<SummaryUpdate> update,
                  summaries.update(session, {.force = tool.args().has("force")}));
  if (update) {
    print_summary_update(tool, *update);
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const SummaryStatus status, summaries.status(session));
  const bool was_tried = is_due(status.due);
  if (tool.json()) {
    print_object(tool, "session_id", session, "due", false, "reason",
                 was_tried ? "tried" : summary_due_name(status.due));
  } else {
    tool.note("not due: " + (was_tried ? "it was tried at this message (--force tries again)"
                                       : due_reason(status)));
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_summary_compact(Tool& tool) {
  BMAD_TRY_ASSIGN(const auto max_tokens,
                  read_number<std::size_t>(tool.args(), "max-tokens", 0,
                                           "a number of tokens, such as 20000", 1));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const CompactedConversation result,
                  Summaries(memory).compact(
                      session, {.max_tokens = max_tokens, .wait = !tool.args().has("no-wait")}));
  const bool declined = result.declined != CompactionDecline::kNone;
  if (tool.json() && declined) {
    print_object(tool, "session_id", session, shaped(shape::declined_compaction, result));
  } else if (tool.json()) {
    print_object(tool, "session_id", session, shaped(shape::compacted_conversation, result));
  } else if (declined) {
    tool.note(fmt::format("declined: {}: {}", compaction_decline_name(result.declined),
                          printable(result.explanation)));
  } else {
    tool.out().write(result.markdown);
  }
  return declined ? ExitStatus::kFailed : ExitStatus::kDone;
}

Result<ExitStatus> run_summary_compacting(Tool& tool) {
  const std::string_view word = tool.args().positional(0);
  if (word != "begin" && word != "end") {
    return tool.wrong_usage(fmt::format("say begin or end, not '{}'", printable(word)));
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY(Summaries(memory).set_compacting(session, word == "begin"));
  return ExitStatus::kDone;
}

namespace {

void print_stats(Tool& tool, const SummaryStats& stats) {
  tool.out().print("updates      {}, failed {}\n", format_count(stats.updates),
                   format_count(stats.failures));
  tool.out().print("tokens       {} in, {} out; cache: {} read, {} written\n",
                   format_count(stats.tokens_in), format_count(stats.tokens_out),
                   format_count(stats.cache_read_tokens), format_count(stats.cache_written_tokens));
  tool.out().print("compactions  {} free, {} of them resumed\n", format_count(stats.compactions),
                   format_count(stats.resumed));
  for (const auto& [reason, count] : stats.declined) {
    tool.out().print("declined     {}  {}\n", format_count(count), printable(reason));
  }
}

}  // namespace

Result<ExitStatus> run_summary_stats(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const SummaryStats stats, Summaries(memory).stats(session));
  if (tool.args().has("records")) {
    for (const std::string& record : stats.records) {
      tool.out().print("{}\n", record);
    }
  } else if (tool.json()) {
    print_object(tool, "session_id", session,
                 [&](JsonWriter& json) { write_members(stats, json); });
  } else {
    print_stats(tool, stats);
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
