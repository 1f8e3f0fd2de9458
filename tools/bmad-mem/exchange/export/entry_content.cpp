#include "exchange/export/entry_content.hpp"

#include "json_text.hpp"

namespace bmad_mem::cli {

EntryContent::EntryContent(const Entry& entry) : entry_(entry) {
  if (const Result<JsonValue> value = parser_.parse(entry.json)) {
    value_ = *value;
  }
}

std::string EntryContent::text(std::string_view key) const {
  const JsonValue value = value_[key];
  if (value.is_string()) {
    return std::string(value.string());
  }
  if (value.present() && value.kind() != JsonKind::kNull) {
    for (const MemberText& member : json_members(entry_.json)) {
      if (member.key == key) {
        return json_compact(member.value);
      }
    }
  }
  return {};
}

std::vector<std::string> EntryContent::texts(std::string_view key) const {
  const JsonValue value = value_[key];
  std::vector<std::string> found;
  if (value.is_string() && !value.string().empty()) {
    found.emplace_back(value.string());
  }
  for (const JsonValue element : value.elements()) {
    if (element.is_string()) {
      found.emplace_back(element.string());
    }
  }
  return found;
}

std::string EntryContent::main_text() const {
  switch (entry_.type) {
    case EntryType::kConversation:
    case EntryType::kFact:
      return text("content");
    case EntryType::kDecision:
      return text("decision");
    case EntryType::kFinding:
      return text("description");
    case EntryType::kPreference:
      return text("key") + ": " + text("value");
    case EntryType::kEvent: {
      const std::vector<std::string> parts = {text("tool"), text("path"), text("content")};
      std::string out = text("kind");
      for (const std::string& part : parts) {
        out += part.empty() ? "" : " ";
        out += part;
      }
      return out;
    }
    case EntryType::kAgentState:
      return text("state");
    case EntryType::kArtifact:
      break;
  }
  const std::string snippet = text("snippet");
  return text("title") + (snippet.empty() ? "" : ": ") + snippet;
}

}  // namespace bmad_mem::cli
