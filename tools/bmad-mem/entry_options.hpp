// entry_options.hpp - the fields of entries as options of `add`, and the JSON they make.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"
#include "command.hpp"
#include "options.hpp"

namespace bmad_mem::cli {

inline constexpr std::array<std::string_view, 5> kSourceKinds = {"user", "assistant", "tool", "web",
                                                                 "import"};

/// The options of the fields that every type has.
inline constexpr std::array kCommonEntryOptions = {
    Option{.name = "agent",
           .value = "NAME",
           .help = "the agent it is from",
           .fallback = "--agent-id, $BMAD_AGENT_ID"},
    Option{.name = "tag", .value = "TAG", .help = "a tag", .repeatable = true},
    Option{
        .name = "topic", .value = "TEXT", .help = "what it is about, such as database_selection"},
    Option{.name = "reference", .value = "ID", .help = "an entry it refers to", .repeatable = true},
    Option{.name = "pinned", .help = "it never fades"},
    Option{.name = "sensitive", .help = "it is not handed to a model unless asked for"},
    Option{.name = "source-kind",
           .value = "WORD",
           .help = "where it came from",
           .completion = Completion::kChoice,
           .choices = kSourceKinds},
    Option{.name = "trust", .value = "X", .help = "how far that is to be trusted, from 0 to 1"},
    Option{.name = "id",
           .value = "ID",
           .help = "its id; that of an entry which is there makes a new version of it",
           .fallback = "a new one"},
    Option{.name = "timestamp",
           .value = "TIME",
           .help = "when it happened, as in 2026-01-11T10:05:23Z",
           .fallback = "now"},
    Option{.name = "field",
           .value = "KEY=VALUE",
           .help = "any other field; the value is JSON if it can be read as such, else text",
           .repeatable = true},
};

/// The options of the fields that this type has beyond those.
std::span<const Option> entry_options(EntryType type);

/// The option that a positional text stands for, such as "decision"; never empty.
std::string_view main_field(EntryType type);

/// Whether any option that makes a field was given, so that JSON as well would be too much.
bool has_entry_options(EntryType type, const Arguments& args);

/// One JSON object from the options and the positional text `main_text` (may be empty). `agent_id`
/// is who writes, for entries that don't say; may be empty.
/// What the fields may hold is for the engine to judge; this only fails for what can't become JSON.
/// Errors: E_INVALID_FORMAT with the option as field.
Result<std::string> entry_from_options(EntryType type, const Arguments& args,
                                       std::string_view main_text, std::string_view agent_id);

}  // namespace bmad_mem::cli
