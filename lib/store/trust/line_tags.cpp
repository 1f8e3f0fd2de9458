// line_tags.cpp - what a line and a statement are known by in the ledger.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/json_cursor.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "store/origin_ledger.hpp"

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

bool is_statement(EntryType type) {
  return type == EntryType::kFact || type == EntryType::kPreference;
}

/// Appends the name and the compact value of each member of `line` to `text`, except for
/// mechanical ones, without a copy of the line. False, and nothing, when that takes one: there are
/// blanks between tokens within a value.
bool add_members(std::string& text, JsonValue entry, std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t size_before = text.size();
  JsonCursor cursor(line);
  cursor.step();
  for (const JsonMember& member : entry.members()) {
    cursor.string();
    cursor.step();  // The ':'.
    const std::size_t begin = cursor.at();
    cursor.value();
    std::string_view value = line.substr(begin, cursor.at() - begin);
    cursor.step();
    value = value.substr(0, value.find_last_not_of(kBlanks) + 1);
    if (!member.value.is_string() && value.find_first_of(kBlanks) != std::string_view::npos) {
      text.resize(size_before);
      return false;
    }
    if (!is_mechanical(member.key)) {
      add_part(text, member.key);
      add_part(text, value);
    }
  }
  return true;
}

}  // namespace

std::uint64_t OriginLedger::line_tag(std::string_view session_id, JsonValue entry,
                                     std::string_view line) const {
  std::string text;
  text.reserve(line.size() + 256);
  add_part(text, session_id);
  if (!add_members(text, entry, line)) {
    const ObjectText object(entry, line);
    for (const JsonMember& member : entry.members()) {
      if (!is_mechanical(member.key)) {
        add_part(text, member.key);
        add_part(text, object.raw(member.key));
      }
    }
  }
  if (is_superseded(entry[kLinksField])) {
    add_part(text, kLinksField);
  }
  return keyed_hash(key_, text);
}

std::uint64_t OriginLedger::statement_tag(std::string_view session_id,
                                          const StatementOutline& outline) const {
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

void OriginLedger::add_tags(std::string_view session_id, EntryType type, std::string_view line,
                            std::vector<std::uint64_t>& tags) const {
  thread_local JsonParser parser;
  if (const Result<JsonValue> entry = parser.parse(line)) {
    tags.push_back(line_tag(session_id, *entry, line));
    if (is_statement(type)) {
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
  if (!before || !now) {
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
