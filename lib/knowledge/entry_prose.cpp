#include "entry_prose.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/entry.hpp"

namespace bmad_mem {
namespace {

/// Adds `text` behind `lead`, if there is any.
void add(std::string& out, std::string_view lead, std::string_view text) {
  if (text.empty()) {
    return;
  }
  if (!out.empty()) {
    const bool ends_a_sentence =
        std::string_view(".!?:;").find(out.back()) != std::string_view::npos;
    out += ends_a_sentence ? " " : ". ";
  }
  out += lead;
  out += text;
}

}  // namespace

std::string entry_prose(EntryType type, JsonValue entry) {
  std::string out;
  switch (type) {
    case EntryType::kConversation:
      add(out, "", entry["content"].string());
      break;
    case EntryType::kDecision:
      add(out, "", entry["decision"].string());
      add(out, "Because: ", entry["rationale"].string());
      break;
    case EntryType::kFinding:
      add(out, "", entry["description"].string());
      add(out, "Recommended: ", entry["recommendation"].string());
      break;
    case EntryType::kPreference:
      add(out, "", entry["value"].string());
      break;
    case EntryType::kFact:
      add(out, "", entry["content"].string());
      break;
    case EntryType::kEvent:
      add(out, "", entry["kind"].string());
      add(out, "With ", entry["tool"].string());
      add(out, "", entry["path"].string());
      add(out, "", entry["content"].string());
      break;
    case EntryType::kAgentState:
      break;
    case EntryType::kArtifact:
      add(out, "", entry["title"].string());
      add(out, "In ", entry["path"].string());
      add(out, "", entry["snippet"].string());
      break;
  }
  return out;
}

std::string entry_speaker(EntryType type, JsonValue entry) {
  const std::string_view who = entry_who(type, entry);
  return std::string(who.empty() ? entry["role"].string() : who);
}

EntryTrust checked_trust(EntryTrust trust) {
  static constexpr std::array<std::string_view, 5> kKinds = {"user", "assistant", "tool", "web",
                                                             "import"};
  if (std::ranges::find(kKinds, trust.source_kind) == kKinds.end()) {
    trust.source_kind.clear();
  }
  trust.trust = std::clamp(trust.trust, 0.0, 1.0);
  return trust;
}

std::string trust_text(const EntryTrust& trust) {
  return fmt::format("{}{}trust {:.2f}", trust.source_kind, trust.source_kind.empty() ? "" : ", ",
                     trust.trust);
}

EntryTrust entry_trust(EntryType type, JsonValue entry) {
  const JsonValue source = entry["source"];
  EntryTrust trust{.source_kind = std::string(source["kind"].string()),
                   .trust = source["trust"].number(1)};
  const bool is_of_a_tool =
      (type == EntryType::kConversation && entry["role"].string() == "tool") ||
      (type == EntryType::kEvent && !entry["tool"].string().empty());
  if (trust.source_kind.empty() && is_of_a_tool) {
    trust.source_kind = "tool";
  }
  return checked_trust(std::move(trust));
}

bool must_be_quoted(const EntryTrust& trust, double quote_below_trust) {
  return trust.trust < quote_below_trust || trust.source_kind == "tool" ||
         trust.source_kind == "web" || trust.source_kind == "import";
}

bool is_of_workspace(const Workspace& workspace, JsonValue entry) {
  if (entry[kOutsideWorkspaceField].boolean()) {
    return false;
  }
  const JsonValue named = entry["workspace"];
  const std::string_view folder =
      named.is_string() ? named.string() : entry["metadata"]["workspace"].string();
  return !is_outside_workspace(workspace, folder);
}

}  // namespace bmad_mem
