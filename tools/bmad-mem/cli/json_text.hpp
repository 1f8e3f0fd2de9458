// json_text.hpp - taking JSON text apart without changing a byte of it.
//
// These functions find their way by brackets, quotes and commas only. For text that is not JSON
// their answer means nothing, but they stay within it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json.hpp"

namespace bmad_mem::cli {

/// Where the value ends that starts at `text[at]`, which must be no blank: one behind its last
/// byte; npos when it doesn't end.
std::size_t json_value_end(std::string_view text, std::size_t at);

/// One behind the closing quote of the string that opens at `text[at]`; npos when it doesn't end.
std::size_t json_string_end(std::string_view text, std::size_t at);

/// The first place from `at` on where no JSON blank stands; text.size() when there is none.
std::size_t skip_json_blanks(std::string_view text, std::size_t at);

/// A member of an object: the key as it stands between its quotes, and its value.
struct MemberText {
  std::string_view key;
  std::string_view value;
};

/// The members of `object`, in order.
std::vector<MemberText> json_members(std::string_view object);

/// The elements of `array`, in order.
std::vector<std::string_view> json_elements(std::string_view array);

/// `text` without the blanks between its tokens: one line.
std::string json_compact(std::string_view text);

// What the tool adds to an entry that it prints as JSON, and how both are told
// apart when the entry has a member of that name itself.
//
//   stored   {"id":"art-1","path":"a.md","snippet":"The text"}
//   printed  {"type":"artifact",…,"snippet":"The *match*",…,"id":"art-1",…,"artifact_snippet":…}
//
// The entry's own member goes behind its type: nothing is lost, and no key stands twice. A member
// that looks like such a one goes behind the type once more, so that the way back is unambiguous.
// entry_view.cpp prints, exchange/import/own.cpp goes the way back.

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
