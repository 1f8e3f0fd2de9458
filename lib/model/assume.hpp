// assume.hpp - validating an entry whose missing fields are about to be filled in.
#pragma once

#include <cstdint>
#include <optional>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/result.hpp"
#include "model/validate.hpp"

namespace bmad_mem {

/// As check_entry(), but the fields whose bits are set in `assumed` (positions in the type's shape)
/// may be missing.
std::optional<FieldProblem> check_entry_assuming(EntryType type, JsonValue value,
                                                 std::uint32_t assumed);

/// E_SCHEMA_INVALID about `problem`.
Error schema_error(FieldProblem problem);

}  // namespace bmad_mem
