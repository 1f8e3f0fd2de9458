#include <algorithm>
#include <array>
#include <string_view>

#include "command.hpp"
#include "commands/commands.hpp"

namespace bmad_mem::cli {
namespace {

constexpr auto kCommands = std::to_array<const Command*>({
    &kInit,
    &kSessionNew,
    &kSessionList,
    &kSessionShow,
    &kSessionClose,
    &kSessionArchive,
    &kSessionRestore,
    &kSessionDelete,
    &kSessionUndelete,
    &kAdd,
    &kImport,
    &kDelete,
    &kUndelete,
    &kQuery,
    &kSimilar,
    &kRelated,
    &kTopics,
    &kTimeline,
    &kList,
    &kGet,
    &kHistory,
    &kRemember,
    &kRecall,
    &kContext,
    &kPin,
    &kUnpin,
    &kStateSet,
    &kStateGet,
    &kArtifactAdd,
    &kLearn,
    &kExtract,
    &kConsolidate,
    &kWatch,
    &kStats,
    &kExport,
    &kSummaryShow,
    &kSummaryDue,
    &kSummaryPrompt,
    &kSummaryApply,
    &kSummaryUpdate,
    &kSummaryCompact,
    &kSummaryCompacting,
    &kSummaryStats,
    &kMcp,
    &kServe,
    &kHook,
    &kGitInstall,
    &kGitUninstall,
    &kGitCheck,
    &kInstall,
    &kUninstall,
    &kMemoryTool,
    &kVerify,
    &kRepair,
    &kRebuildIndex,
    &kMaintain,
    &kCompact,
    &kRestore,
    &kDecay,
    &kAnonymize,
    &kPurge,
    &kForget,
    &kAudit,
    &kPrivacy,
    &kRedact,
    &kHelp,
    &kCompletion,
    &kVersion,
    &kMan,
    &kSchema,
    &kMergeDriver,
    &kTextconv,
    &kCompleteSessions,
});

// Words of other tools. An alias means exactly what the command does; anything less is advice.
constexpr auto kSynonyms = std::to_array<Synonym>({
    {.word = "search", .command = &kQuery},
    {.word = "find", .command = &kQuery},
    {.word = "ask", .command = &kQuery},
    {.word = "show", .command = &kGet},
    {.word = "view", .command = &kGet},
    {.word = "cat", .command = &kGet},
    {.word = "ls", .command = &kList},
    {.word = "rm", .command = &kDelete},
    {.word = "remove", .command = &kDelete},
    {.word = "status", .command = &kStats},
    {.word = "reindex", .command = &kRebuildIndex},
    {.word = "sessions", .command = &kSessionList},
    {.word = "session ls", .command = &kSessionList},
    {.word = "session create", .command = &kSessionNew},
    {.word = "session start", .command = &kSessionNew},
    {.word = "session end", .command = &kSessionClose},
    {.word = "session rm", .command = &kSessionDelete},
    {.word = "session remove", .command = &kSessionDelete},
    {.word = "new",
     .command = &kSessionNew,
     .advice = "to start a session, run `bmad-mem session new`; to store an entry, `bmad-mem add`"},
    {.word = "create", .command = &kInit, .advice = "to create a memory, run `bmad-mem init`"},
    {.word = "setup",
     .command = &kInit,
     .advice = "to create a memory, run `bmad-mem init`; to connect an agent, `bmad-mem install`"},
    {.word = "note", .command = &kAdd, .advice = "to store a note, run `bmad-mem add fact TEXT`"},
    {.word = "write",
     .command = &kAdd,
     .advice = "to store an entry, run `bmad-mem add TYPE TEXT`"},
    {.word = "save",
     .command = &kRemember,
     .advice = "to store what stays true, run `bmad-mem remember --category CATEGORY TEXT`; to "
               "store an entry, `bmad-mem add TYPE TEXT`"},
    {.word = "store",
     .command = &kRemember,
     .advice = "to store what stays true, run `bmad-mem remember --category CATEGORY TEXT`; to "
               "store an entry, `bmad-mem add TYPE TEXT`"},
    {.word = "edit",
     .command = &kAdd,
     .advice = "to replace an entry by a newer version, run `bmad-mem add TYPE --id ID TEXT` with "
               "all fields that stay"},
    {.word = "update",
     .command = &kAdd,
     .advice = "to replace an entry by a newer version, run `bmad-mem add TYPE --id ID TEXT` with "
               "all fields that stay; to upgrade the program, install a newer one over it"},
    {.word = "tag",
     .command = &kAdd,
     .advice = "to replace an entry by a version with a tag, run `bmad-mem add TYPE --id ID --tag "
               "TAG TEXT` with all fields that stay"},
    {.word = "grep",
     .command = &kQuery,
     .advice = "to search words, run `bmad-mem query TEXT`; for patterns, grep the files in "
               ".bmad/memory/sessions"},
    {.word = "log",
     .command = &kList,
     .advice = "to see the newest entries, run `bmad-mem list`; the versions of one, `bmad-mem "
               "history ID`"},
    {.word = "diff",
     .command = &kHistory,
     .advice = "to see the versions of an entry, run `bmad-mem history ID`"},
    {.word = "tail",
     .command = &kWatch,
     .advice = "to see entries as they are written, run `bmad-mem watch`"},
    {.word = "info", .command = &kStats, .advice = "to see what is stored, run `bmad-mem stats`"},
    {.word = "undo",
     .command = &kUndelete,
     .advice = "to restore deleted entries, run `bmad-mem undelete ID`"},
    {.word = "doctor",
     .command = &kVerify,
     .advice = "to check all files, run `bmad-mem verify`; to repair them, `bmad-mem repair`"},
    {.word = "check", .command = &kVerify, .advice = "to check all files, run `bmad-mem verify`"},
    {.word = "fix",
     .command = &kRepair,
     .advice = "to repair damaged files, run `bmad-mem repair`"},
    {.word = "backup",
     .command = &kExport,
     .advice = "to write a copy, run `bmad-mem export >FILE`; `bmad-mem import FILE` reads it"},
    {.word = "dump", .command = &kExport, .advice = "to write a copy, run `bmad-mem export >FILE`"},
    {.word = "load",
     .command = &kImport,
     .advice = "to read entries or transcripts, run `bmad-mem import FILE`"},
    {.word = "clean",
     .command = &kMaintain,
     .advice = "cleaning is automatic; to do it now, run `bmad-mem maintain`"},
    {.word = "gc",
     .command = &kMaintain,
     .advice = "cleaning is automatic; to do it now, run `bmad-mem maintain`"},
    {.word = "connect",
     .command = &kInstall,
     .advice = "to connect an agent client, run `bmad-mem install CLIENT`"},
    {.word = "web",
     .command = &kServe,
     .advice = "to open the web interface, run `bmad-mem serve --open`"},
    {.word = "ui",
     .command = &kServe,
     .advice = "to open the web interface, run `bmad-mem serve --open`"},
    {.word = "config",
     .command = &kInit,
     .advice = "settings are in config.json of the memory, usually .bmad/memory/config.json; edit "
               "it, or create it with `bmad-mem init`"},
    {.word = "upgrade",
     .command = &kVersion,
     .advice = "install a newer version over this one, the files stay as they are; `bmad-mem "
               "version` prints which one this is"},
});

constexpr std::array<std::string_view, 3> kColorChoices = {"auto", "always", "never"};

constexpr std::array kGlobalOptions = {
    Option{.name = "root",
           .value = "DIR",
           .help = "the memory's folder, the one that holds config.json",
           .fallback = "$BMAD_MEMORY_ROOT, else the nearest .bmad/memory upwards from here",
           .completion = Completion::kFolder},
    Option{.name = "json", .help = "print one JSON object a line"},
    Option{.name = "agent-id",
           .value = "NAME",
           .help = "who writes: named in the audit, and to others who wait for the lock",
           .fallback = "$BMAD_AGENT_ID"},
    Option{.name = "workflow",
           .value = "FILE",
           .help = "allow only what this workflow's memory_requirements name",
           .fallback = "$BMAD_MEM_WORKFLOW",
           .completion = Completion::kFile},
    Option{.name = "color",
           .value = "WHEN",
           .help = "when to use colours",
           .fallback = "auto",
           .completion = Completion::kChoice,
           .choices = kColorChoices},
    Option{.name = "quiet", .letter = 'q', .help = "no notes, warnings and progress on stderr"},
    Option{.name = "help", .letter = 'h', .help = "explain the command and show examples"},
    Option{.name = "version", .help = "print the version"},
};

}  // namespace

std::span<const Command* const> all_commands() { return kCommands; }

std::span<const Option> global_options() { return kGlobalOptions; }

const Command* find_command(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kCommands, [&](const Command* command) { return command->name == name; });
  return found == kCommands.end() ? nullptr : *found;
}

std::span<const Synonym> all_synonyms() { return kSynonyms; }

const Synonym* find_synonym(std::string_view name) {
  const auto* const found = std::ranges::find(kSynonyms, name, &Synonym::word);
  return found == kSynonyms.end() ? nullptr : &*found;
}

bool is_command_prefix(std::string_view word) {
  return std::ranges::any_of(kCommands, [&](const Command* command) {
    return command->name.size() > word.size() && command->name.starts_with(word) &&
           command->name[word.size()] == ' ';
  });
}

std::string_view group_title(Group group) {
  switch (group) {
    case Group::kStart:
      return "Memory and sessions:";
    case Group::kWrite:
      return "Write:";
    case Group::kRead:
      return "Find and read:";
    case Group::kKnow:
      return "Knowledge:";
    case Group::kConnect:
      return "Agents, editors and git:";
    case Group::kCare:
      return "Care:";
    case Group::kTool:
      return "The tool:";
    case Group::kHidden:
      break;
  }
  return "For other programs:";
}

}  // namespace bmad_mem::cli
