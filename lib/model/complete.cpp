// complete.cpp - makes a line of what a caller wrote: defaults filled in, checked, in order.
#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "entry_spec.hpp"
#include "model/entry.hpp"
#include "value_text.hpp"

namespace bmad_mem {
namespace {

// Where kFirstFields stand in every shape.
constexpr std::size_t kIdIndex = 0;
constexpr std::size_t kTimestampIndex = 1;
constexpr std::uint32_t kFilledIn = 1U << kIdIndex | 1U << kTimestampIndex;

Status check_size(std::size_t size) {
  if (size <= kEntrySizeMax) {
    return {};
  }
  return Error{.code = ErrorCode::E_SIZE_LIMIT,
               .message = fmt::format("the entry has {} bytes, and may have {}; keep large content "
                                      "in a file and add an artifact that points to it",
                                      size, kEntrySizeMax)};
}

/// Whether `type_member` says what the log says anyway. Errors: it says something else.
Result<bool> names_own_type(EntryType type, JsonValue type_member) {
  const std::optional<EntryType> named =
      type_member.is_string() ? try_parse_entry_type(type_member.string()) : std::nullopt;
  if (named && *named != type) {
    return schema_error(
        {.field = "type",
         .message = fmt::format("{} cannot be added as {}; leave it out or add it as its own type",
                                value_excerpt(type_member), entry_type_name(type))});
  }
  return named.has_value();
}

/// The positions in `shape` of the members that `entry` has.
std::uint32_t fields_present(const ObjectShape& shape, JsonValue entry) {
  std::uint32_t present = 0;
  for (const JsonMember& member : entry.members()) {
    if (const std::size_t index = shape.find(member.key); index != ObjectShape::kNone) {
      present |= 1U << index;
    }
  }
  return present;
}

/// Sets the defaults of the fields not in `present`, and adds them to it.
void fill_in_fallbacks(const ObjectShape& shape, ObjectText& object, std::uint32_t& present) {
  for (std::size_t i = 0; i < shape.fields.size(); ++i) {
    const Field& field = shape.fields[i];
    if (!field.fallback.empty() && (present & (1U << i)) == 0) {
      object.set(field.name, std::string(field.fallback));
      present |= 1U << i;
    }
  }
}

/// The object as a line: known fields in the order of the shape, unknown ones, decay_factor.
std::string canonical_line(const ObjectShape& shape, const ObjectText& object,
                           std::uint32_t present) {
  assert(shape.fields.back().name == "decay_factor");
  std::array<std::string_view, kFieldCountMax> names;
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < shape.fields.size(); ++i) {
    if ((present & (1U << i)) != 0) {
      names[count++] = shape.fields[i].name;
    }
  }
  const std::array<std::string_view, 1> last = {shape.fields.back().name};
  return object.to_line(std::span(names).first(count), last);
}

}  // namespace

Result<CompleteEntry> complete_entry(EntryType type, JsonParser& parser, std::string_view text,
                                     IdGenerator& ids, Timestamp now) {
  BMAD_TRY(check_size(text.size()));
  BMAD_TRY_ASSIGN(const JsonValue entry, parser.parse(text));
  return complete_entry(type, entry, text, ids, now);
}

Result<CompleteEntry> complete_entry(EntryType type, JsonValue entry, std::string_view text,
                                     IdGenerator& ids, Timestamp now) {
  BMAD_TRY(check_size(text.size()));
  if (std::optional<FieldProblem> problem = check_entry_assuming(type, entry, kFilledIn)) {
    return schema_error(std::move(*problem));
  }
  BMAD_TRY_ASSIGN(const bool says_type, names_own_type(type, entry["type"]));

  const ObjectShape& shape = entry_shape(type);
  assert(shape.fields[kIdIndex].name == "id" && shape.fields[kTimestampIndex].name == "timestamp");
  ObjectText object(entry, text);
  std::uint32_t present = fields_present(shape, entry);
  CompleteEntry complete;
  if (says_type) {
    object.remove("type");
  }
  if ((present & (1U << kIdIndex)) != 0) {
    complete.id = entry_id(entry);
    complete.has_own_id = true;
  } else {
    complete.id = ids.entry_id(entry_type_info(type).id_prefix);
    object.set_string("id", complete.id);
  }
  if ((present & (1U << kTimestampIndex)) == 0) {
    object.set_string("timestamp", format_rfc3339(now));
  }
  present |= kFilledIn;
  fill_in_fallbacks(shape, object, present);
  complete.line = canonical_line(shape, object, present);
  BMAD_TRY(check_size(complete.line.size()));
  assert(is_entry_id(complete.id) && !complete.line.contains('\n'));
  return complete;
}

namespace {

/// Members that mark an entry and don't change what it says.
bool is_mark(std::string_view key) {
  return key == "pinned" || key == "sensitive" || key == "tags" || key == "review" ||
         key == kLinksField;
}

}  // namespace

Result<std::string> changed_line(std::string_view line, JsonValue changes, std::string_view text,
                                 Timestamp now) {
  if (const JsonMembers members = changes.members(); !(members.begin() != members.end())) {
    return invalid_query("", "nothing changes; name a field to set or unset");
  }
  BMAD_TRY_ASSIGN(const ParsedJson entry, parse_json(line));
  ObjectText merged(*entry, line);
  const ObjectText values(changes, text);
  bool says_else = false;
  for (const JsonMember& member : changes.members()) {
    if (member.key == "id" || member.key == "type" || member.key == "session_id") {
      return invalid_query(member.key, "it can't change; add another entry instead");
    }
    const std::string raw(values.raw(member.key));
    const bool is_same = member.value.kind() == JsonKind::kNull ? !merged.has(member.key)
                                                                : merged.raw(member.key) == raw;
    says_else = says_else || (!is_same && !is_mark(member.key));
    if (member.value.kind() == JsonKind::kNull) {
      merged.remove(member.key);
    } else {
      merged.set(member.key, raw);
    }
  }
  if (says_else && !changes["updated_at"].present()) {
    merged.set_string("updated_at", format_rfc3339(next_version_time(*entry, now)));
  }
  return merged.to_line();
}

}  // namespace bmad_mem
