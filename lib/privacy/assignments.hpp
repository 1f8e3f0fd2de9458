// assignments.hpp - name = value in any layout, where the name says secret and the value looks it.
//
//   ini, shell   export DB_PASSWORD='…'       JSON, YAML   "apiKey": "…"      code   token := "…"
//   XML          <password>…</password>       options      --password=… -p …  prose  the password
//   is …
#pragma once

#include <optional>
#include <string_view>

#include "privacy/detection.hpp"

namespace bmad_mem {

/// What a value is that stands under a name.
struct ValueVerdict {
  std::string_view rule;  ///< "password", "generic-secret", or the id of a rule of the table.
  Certainty certainty = Certainty::kSecret;
};

/// Judges one value by its name, as the member of an object has them; nothing: it is innocent.
std::optional<ValueVerdict> judge_assignment(std::string_view name, std::string_view value);

/// Appends the values in `text` that are assigned to names and judged so. Time is linear in its
/// size. Detections may overlap.
void find_assigned(std::string_view text, Detections& out);

}  // namespace bmad_mem
