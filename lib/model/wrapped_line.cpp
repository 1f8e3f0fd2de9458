#include "model/wrapped_line.hpp"

#include <utility>

#include "base/json_cursor.hpp"
#include "bmad_mem/json_writer.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kEntryKey = "entry";

Error wrong(std::string_view field, std::string message) {
  return field_error(ErrorCode::E_INVALID_FORMAT, field, std::move(message));
}

/// The value of the outermost member `key` of `text`, blanks around it included; empty when there
/// is none. `text` need not be valid JSON: then it is some part of it.
std::string_view raw_member(std::string_view text, std::string_view key) {
  JsonCursor cursor(text);
  if (cursor.peek() != '{') {
    return {};
  }
  do {
    cursor.step();  // Over the '{' or a ','.
    const std::string_view name = cursor.peek() == '"' ? cursor.string() : std::string_view();
    if (cursor.peek() != ':') {
      return {};
    }
    const std::size_t begin = cursor.at() + 1;
    cursor.step();
    cursor.value();
    if (name == key) {
      return text.substr(begin, cursor.at() - begin);
    }
  } while (cursor.peek() == ',');
  return {};
}

}  // namespace

void append_wrapped(std::string& out, EntryType type, std::span<const WrapLabel> labels,
                    std::string_view entry) {
  JsonWriter writer;
  writer.begin_object().member("type", entry_type_name(type));
  for (const WrapLabel& label : labels) {
    writer.member(label.name, label.value);
  }
  writer.key(kEntryKey).raw(entry).end_object();
  out += writer.text();
}

/// In two parts, the wrapper and the entry, each strictly: as a whole, an entry that is nested as
/// deep as a log allows would be one level too deep.
Result<WrappedLine> unwrap_line(JsonParser& parser, std::string_view text) {
  const std::string_view entry = raw_member(text, kEntryKey);
  std::string wrapper(text);
  if (!entry.empty()) {
    const auto begin = static_cast<std::size_t>(entry.data() - text.data());
    wrapper.replace(begin, entry.size(), "null");
    Result<JsonValue> value = parser.parse(entry);
    if (!value || !value->is_object()) {
      return wrong(kEntryKey, value ? "must be an object" : std::move(value).error().message);
    }
  }
  BMAD_TRY_ASSIGN(const JsonValue members, parser.parse(wrapper));
  if (!members.is_object()) {
    return wrong("", "must be a JSON object");
  }
  if (entry.empty()) {
    return wrong(kEntryKey, "is missing");
  }
  if (!members["type"].is_string()) {
    return wrong("type", "must be there, and a string");
  }
  BMAD_TRY_ASSIGN(const EntryType type, parse_entry_type(members["type"].string()));
  return WrappedLine{.type = type, .entry = entry, .members = members};
}

}  // namespace bmad_mem
