// json_text.hpp - taking JSON text apart without changing a byte of it.
//
// These functions find their way by brackets, quotes and commas only. For text that is not JSON
// their answer means nothing, but they stay within it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::cli {

/// Where the value ends that starts at `text[at]`, which must be no blank: one behind its last
/// byte; npos when it doesn't end.
std::size_t json_value_end(std::string_view text, std::size_t at);

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

}  // namespace bmad_mem::cli
