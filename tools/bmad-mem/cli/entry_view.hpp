// entry_view.hpp - entries as the tool prints them: as JSON lines, as a list, in full.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/reports.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// The entry as one line of JSON without '\n': "type" and "session_id", then what stands in the
/// log, byte for byte.
///
///   {"type":"decision","session_id":"sess-…",EXTRA,"id":"dec-…","timestamp":"…",…}
///
/// `extra`: further members without braces, such as "\"relevance\":0.83". A member of the entry
/// that has the name of one of these is called otherwise, see added_members.hpp; its own "type" and
/// "session_id" are left out.
/// "archived" and "evicted" are added where they are so.
std::string entry_json_line(const Entry& entry, std::string_view extra = {});
/// "archived", "evicted", or empty.
std::string_view place_mark(const Entry& entry);

/// A field of an entry for people: "context.topic" and its value as text, maybe of several lines.
struct FieldText {
  std::string name;
  std::string value;
};

/// The fields of the entry in the order of its line; members of objects one by one.
std::vector<FieldText> entry_fields(const Entry& entry);

/// "decision dec-… in sess-…, version 2 of 2", then a field a line.
void print_entry(Tool& tool, const Entry& entry);

/// Prints name and value, the value's further lines indented as far as its first.
void print_field(Tool& tool, std::string_view name, std::string_view value, std::size_t name_width);

/// Stands in front of the headline of a sensitive entry.
inline constexpr std::string_view kSensitiveMark = "(sensitive) ";

/// A line for each entry: id, time, type, who, headline. Aligned, and cut to the terminal's width.
/// In front of each stands `heads[i]`, if there are any.
void print_entry_list(Tool& tool, std::span<const Entry> entries,
                      std::span<const std::string> heads = {});

}  // namespace bmad_mem::cli
