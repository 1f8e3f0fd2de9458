// line_tags.cpp - the tags by which the provenance log knows a line and a statement.
#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <vector>

#include "base/json_cursor.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "store/root_trust.hpp"

namespace bmad_mem {
namespace {

/// Members that the engine changes though nobody says anything else.
bool is_mechanical(std::string_view member) {
  static constexpr std::array<std::string_view, 10> kMembers = {
      "decay_factor", "initial_decay_factor", "last_decay_update",
      "access_count", "last_accessed",        "pinned",
      "links",        "checked_at",           "outside_workspace",
      "written_at"};
  return std::ranges::find(kMembers, member) != kMembers.end();
}

void add_part(std::string& text, std::string_view part) {
  const std::uint64_t size = part.size();
  text.append(reinterpret_cast<const char*>(&size), sizeof size);  // NOLINT(*-reinterpret-cast)
  text.append(part);
}

/// Appends the name and the compact value of each member of `line` to `text`, except for
/// mechanical ones, without parsing it. False, and something, when that is not enough: there are
/// links, escapes in names, or blanks between tokens within a value.
bool add_members(std::string& text, std::string_view line) {
  constexpr auto kIsBlank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  JsonCursor cursor(line);
  cursor.step();
  while (cursor.peek() == '"') {
    const std::string_view name = cursor.string();
    cursor.step();  // The ':'.
    const std::size_t begin = cursor.at();
    cursor.value();
    std::string_view value = line.substr(begin, cursor.at() - begin);
    cursor.step();
    while (!value.empty() && kIsBlank(value.back())) {
      value.remove_suffix(1);
    }
    if (name == kLinksField || name.contains('\\') ||
        (!value.starts_with('"') && std::ranges::any_of(value, kIsBlank))) {
      return false;
    }
    if (!is_mechanical(name)) {
      add_part(text, name);
      add_part(text, value);
    }
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> ProvenanceLog::plain_line_tag(std::string_view session_id,
                                                           std::string_view line) const {
  std::string text;
  text.reserve(line.size() + 256);
  add_part(text, session_id);
  return add_members(text, line) ? std::optional(keyed_hash(key_, text)) : std::nullopt;
}

std::uint64_t ProvenanceLog::line_tag(std::string_view session_id, JsonValue entry,
                                      std::string_view line) const {
  if (const std::optional<std::uint64_t> tag = plain_line_tag(session_id, line)) {
    return *tag;
  }
  std::string text;
  add_part(text, session_id);
  if (!entry.is_object()) {  // No entry, but JSON in a log that others write, too.
    add_part(text, line);
    return keyed_hash(key_, text);
  }
  const ObjectText object(entry, line);
  for (const JsonMember& member : entry.members()) {
    if (!is_mechanical(member.key)) {
      add_part(text, member.key);
      add_part(text, object.raw(member.key));
    }
  }
  if (is_superseded(entry[kLinksField])) {
    add_part(text, kLinksField);
  }
  return keyed_hash(key_, text);
}

std::uint64_t ProvenanceLog::statement_tag(std::string_view session_id,
                                           const StatementOutline& outline) const {
  assert(is_statement(outline.type));
  const std::array<std::uint64_t, 9> numbers = {
      keyed_hash(key_, session_id),
      outline.id_hash,
      outline.key_hash,
      outline.value_hash,
      static_cast<std::uint64_t>(outline.at.time_since_epoch().count()),
      static_cast<std::uint64_t>(outline.category),
      static_cast<std::uint64_t>(outline.type) << 8U | static_cast<std::uint64_t>(outline.review),
      static_cast<std::uint64_t>(outline.expires_at.time_since_epoch().count()),
      outline.superseded ? 1U : 0U};
  return keyed_hash(key_,
                    {reinterpret_cast<const char*>(numbers.data()),  // NOLINT(*-reinterpret-cast)
                     sizeof numbers});
}

void ProvenanceLog::add_tags(std::string_view session_id, EntryType type, std::string_view line,
                             std::vector<std::uint64_t>& tags) const {
  thread_local JsonParser parser;
  if (const Result<JsonValue> entry = parser.parse(line)) {
    tags.push_back(line_tag(session_id, *entry, line));
    if (is_statement(type) && entry->is_object()) {
      tags.push_back(statement_tag(session_id, statement_outline(type, *entry, line)));
    }
  }
}

bool says_the_same(std::string_view old, std::string_view line) {
  static constexpr std::array<std::string_view, 3> kAbout = {"tags", "updated_at", "references"};
  JsonParser old_parser;
  JsonParser parser;
  const Result<JsonValue> before = old_parser.parse(old);
  const Result<JsonValue> now = parser.parse(line);
  if (!before || !now || !before->is_object() || !now->is_object()) {
    return false;
  }
  const auto strip = [](JsonValue entry, std::string_view text) {
    ObjectText object(entry, text);
    for (const JsonMember& member : entry.members()) {
      if (is_mechanical(member.key) || std::ranges::find(kAbout, member.key) != kAbout.end()) {
        object.remove(member.key);
      }
    }
    return object.to_line();
  };
  return strip(*before, old) == strip(*now, line);
}

}  // namespace bmad_mem
