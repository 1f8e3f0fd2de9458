// note_lines.hpp - what a line of a Markdown note states: an observation, relations, or prose.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::cli {

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
