#include "knowledge/dialogue.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kToolUse = "tool_use";

bool is_of_sidechain(JsonValue entry) {
  for (const JsonValue place : {entry, entry["metadata"], entry["context"]}) {
    for (const std::string_view name : {"sidechain", "isSidechain", "is_sidechain"}) {
      if (place[name].boolean()) {
        return true;
      }
    }
  }
  return false;
}

std::size_t tokens_of(JsonValue entry) {
  constexpr std::int64_t kBelievable = 10'000'000;
  for (const JsonValue said : {entry["metadata"]["tokens"], entry["tokens"]}) {
    if (said.integer() > 0 && said.integer() <= kBelievable) {
      return static_cast<std::size_t>(said.integer());
    }
  }
  return estimate_tokens(entry["content"].string());
}

DialogueMessage to_message(JsonValue entry) {
  return {.id = std::string(entry["id"].string()),
          .at = try_parse_rfc3339(entry["timestamp"].string()).value_or(Timestamp{}),
          .role = std::string(entry["role"].string()),
          .content = std::string(entry["content"].string()),
          .tokens = tokens_of(entry),
          .is_sidechain = is_of_sidechain(entry),
          .is_sensitive = entry["sensitive"].boolean()};
}

}  // namespace

std::vector<DialogueMessage> read_dialogue(std::span<const std::string_view> lines) {
  std::vector<DialogueMessage> messages;
  std::unordered_map<std::string, std::size_t> places;
  JsonParser parser;
  for (const std::string_view line : lines) {
    const Result<JsonValue> entry = parser.parse(line);
    if (!entry || (*entry)["id"].string().empty()) {
      continue;
    }
    DialogueMessage message = to_message(*entry);
    const auto [place, is_new] = places.try_emplace(message.id, messages.size());
    if (is_new) {
      messages.push_back(std::move(message));
    } else {
      messages[place->second] = std::move(message);
    }
  }
  return messages;
}

std::vector<Timestamp> read_tool_uses(std::span<const std::string_view> lines) {
  std::vector<Timestamp> times;
  std::unordered_set<std::string> known;
  JsonParser parser;
  for (const std::string_view line : lines) {
    const Result<JsonValue> entry = parser.parse(line);
    if (!entry || (*entry)["kind"].string() != kToolUse || is_of_sidechain(*entry) ||
        !known.emplace((*entry)["id"].string()).second) {
      continue;
    }
    times.push_back(try_parse_rfc3339((*entry)["timestamp"].string()).value_or(Timestamp{}));
  }
  std::ranges::sort(times);
  return times;
}

}  // namespace bmad_mem
