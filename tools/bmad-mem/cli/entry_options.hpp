// entry_options.hpp - the fields of entries as options of `add`, and the JSON they make.
//
// The options are made from the table of fields (bmad_mem/entry_fields.hpp) when somebody asks for
// them, once a process, by one thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"

namespace bmad_mem::cli {

/// The options of the fields that every type has, and `--field` for any other.
std::span<const Option> common_entry_options();

/// The options of the fields that this type has beyond those, required ones first.
std::span<const Option> entry_options(EntryType type);

/// Whether any option that makes a field was given, so that JSON as well would be too much.
bool has_entry_options(EntryType type, const Arguments& args);

/// One JSON object from the options and the positional text `main_text` (may be empty). `agent_id`
/// is who writes, for entries that don't say; may be empty.
/// What the fields may hold is for the engine to judge; this only fails for what can't become JSON.
/// Errors: E_INVALID_FORMAT with the option as field.
Result<std::string> entry_from_options(EntryType type, const Arguments& args,
                                       std::string_view main_text, std::string_view agent_id);

}  // namespace bmad_mem::cli
