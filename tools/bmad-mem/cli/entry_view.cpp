#include <algorithm>

#include "bmad_mem/json_parser.hpp"
#include "cli/json_text.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// Whether `text` may have a member whose name ends in `key`: quick, and never wrong when it says
/// no.
bool may_have(std::string_view text, std::string_view key) {
  return text.find(fmt::format("{}\"", key)) != std::string_view::npos;
}

/// `list` as "a, b": strings and other scalars.
std::string joined_elements(JsonValue list, std::string_view raw) {
  const std::vector<std::string_view> raws = json_elements(raw);
  std::string out;
  std::size_t i = 0;
  for (const JsonValue element : list.elements()) {
    out += out.empty() ? "" : ", ";
    out += element.is_string() ? element.string() : raws[i];
    ++i;
  }
  return out;
}

/// Objects of a list, one a line: their strings, as in "MongoDB: eventual consistency".
std::string object_lines(JsonValue list, std::string_view raw) {
  const std::vector<std::string_view> raws = json_elements(raw);
  std::string out;
  std::size_t i = 0;
  for (const JsonValue object : list.elements()) {
    std::string line;
    for (const JsonMember& member : object.members()) {
      if (!member.value.is_string()) {
        line.clear();
        break;
      }
      line += line.empty() ? "" : ": ";
      line += member.value.string();
    }
    out += out.empty() ? "- " : "\n- ";
    out += line.empty() ? raws[i] : std::string_view(line);
    ++i;
  }
  return out;
}

std::string value_text(JsonValue value, std::string_view raw) {
  if (value.is_string()) {
    return std::string(value.string());
  }
  if (value.is_array()) {
    bool objects = false;
    bool scalars = true;
    for (const JsonValue element : value.elements()) {
      objects = objects || element.is_object();
      scalars = scalars && !element.is_object() && !element.is_array();
    }
    if (objects) {
      return object_lines(value, raw);
    }
    if (scalars) {
      return joined_elements(value, raw);
    }
  }
  return json_compact(raw);
}

void append_fields(std::string_view prefix, JsonValue object, std::string_view raw,
                   std::vector<FieldText>& fields) {
  const std::vector<MemberText> raws = json_members(raw);
  std::size_t i = 0;
  for (const JsonMember& member : object.members()) {
    std::string name(prefix);
    name += name.empty() ? "" : ".";
    name += member.key;
    const std::string_view member_raw = raws[i].value;
    ++i;
    if (member.value.is_object() && prefix.empty()) {
      append_fields(name, member.value, member_raw, fields);
    } else {
      fields.push_back({std::move(name), value_text(member.value, member_raw)});
    }
  }
}

}  // namespace

std::string_view place_mark(const Entry& entry) {
  if (entry.evicted) {
    return "evicted";
  }
  if (!entry.newer.empty()) {
    return "a newer version waits";
  }
  return entry.archived ? "archived" : entry.of_user ? "yours" : "";
}

std::string relation_words(Relation relation) {
  std::string words(relation_name(relation));
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string entry_json_line(const Entry& entry, std::string_view extra) {
  if (!entry.links.empty()) {
    const std::string object = json_object("linked", shaped(shape::link, entry.links));
    std::string members(extra);
    members += members.empty() ? "" : ",";
    members += std::string_view(object).substr(1, object.size() - 2);
    Entry plain = entry;
    plain.links.clear();
    return entry_json_line(plain, members);
  }
  if (entry.archived || entry.evicted || entry.of_user) {
    std::string members(extra);
    Entry plain = entry;
    plain.archived = false;
    plain.evicted = false;
    plain.of_user = false;
    members +=
        entry.archived ? fmt::format(R"({}"archived":true)", members.empty() ? "" : ",") : "";
    members += entry.evicted ? fmt::format(R"({}"evicted":true)", members.empty() ? "" : ",") : "";
    members += entry.of_user ? fmt::format(R"({}"scope":"user")", members.empty() ? "" : ",") : "";
    return entry_json_line(plain, members);
  }
  if (!entry.headline.empty()) {
    Entry plain = entry;
    plain.headline.clear();
    return entry_json_line(plain, fmt::format(R"("headline":{}{}{})", json_quoted(entry.headline),
                                              extra.empty() ? "" : ",", extra));
  }
  const std::string_view type = entry_type_name(entry.type);
  std::string out = fmt::format(R"({{"type":{},"session_id":{})", json_quoted(type),
                                json_quoted(entry.session_id));
  std::vector<std::string_view> added;
  const std::string extra_object = fmt::format("{{{}}}", extra);
  if (!extra.empty()) {
    out += ',';
    out += extra;
    for (const MemberText& member : json_members(extra_object)) {
      added.push_back(member.key);
    }
  }
  const auto is_clear_of = [&](std::string_view key) { return !may_have(entry.json, key); };
  if (is_clear_of("type") && is_clear_of("session_id") && std::ranges::all_of(added, is_clear_of)) {
    out += ',';
    out += std::string_view(entry.json).substr(skip_json_blanks(entry.json, 0) + 1);
    return out;
  }
  for (const MemberText& member : json_members(entry.json)) {
    if (member.key != "type" && member.key != "session_id") {
      out += fmt::format(",\"{}\":{}", name_beside(added, type, member.key), member.value);
    }
  }
  return out + "}";
}

std::vector<FieldText> entry_fields(const Entry& entry) {
  std::vector<FieldText> fields;
  JsonParser parser;
  if (const Result<JsonValue> value = parser.parse(entry.json)) {
    append_fields({}, *value, entry.json, fields);
  }
  return fields;
}

void print_stored(Tool& tool, std::string_view id, std::string_view session,
                  std::span<const std::string> notices) {
  if (!tool.json()) {
    tool.out().print("{}\n", id);
    return;
  }
  print_object(tool, "id", id, "session_id", session, "notices", if_some(notices));
}

void print_field(Tool& tool, std::string_view name, std::string_view value,
                 std::size_t name_width) {
  std::string_view rest = value;
  std::string head = padded(name, name_width);
  do {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    tool.out().print("  {}  {}\n", tool.style().faint(head), printable(line));
    head.assign(name_width, ' ');
  } while (!rest.empty());
}

void print_entry(Tool& tool, const Entry& entry) {
  const Style& style = tool.style();
  tool.out().print(
      "{} {} in {}{}{}{}{}\n", style.bold(entry_type_name(entry.type)), style.id(entry.id),
      entry.session_id, entry.versions > 1 ? fmt::format(", {} versions", entry.versions) : "",
      entry.pinned ? ", pinned" : "", entry.sensitive ? style.faint(", sensitive") : "",
      place_mark(entry).empty() ? "" : style.faint(fmt::format(", {}", place_mark(entry))));
  std::vector<FieldText> fields = entry_fields(entry);
  std::erase_if(fields, [&](const FieldText& field) {  // They come last, with what they lead to.
    return !entry.links.empty() && field.name.starts_with("links.");
  });
  std::size_t width = 0;
  for (const FieldText& field : fields) {
    width = std::max(width, text_width(field.name));
  }
  for (const EntryLink& link : entry.links) {
    width = std::max(width, relation_words(link.relation).size());
  }
  for (const FieldText& field : fields) {
    if (field.name != "id") {
      print_field(tool, printable(field.name), field.value, width);
    }
  }
  for (const EntryLink& link : entry.links) {
    const std::string_view text =
        link.headline.empty() ? "(sensitive)" : std::string_view(link.headline);
    print_field(tool, relation_words(link.relation), fmt::format("{}  {}", link.id, text), width);
  }
}

void print_entry_list(Tool& tool, std::span<const Entry> entries,
                      std::span<const std::string> heads) {
  static constexpr std::size_t kWhoWidthMax = 16;
  const Style& style = tool.style();
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    std::string marks(entry.sensitive ? kSensitiveMark : "");
    marks += place_mark(entry).empty() ? "" : fmt::format("{} ", place_mark(entry));
    rows.push_back({(heads.empty() ? "" : heads[i]) + style.id(entry.id),
                    style.faint(shown_minute(entry.timestamp)),
                    std::string(entry_type_name(entry.type)),
                    shortened(printable(entry.who), kWhoWidthMax),
                    fmt::format("{}{}{}", marks.empty() ? marks : style.faint(marks),
                                entry.pinned ? "* " : "", printable(entry.headline))});
  }
  print_list(tool, rows, "lllll");
}

}  // namespace bmad_mem::cli
