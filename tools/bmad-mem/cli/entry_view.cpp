// entry_view.cpp - prints one entry for a person, member by member.
#include <algorithm>
#include <ranges>

#include "bmad_mem/json.hpp"
#include "cli/json_text.hpp"
#include "cli/text.hpp"
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
  std::vector<std::string_view> texts = json_elements(raw);
  auto text = texts.begin();
  for (const JsonValue element : list.elements()) {
    *text = element.is_string() ? element.string() : *text;
    ++text;
  }
  return joined(texts);
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
    const std::string name = fmt::format("{}{}{}", prefix, prefix.empty() ? "" : ".", member.key);
    const std::string_view member_raw = raws[i].value;
    ++i;
    if (member.value.is_object() && prefix.empty()) {
      append_fields(name, member.value, member_raw, fields);
    } else {
      fields.emplace_back(name, value_text(member.value, member_raw));
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
  const auto links = shaped(shape::link, entry.links);
  std::string added_text;
  for (const std::string& members :
       {json_members_of("headline", if_some(entry.headline)), std::string(extra),
        json_members_of("linked", if_some(links), "archived", if_some(entry.archived), "evicted",
                        if_some(entry.evicted), "scope",
                        only_if(entry.of_user, std::string_view("user")))}) {
    added_text += added_text.empty() || members.empty() ? "" : ",";
    added_text += members;
  }
  const std::string_view type = entry_type_name(entry.type);
  std::string out = fmt::format(R"({{"type":{},"session_id":{})", json_quoted(type),
                                json_quoted(entry.session_id));
  std::vector<std::string_view> added;
  const std::string added_object = fmt::format("{{{}}}", added_text);
  if (!added_text.empty()) {
    out += "," + added_text;
    added = mapped(json_members(added_object), &MemberText::key);
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
  if (const ParsedJson value(entry.json); value) {
    append_fields({}, *value, entry.json, fields);
  }
  return fields;
}

ExitStatus print_stored(Tool& tool, std::string_view id, std::string_view session,
                        std::span<const std::string> notices) {
  return show(tool, "stored",
              object_of("id", id, "session_id", session, "notices", if_some(notices)));
}

RawJson shown_entry(const Entry& entry) {
  return raw_object(shaped(shape::entry_head, entry), "versions", entry.versions, "linked",
                    shaped(shape::link, entry.links), "place", place_mark(entry));
}

std::vector<RawJson> shown_fields(std::span<const FieldText> fields) {
  return mapped(fields, [](const FieldText& field) {
    return raw_object("name", field.first, "value", field.second);
  });
}

void print_entry_list(Tool& tool, std::span<const Entry> entries) {
  if (tool.json()) {
    std::ranges::for_each(entries, [&](const Entry& entry) { print_entry_line(tool, entry); });
    return;
  }
  const auto shown = [](const Entry& entry) {
    return raw_object("head", "", "entry", shown_entry(entry));
  };
  describe(tool, "entries", "all", entries | std::views::transform(shown));
}

}  // namespace bmad_mem::cli
