// remember - states something that is to be known from now on.
#include <string>

#include "bmad_mem/entry_fields.hpp"
#include "commands/commands.hpp"
#include "entry_input.hpp"
#include "knowledge_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<EntrySource> read_source(const Arguments& args) {
  EntrySource source{.kind = std::string(args.value("source")), .trust = {}};
  if (args.has("trust")) {
    BMAD_TRY_ASSIGN(source.trust, read_share(args, "trust", 1));
  }
  return source;
}

Result<ExitStatus> run_remember(Tool& tool) {
  const Arguments& args = tool.args();
  BMAD_TRY_ASSIGN(const std::optional<Category> category, read_category(args));
  if (!category) {
    return tool.wrong_usage("--category says what it is about, such as constraint");
  }
  RememberParams params{.category = *category,
                        .key = std::string(args.value("key")),
                        .value = {},
                        .agent_id = std::string(args.maybe("agent").value_or(tool.agent_id()))};
  BMAD_TRY_ASSIGN(params.confidence, read_share(args, "confidence", params.confidence));
  BMAD_TRY_ASSIGN(params.source, read_source(args));
  params.tags.assign(args.all("tag").begin(), args.all("tag").end());
  params.pinned = args.has("pinned");
  params.session_id = args.maybe("session").value_or(environment("BMAD_SESSION"));
  if (args.has("session") && params.session_id.empty()) {
    return tool.wrong_usage("--session is empty");
  }
  params.value = args.positional(0);
  if (params.value == "-") {
    BMAD_TRY_ASSIGN(params.value, read_stdin());
    params.value.erase(params.value.find_last_not_of("\r\n") + 1);
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const Remembered remembered, Knowledge(memory).remember(params));
  print_remembered(tool, {&remembered, 1});
  return ExitStatus::kDone;
}

constexpr Positional kRememberPositionals[] = {
    {.name = "VALUE|-", .help = "what is to be known, or - for what stands on stdin"}};

constexpr Option kRememberOptions[] = {
    kCategoryOption,
    {.name = "key",
     .letter = 'k',
     .value = "KEY",
     .help = "its name: what is stated under it later takes its place"},
    {.name = "agent", .value = "NAME", .help = "who has learned it", .fallback = "--agent-id"},
    {.name = "confidence",
     .value = "SHARE",
     .help = "how sure it is, from 0 to 1; it never falls",
     .fallback = "0.8"},
    {.name = "tag", .value = "TAG", .help = "a word to filter by", .repeatable = true},
    {.name = "source",
     .value = "KIND",
     .help = "who it comes from: user, assistant, tool, web or import",
     .completion = Completion::kChoice,
     .choices = kSourceKinds},
    {.name = "trust",
     .value = "SHARE",
     .help = "how far that is to be trusted; below 0.5 it never displaces what others said",
     .fallback = "1"},
    {.name = "pinned", .help = "never fades, and is told to every agent"},
    kTaughtByOption,
};

constexpr Example kRememberExamples[] = {
    {.command = "bmad-mem remember --category constraint --key chip_math \"Always use "
                "Math.floor() for chip calculations\" --agent MARS --confidence 1.0",
     .says = "every agent is told so from now on"},
    {.command = "bmad-mem remember --category style --key css Tailwind",
     .says = "how the user likes it"},
};

}  // namespace

const Command kRemember = {
    .name = "remember",
    .group = Group::kKnow,
    .summary = "store a fact, rule or preference",
    .description =
        "Stores VALUE as knowledge, in the log of the session that has taught it, and prints the "
        "id "
        "of the entry. What is stated under the same category and key, in whatever session, is one "
        "item: the newest statement holds, and its confidence is the highest that was stated. What "
        "was stated before stays in the log; `recall` shows it.\n\n"
        "Preferences of the user (user_preference, style) are entries of type preference when they "
        "have a key; all else are facts.",
    .positionals = kRememberPositionals,
    .options = kRememberOptions,
    .examples = kRememberExamples,
    .run = run_remember,
};

}  // namespace bmad_mem::cli
