// entry_prose.hpp - an entry as a person would tell it, and how far it is to be trusted.
#pragma once

#include <string>

#include "base/workspace.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"

namespace bmad_mem {

/// What was said, decided, found or done, in words: no ids, no tags. May have several lines.
std::string entry_prose(EntryType type, JsonValue entry);

/// Who speaks: the agent, or the role of a message that names none. May be empty.
std::string entry_speaker(EntryType type, JsonValue entry);

struct EntryTrust {
  std::string source_kind;  ///< user, assistant, tool, web, import, or empty.
  double trust = 1;         ///< 0 to 1; 1 when the entry names none.
};

/// With what may not stand there taken out.
EntryTrust checked_trust(EntryTrust trust);

/// "web, trust 0.30": nothing that somebody could have made up.
std::string trust_text(const EntryTrust& trust);

/// The source that the entry names, checked. What a tool has said is of kind tool though it doesn't
/// say so.
EntryTrust entry_trust(EntryType type, JsonValue entry);

/// Whether text of this source is to be handed on as data only.
bool must_be_quoted(const EntryTrust& trust, double quote_below_trust);

/// Whether the entry is about this workspace: not marked as outside of it, and its `workspace`, if
/// it names one (itself or in `metadata`), is not another folder.
bool is_of_workspace(const Workspace& workspace, JsonValue entry);

}  // namespace bmad_mem
