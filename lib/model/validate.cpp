#include "model/validate.hpp"

#include <utility>

#include <fmt/format.h>

#include "assume.hpp"
#include "entry_spec.hpp"
#include "field_problem.hpp"
#include "fit.hpp"

namespace bmad_mem {

std::optional<FieldProblem> check_entry_assuming(EntryType type, JsonValue value,
                                                 std::uint32_t assumed) {
  const EntrySpec& spec = entry_spec(type);
  if (object_fits(spec.shape, value, assumed)) [[likely]] {
    return std::nullopt;
  }
  return problem_in_object(spec.shape, value, "",
                           fmt::format("an entry of type {}", spec.info.name), assumed);
}

std::optional<FieldProblem> check_entry(EntryType type, JsonValue value) {
  return check_entry_assuming(type, value, 0);
}

Error schema_error(FieldProblem problem) {
  return Error{.code = ErrorCode::E_SCHEMA_INVALID,
               .message = std::move(problem.message),
               .field = std::move(problem.field)};
}

}  // namespace bmad_mem
