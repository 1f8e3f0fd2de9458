#include "cli/added_members.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {
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
  }
  return added;
}

}  // namespace bmad_mem::cli
