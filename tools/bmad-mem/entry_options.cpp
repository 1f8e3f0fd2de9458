#include "entry_options.hpp"

#include <algorithm>
#include <array>

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 4> kRoles = {"user", "assistant", "system", "tool"};
constexpr std::array<std::string_view, 4> kImpacts = {"low", "medium", "high", "critical"};
constexpr std::array<std::string_view, 5> kSeverities = {"info", "low", "medium", "high",
                                                         "critical"};
constexpr std::array<std::string_view, 5> kStatuses = {"open", "acknowledged", "in_progress",
                                                       "resolved", "dismissed"};

constexpr Option text_option(std::string_view name, std::string_view help) {
  return {.name = name, .value = "TEXT", .help = help};
}

constexpr Option choice_option(std::string_view name, std::string_view help,
                               std::span<const std::string_view> choices,
                               std::string_view fallback = {}) {
  return {.name = name,
          .value = "WORD",
          .help = help,
          .fallback = fallback,
          .completion = Completion::kChoice,
          .choices = choices};
}

constexpr Option kConfidence = {
    .name = "confidence", .value = "X", .help = "how sure it is, from 0 to 1"};
constexpr Option kLearnedFrom = {.name = "learned-from",
                                 .value = "SESSION",
                                 .help = "a session that taught it",
                                 .repeatable = true,
                                 .completion = Completion::kSession};
constexpr Option kKey = {.name = "key", .value = "KEY", .help = "its name, such as response_style"};

constexpr std::array kConversation = {
    choice_option("role", "who speaks", kRoles),
    text_option("content", "what is said"),
    text_option("conversation-id", "the conversation it belongs to"),
    Option{.name = "parent", .value = "ID", .help = "the message it answers"},
    Option{.name = "tokens", .value = "N", .help = "its length in tokens"},
    Option{.name = "processing-time-ms", .value = "N", .help = "how long the answer took"},
};
constexpr std::array kDecision = {
    text_option("decision", "what was decided"),
    Option{.name = "made-by", .value = "NAME", .help = "who decided"},
    text_option("rationale", "why"),
    choice_option("impact", "how much hangs on it", kImpacts),
    Option{.name = "approved-by", .value = "NAME", .help = "who agreed", .repeatable = true},
    Option{.name = "alternative",
           .value = "TEXT",
           .help = "what was turned down, and why: \"MongoDB: eventual consistency\"",
           .repeatable = true},
};
constexpr std::array kFinding = {
    text_option("description", "what was found"),
    Option{.name = "discovered-by", .value = "NAME", .help = "who found it"},
    text_option("category", "its kind, such as scalability"),
    choice_option("severity", "how bad it is", kSeverities),
    text_option("evidence", "what shows it"),
    text_option("recommendation", "what to do"),
    choice_option("status", "how far that got", kStatuses, "open"),
};
constexpr std::array kPreference = {
    kKey,
    text_option("value", "what the user prefers"),
    text_option("category", "its kind, such as communication"),
    text_option("context", "when it holds"),
    kConfidence,
    kLearnedFrom,
};
constexpr std::array kFact = {
    text_option("content", "the fact"),
    kKey,
    text_option("category", "its kind, such as project_fact"),
    kConfidence,
    kLearnedFrom,
};
constexpr std::array kEvent = {
    Option{.name = "kind", .value = "WORD", .help = "what happened, such as tool_use"},
    text_option("tool", "the tool that was used"),
    Option{.name = "path",
           .value = "PATH",
           .help = "the file it was about",
           .completion = Completion::kFile},
    text_option("content", "what came of it"),
    Option{.name = "metadata", .value = "JSON", .help = "more about it, as a JSON object"},
};
constexpr std::array kAgentState = {
    Option{.name = "state",
           .value = "JSON",
           .help = "what the agent wants to find again; text if it is no JSON"},
};
constexpr std::array kArtifact = {
    Option{.name = "path",
           .value = "PATH",
           .help = "where the document is",
           .completion = Completion::kFile},
    text_option("title", "its title"),
    text_option("snippet", "a piece of it"),
};

}  // namespace

std::span<const Option> entry_options(EntryType type) {
  switch (type) {
    case EntryType::kConversation:
      return kConversation;
    case EntryType::kDecision:
      return kDecision;
    case EntryType::kFinding:
      return kFinding;
    case EntryType::kPreference:
      return kPreference;
    case EntryType::kFact:
      return kFact;
    case EntryType::kEvent:
      return kEvent;
    case EntryType::kAgentState:
      return kAgentState;
    case EntryType::kArtifact:
      return kArtifact;
  }
  return {};
}

std::string_view main_field(EntryType type) {
  switch (type) {
    case EntryType::kDecision:
      return "decision";
    case EntryType::kFinding:
      return "description";
    case EntryType::kPreference:
      return "value";
    case EntryType::kAgentState:
      return "state";
    case EntryType::kArtifact:
      return "title";
    case EntryType::kConversation:
    case EntryType::kFact:
    case EntryType::kEvent:
      break;
  }
  return "content";
}

bool has_entry_options(EntryType type, const Arguments& args) {
  const auto given = [&](const Option& option) { return args.has(option.name); };
  return std::ranges::any_of(kCommonEntryOptions, given) ||
         std::ranges::any_of(entry_options(type), given);
}

}  // namespace bmad_mem::cli
