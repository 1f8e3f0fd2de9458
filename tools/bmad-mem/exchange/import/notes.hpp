// notes.hpp - importing Markdown notes: those of basic-memory, and Claude Code's own memory.
//
//   ---                              basic-memory
//   title: Night boat                an entity, see exchange/graph/graph.hpp
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
//   # Boats                          plain Markdown: rules, notes, and what Codex itself remembers
//   text                             a fact, key "notes.md > Boats"; above the first heading
//                                    the file's name is its key
//   ## Night boat
//   text                             a fact, key "notes.md > Boats > Night boat"
//
// A group of what Codex remembers (~/.codex/memories/*.md) names its folders: "applies_to:
// cwd=/home/ann/ferry; reuse_rule=…". Those of other projects are left out. A text that changed
// becomes another fact under its key: the newer one holds.
//
// Times are the file's own, else that of its last change; a note that has changed becomes a newer
// version of its prose.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "exchange/import/importer.hpp"

namespace bmad_mem::cli {

/// Imports one note. Without a session id it goes into "basic-memory", or "claude-memory" when it
/// is one of Claude Code's. `changed_at`: when the file was changed last. Errors: those of
/// ImportSink::add().
Status import_note(const ImportContext& context, std::string_view text, Timestamp changed_at);

/// The YAML between two lines "---" at the beginning of a Markdown file.
struct FrontMatter {
  /// Scalars by name; what stands in a mapping has both names: "metadata.type". A list has a value
  /// for each of its scalars. What is nested deeper is left out.
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  std::string_view body;      ///< What follows; all of it when there is no front matter.
  std::size_t body_line = 1;  ///< The number of its first line.

  /// The first value of `name`; empty when there is none.
  [[nodiscard]] std::string_view text(std::string_view name) const;
};

/// Broken YAML counts as none: then its lines belong to the body.
FrontMatter read_front_matter(std::string_view text);

/// Whether a note has headings, and nothing that basic-memory or Claude Code writes: front matter,
/// observations, links.
bool has_only_headings(std::string_view text);

/// Imports plain Markdown: the text below each heading becomes a fact, whose key are the headings
/// above it, in the session called `format`. Errors: those of ImportSink::add().
Status import_sections(const ImportContext& context, std::string_view format, std::string_view text,
                       Timestamp changed_at);

/// `- [tech] Stores UTC #time (why)`
struct NoteObservation {
  std::string category;
  std::string text;  ///< Without tags and context.
  std::vector<std::string> tags;
  std::string context;
};

struct NoteRelation {
  std::string type;  ///< "links_to" for a mere link.
  std::string target;
};

/// Nothing for other lines: check boxes and links are list items in brackets, too.
std::optional<NoteObservation> read_note_observation(std::string_view line);

/// `- requires [[Timetable]]`, `- "is part of" [[Harbour]]`; nothing for other lines.
std::optional<NoteRelation> read_note_relation(std::string_view line);

/// What a line of prose links to: each `[[Target]]`, `[[Target|as shown]]`.
std::vector<NoteRelation> read_note_links(std::string_view line);

}  // namespace bmad_mem::cli
