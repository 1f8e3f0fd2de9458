// checks.hpp - the two steps of validating: yes or no, and for a no a sentence.
#pragma once

#include <cstdint>
#include <optional>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/result.hpp"
#include "model/field.hpp"
#include "model/validate.hpp"

namespace bmad_mem {

// In fit.cpp, which allocates nothing.

/// Whether `value` is an object in which every known field fits and no required one is missing. The
/// fields whose bits are set in `assumed` may be missing.
bool object_fits(const ObjectShape& shape, JsonValue value, std::uint32_t assumed);

/// Whether `value`, which is present, may stand in `field`.
bool value_fits(const Field& field, JsonValue value);

bool is_text_list(JsonValue value);

// In validate.cpp.

/// As check_entry(), but the fields whose bits are set in `assumed` (positions in the type's shape)
/// may be missing: they are about to be filled in.
std::optional<FieldProblem> check_entry_assuming(EntryType type, JsonValue value,
                                                 std::uint32_t assumed);

/// E_SCHEMA_INVALID about `problem`.
Error schema_error(FieldProblem problem);

}  // namespace bmad_mem
