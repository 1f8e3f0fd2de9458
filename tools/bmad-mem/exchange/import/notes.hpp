// notes.hpp - importing Markdown notes: those of basic-memory, and Claude Code's own memory.
//
//   ---                              basic-memory
//   title: Night boat                an entity, see graph/graph_entries.hpp
//   type: note, permalink, tags      entity type; tags of all that follows
//   ---
//   Prose.                           a fact: what is left when the lines below are taken out
//   - [tech] Stores UTC #time (why)  an observation: category, tag, context
//   - requires [[Timetable]]         a relation
//   - "is part of" [[Harbour]]       a relation of several words
//   [[Crew]] in prose                a relation "links_to"
//
//   ---                              Claude Code (projects/*/memory/*.md)
//   name, description
//   metadata: {type: user}           user, feedback: a preference; others: a fact
//   ---
//   Prose.                           its value; the name is the key
//
// Times are the file's own, else that of its last change; a note that has changed becomes a newer
// version of its prose.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "exchange/import/import_sink.hpp"

namespace bmad_mem::cli {

/// Imports one note. `session_id`: where it goes; empty: into "basic-memory", or "claude-memory"
/// when it is one of Claude Code's. `changed_at`: when the file was changed last.
/// Errors: those of ImportSink::add().
Status import_note(ImportSink& sink, const std::string& file, std::string_view text,
                   const std::string& session_id, std::string_view project, Timestamp changed_at);

}  // namespace bmad_mem::cli
