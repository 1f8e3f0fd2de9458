// json_text.cpp - takes JSON text apart without a change of its bytes.
#include "cli/json_text.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

std::size_t bracket_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    switch (text[at]) {
      case '"':
        at = json_string_end(text, at);
        continue;  // kNone ends the loop, too.
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) {
          return at + 1;
        }
        break;
      default:
        break;
    }
    ++at;
  }
  return kNone;
}

}  // namespace

std::size_t json_string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return kNone;
}

std::size_t skip_json_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) {
    ++at;
  }
  return at;
}

std::size_t json_value_end(std::string_view text, std::size_t at) {
  if (at >= text.size()) {
    return kNone;
  }
  if (text[at] == '"') {
    return json_string_end(text, at);
  }
  if (text[at] == '{' || text[at] == '[') {
    return bracket_end(text, at);
  }
  const auto* const stop = std::find_if(text.begin() + at, text.end(), [](char byte) {
    return is_space(byte) || std::string_view(",]}:{[\"").contains(byte);
  });
  const auto end = static_cast<std::size_t>(stop - text.begin());
  return end == at ? kNone : end;
}

std::vector<MemberText> json_members(std::string_view object) {
  std::vector<MemberText> members;
  std::size_t at = skip_json_blanks(object, skip_json_blanks(object, 0) + 1);
  while (at < object.size() && object[at] == '"') {
    const std::size_t key_end = json_string_end(object, at);
    if (key_end == kNone) {
      break;
    }
    const std::string_view key = object.substr(at + 1, key_end - at - 2);
    const std::size_t value_at =
        skip_json_blanks(object, skip_json_blanks(object, key_end) + 1);  // Behind the colon.
    const std::size_t value_end = json_value_end(object, value_at);
    if (value_end == kNone) {
      break;
    }
    members.push_back({key, object.substr(value_at, value_end - value_at)});
    at = skip_json_blanks(object, skip_json_blanks(object, value_end) + 1);  // Behind the comma.
  }
  return members;
}

std::vector<std::string_view> json_elements(std::string_view array) {
  std::vector<std::string_view> elements;
  std::size_t at = skip_json_blanks(array, skip_json_blanks(array, 0) + 1);
  while (at < array.size() && array[at] != ']') {
    const std::size_t end = json_value_end(array, at);
    if (end == kNone) {
      break;
    }
    elements.push_back(array.substr(at, end - at));
    at = skip_json_blanks(array, skip_json_blanks(array, end) + 1);  // Behind the comma.
  }
  return elements;
}

std::string json_compact(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
    } else if (text[at] == '"') {
      const std::size_t end = std::min(json_string_end(text, at), text.size());
      out += text.substr(at, end - at);
      at = end;
    } else {
      out += text[at];
      ++at;
    }
  }
  return out;
}

namespace {

/// `key` without one "TYPE_" in front; `key` itself when there is none.
std::string_view without_type(std::string_view type, std::string_view key) {
  return key.starts_with(type) && key.substr(type.size()).starts_with('_')
             ? key.substr(type.size() + 1)
             : key;
}

/// Whether `key` is one of `added`, maybe behind any number of "TYPE_".
bool is_taken(std::span<const std::string_view> added, std::string_view type,
              std::string_view key) {
  while (!is_among(added, key)) {
    const std::string_view inner = without_type(type, key);
    if (inner.size() == key.size()) {
      return false;
    }
    key = inner;
  }
  return true;
}

}  // namespace

std::string name_beside(std::span<const std::string_view> added, std::string_view type,
                        std::string_view key) {
  return is_taken(added, type, key) ? fmt::format("{}_{}", type, key) : std::string(key);
}

std::string_view name_within(std::span<const std::string_view> added, std::string_view type,
                             std::string_view key) {
  return is_taken(added, type, key) ? without_type(type, key) : key;
}

std::vector<std::string_view> added_members(JsonValue line) {
  std::vector<std::string_view> added;
  if (line["relevance"].is_number() && line["components"].is_object() &&
      line["highlights"].is_array()) {
    added = {"relevance", "components", "snippet", "highlights"};
    if (line["context"]["before"].is_array() && line["context"]["after"].is_array()) {
      added.push_back("context");
    }
    if (line["explanation"]["terms"].is_array()) {
      added.push_back("explanation");
    }
  }
  if (line["relation"].is_string() && line["relevance"].is_number() && added.empty()) {
    added = {"relation", "relevance"};
  }
  if (line["version"].is_integer() && line["versions"].is_integer() && added.empty()) {
    added = {"version", "versions"};
  }
  // Where an entry is stands in front of what it holds.
  for (const JsonMember& member : line.members()) {
    if (member.key == "id") {
      break;
    }
    if ((member.key == "archived" || member.key == "evicted") && line["session_id"].is_string()) {
      added.push_back(member.key == "archived" ? "archived" : "evicted");
    }
    for (const std::string_view key :
         {"headline", "root", "from_elsewhere", "certainty", "said_before"}) {
      if (member.key == key && line["session_id"].is_string()) {
        added.push_back(key);
      }
    }
  }
  return added;
}

}  // namespace bmad_mem::cli
