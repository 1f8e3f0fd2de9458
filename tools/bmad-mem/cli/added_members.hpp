// added_members.hpp - what the tool adds to an entry that it prints as JSON, and how both are told
// apart when the entry has a member of that name itself.
//
//   stored   {"id":"art-1","path":"a.md","snippet":"The text"}
//   printed  {"type":"artifact",…,"snippet":"The *match*",…,"id":"art-1",…,"artifact_snippet":…}
//
// The entry's own member goes behind its type: nothing is lost, and no key stands twice. A member
// that looks like such a one goes behind the type once more, so that the way back is unambiguous.
// entry_view.cpp prints, exchange/import/own.cpp goes the way back.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_value.hpp"

namespace bmad_mem::cli {

/// What the member `key` of an entry is called beside the members `added`.
std::string name_beside(std::span<const std::string_view> added, std::string_view type,
                        std::string_view key);

/// The way back: what the entry calls the member that was printed as `key`, which is none of
/// `added`.
std::string_view name_within(std::span<const std::string_view> added, std::string_view type,
                             std::string_view key);

/// Which members the tool added to this line, beside "type" and "session_id". In lines of other
/// programs, single ones of these names could be fields that somebody chose.
std::vector<std::string_view> added_members(JsonValue line);

}  // namespace bmad_mem::cli
