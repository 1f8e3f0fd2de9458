// field_problem.hpp - which field does not fit, and a sentence about it. Runs only for what fit.hpp
// said no to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "model/field.hpp"
#include "model/validate.hpp"

namespace bmad_mem {

/// The first problem of `value`, for which object_fits(shape, value, assumed) is false. `path` is
/// where it stands (empty for an entry), `owner` what it is called in a sentence.
FieldProblem problem_in_object(const ObjectShape& shape, JsonValue value, const std::string& path,
                               std::string_view owner, std::uint32_t assumed);

}  // namespace bmad_mem
