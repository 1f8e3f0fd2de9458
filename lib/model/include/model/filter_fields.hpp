// filter_fields.hpp - the members of entries that filters can ask for, and what an entry has there.
//
//   {"status":"open","approved_by":["me","ann"],"metadata":{"ticket":"PAY-1","ci":{"run":7}}}
//     status=open  approved_by=me  approved_by=ann  metadata.ticket=PAY-1  metadata.ci.run=7
//
// Which type has which field is for its own table (field.hpp) to say; here stands only which of
// them can be asked for. Type, tags, topic, time, pins and who it is by have filters of their own.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Longest value below `metadata` and `context` that counts, in bytes: what is longer is text.
inline constexpr std::size_t kNestedValueMax = 64;
/// Most values below `metadata` and `context` of one entry that count; the first ones.
inline constexpr std::size_t kNestedValuesMax = 32;

/// Whether filters can ask for `name`: one of the above, or "metadata.NAME" or "context.NAME".
bool is_filter_field(std::string_view name);

/// The one that `name` is a slip of the pen for; empty when there is none.
std::string nearest_filter_field(std::string_view name);

/// A scalar as filters compare it: a string as it is, a number or a boolean as JSON has it; empty
/// for any other value.
std::string filter_value_text(JsonValue value);

/// Whether an entry could have `value` there: a field of choices takes nothing else, in any case of
/// its letters. Errors: E_INVALID_QUERY with a message that names what is known.
Status check_filter_field(std::string_view name, std::string_view value);
/// The same of all that `filter` asks for; the error's field is "fields".
Status check_fields(const EntryFilter& filter);

/// Calls `use(name, value)` for all that `entry` has in these fields: strings as they are, numbers
/// and booleans as JSON has them, each element of a list. A finding without status is open; facts
/// and preferences without a category have the one that recall() tells. Views live until the next
/// call of `use`.
using UseFilterValue = std::function<void(std::string_view name, std::string_view value)>;
void entry_filter_values(EntryType type, JsonValue entry, const UseFilterValue& use);

}  // namespace bmad_mem
