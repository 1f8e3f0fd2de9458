// summary prompt, summary apply - writing a summary by hand.
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/summary.hpp"
#include "commands/commands.hpp"
#include "entry_input.hpp"
#include "session_choice.hpp"
#include "summary_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_summary_prompt(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const SummaryPrompt prompt, Summaries(memory).prompt(session));
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("session_id", session).member("ticket", prompt.ticket);
    json.member("up_to_id", prompt.up_to_id).member("messages", prompt.messages);
    json.member("messages_left", prompt.messages_left);
    json.member("tokens", std::uint64_t{prompt.tokens}).member("text", prompt.text).end_object();
    tool.out().print("{}\n", json.text());
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

constexpr Positional kApplyPositionals[] = {{.name = "FILE|-",
                                             .help = "the answer, or - for what stands on stdin",
                                             .completion = Completion::kFile}};
constexpr Option kPromptOptions[] = {kSessionOption};
constexpr Option kApplyOptions[] = {
    kSessionOption,
    {.name = "ticket",
     .value = "WORD",
     .help = "which prompt is answered, as `summary prompt` named it",
     .fallback = "the last one, unless another was given up before it"},
};

constexpr Example kPromptExamples[] = {
    {.command = "bmad-mem summary prompt | my-model | bmad-mem summary apply -",
     .says = "what `summary update` does with the command of the config"},
};
constexpr Example kApplyExamples[] = {
    {.command = "bmad-mem summary apply --ticket 4f1c09aa answer.md", .says = "take an answer"},
};

}  // namespace

const Command kSummaryPrompt = {
    .name = "summary prompt",
    .group = Group::kKnow,
    .summary = "print what to ask a model for the next summary",
    .description =
        "Prints the instructions, the summary as it is and the messages that came since, for any "
        "model or agent, and notes that an update is pending: another prompt is refused until the "
        "answer is there or 60 s (summarizer.stale_update_ms) are over. Works whether an update is "
        "due or not. Messages marked as sensitive are left out.",
    .options = kPromptOptions,
    .examples = kPromptExamples,
    .run = run_summary_prompt,
};

const Command kSummaryApply = {
    .name = "summary apply",
    .group = Group::kKnow,
    .summary = "take the answer to `summary prompt`",
    .description =
        "Takes the whole new summary.md as Markdown, or edits of it as a JSON array of {\"file\": "
        "\"summary.md\", \"old\": …, \"new\": …}. An answer that asks for anything else is "
        "refused and changes nothing; so is one that comes when summary.md has been changed "
        "meanwhile, or when another prompt has been given out since. Secrets are taken out.",
    .positionals = kApplyPositionals,
    .options = kApplyOptions,
    .examples = kApplyExamples,
    .run = run_summary_apply,
};

}  // namespace bmad_mem::cli
