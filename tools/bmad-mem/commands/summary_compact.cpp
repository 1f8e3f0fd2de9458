// summary compact, summary compacting - making a conversation short.
#include <array>
#include <charconv>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/summary.hpp"
#include "commands/commands.hpp"
#include "json_members.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<std::size_t> read_max_tokens(const Arguments& args) {
  const std::optional<std::string_view> text = args.maybe("max-tokens");
  if (!text) {
    return std::size_t{0};
  }
  std::size_t count = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), count);
  if (problem != std::errc() || end != text->data() + text->size() || count == 0) {
    return Error{
        .code = ErrorCode::E_INVALID_QUERY,
        .message = fmt::format("\"{}\" is no number of tokens, such as 20000", printable(*text)),
        .field = "max-tokens"};
  }
  return count;
}

std::string compacted_as_json(const std::string& session, const CompactedConversation& result) {
  JsonWriter json;
  json.begin_object().member("session_id", session);
  if (result.declined != CompactionDecline::kNone) {
    json.member("declined", compaction_decline_name(result.declined));
    json.member("explanation", result.explanation).end_object();
    return json.take();
  }
  json.member("resumed_session", result.resumed_session);
  json.member("tokens", std::uint64_t{result.tokens}).member("summary", result.summary);
  json.member("boundary", result.boundary).key("messages").begin_array();
  for (const ConversationMessage& message : result.messages) {
    json.begin_object().member("id", message.id).member("timestamp", format_rfc3339(message.at));
    json.member("role", message.role).member("content", message.content).end_object();
  }
  json.end_array().end_object();
  return json.take();
}

Result<ExitStatus> run_summary_compact(Tool& tool) {
  BMAD_TRY_ASSIGN(const std::size_t max_tokens, read_max_tokens(tool.args()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const CompactedConversation result,
                  Summaries(memory).compact(
                      session, {.max_tokens = max_tokens, .wait = !tool.args().has("no-wait")}));
  const bool declined = result.declined != CompactionDecline::kNone;
  if (tool.json()) {
    tool.out().print("{}\n", compacted_as_json(session, result));
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

constexpr std::array<std::string_view, 2> kWords = {"begin", "end"};
constexpr Positional kCompactingPositionals[] = {{.name = "begin|end",
                                                  .help = "which of the two",
                                                  .completion = Completion::kChoice,
                                                  .choices = kWords}};
constexpr Option kSummaryCompactOptions[] = {
    kSessionOption,
    {.name = "max-tokens",
     .value = "N",
     .help = "decline when it would be longer",
     .fallback = "no limit"},
    {.name = "no-wait", .help = "do not wait for an update that is pending"},
};
constexpr Option kCompactingOptions[] = {kSessionOption};

constexpr Example kSummaryCompactExamples[] = {
    {.command = "bmad-mem summary compact --max-tokens 20000 || full-compaction",
     .says = "free where it can be"},
};
constexpr Example kCompactingExamples[] = {
    {.command = "bmad-mem summary compacting begin", .says = "in a hook, before a compaction"},
};

}  // namespace

const Command kSummaryCompact = {
    .name = "summary compact",
    .group = Group::kKnow,
    .summary = "print the conversation, compacted without a model",
    .description =
        "Prints the running summary and, behind a line that marks the boundary, every message "
        "after the last summarized one, word for word. Waits for a pending update first, at most "
        "15 s (summarizer.wait_timeout_ms). A summary without a last summarized message, as in a "
        "session that was resumed, is followed by the newest messages that fit.\n\n"
        "It declines, and says why on stderr, when that is not possible: disabled, no_summary, "
        "empty_template, summarized_id_not_found, threshold_exceeded. `bmad-mem compact` is "
        "something else: it makes the files of a session smaller.",
    .options = kSummaryCompactOptions,
    .examples = kSummaryCompactExamples,
    .exit_status = "0 done, 1 declined, or failed (the error's code is on stderr), 2 wrong usage.",
    .run = run_summary_compact,
};

const Command kSummaryCompacting = {
    .name = "summary compacting",
    .group = Group::kKnow,
    .summary = "note that a compaction of the conversation begins or has ended",
    .description =
        "While an agent compacts its conversation by other means, the summary is updated only when "
        "enough tools were used, and its last summarized message stays the one it was. Begin that "
        "nobody ends counts as ended after 15 minutes.",
    .positionals = kCompactingPositionals,
    .options = kCompactingOptions,
    .examples = kCompactingExamples,
    .run = run_summary_compacting,
};

}  // namespace bmad_mem::cli
