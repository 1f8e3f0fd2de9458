// fit.hpp - yes or no: whether values fit the tables of field.hpp. Allocates nothing.
#pragma once

#include <cstdint>

#include "bmad_mem/json_value.hpp"
#include "model/field.hpp"

namespace bmad_mem {

/// Whether `value` is an object in which every known field fits and no required one is missing. The
/// fields whose bits are set in `assumed` may be missing.
bool object_fits(const ObjectShape& shape, JsonValue value, std::uint32_t assumed);

/// Whether `value`, which is present, may stand in `field`.
bool value_fits(const Field& field, JsonValue value);

bool is_text_list(JsonValue value);

}  // namespace bmad_mem
