// yaml_text.hpp - JSON values as YAML 1.2 in block style, so that readers of YAML 1.1 take them for
// the same: "yes", "1:30" and times are quoted.
//
//   id: dec-1
//   tags:
//     - db
//   rationale: |-
//     First line
//     second line
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"

namespace bmad_mem::cli {

/// `text` as a scalar on one line: plain where that can mean nothing else, else in double quotes.
std::string yaml_scalar(std::string_view text);

/// Appends the members of `object`, a line or more each, indented by `indent` blanks; the first one
/// without the blanks. `raw` is the JSON text that `object` was parsed from: numbers keep their
/// form. Appends "{}\n" when there are none.
void append_yaml_members(std::string& out, JsonValue object, std::string_view raw,
                         std::size_t indent);

}  // namespace bmad_mem::cli
