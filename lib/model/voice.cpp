#include "model/voice.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/statement.hpp"

namespace bmad_mem {
namespace {

constexpr double kForeignTrust = 0.4;
static_assert(kForeignTrust < kLowTrust);

/// The kinds that are always quoted.
bool is_others(std::string_view kind) {
  return kind == "tool" || kind == "web" || kind == "import";
}

}  // namespace

bool is_printed_by_tool(EntryType type, JsonValue entry) {
  return (type == EntryType::kConversation && entry["role"].string() == "tool") ||
         (type == EntryType::kEvent &&
          (!entry["tool"].string().empty() || entry["kind"].string().starts_with("tool_")));
}

double holding_trust(Origin origin, double trust) {
  return has_voice(origin) ? trust : std::min(trust, kForeignTrust);
}

EntryTrust checked_trust(EntryTrust claimed) {
  static constexpr std::array<std::string_view, 5> kNamed = {"user", "assistant", "tool", "web",
                                                             "import"};
  constexpr double kAgentTrust = 0.6;
  if (std::ranges::find(kNamed, claimed.source_kind) == kNamed.end()) {
    claimed.source_kind.clear();
  }
  claimed.trust = std::clamp(claimed.trust, 0.0, 1.0);
  if (!has_voice(claimed.origin)) {
    claimed.trust =
        std::min(claimed.trust, claimed.origin == Origin::kAgent ? kAgentTrust : kForeignTrust);
    if (claimed.source_kind == "user") {
      claimed.source_kind.clear();  // It says so itself.
    }
  }
  return claimed;
}

EntryTrust entry_trust(EntryType type, JsonValue entry, Origin origin) {
  const JsonValue source = entry["source"];
  EntryTrust trust{.source_kind = std::string(source["kind"].string()),
                   .trust = source["trust"].number(1),
                   .origin = origin};
  if (is_printed_by_tool(type, entry) && !is_others(trust.source_kind)) {
    trust.source_kind = "tool";
  }
  return checked_trust(std::move(trust));
}

std::string trust_text(const EntryTrust& trust) {
  const std::string_view origin = trust.origin == Origin::kElsewhere ? "from elsewhere"
                                  : trust.origin == Origin::kAgent   ? "agent"
                                  : trust.origin == Origin::kByHand  ? "edited by hand"
                                                                     : "";
  return fmt::format("{}{}{}{}trust {:.2f}", origin, origin.empty() ? "" : ", ", trust.source_kind,
                     trust.source_kind.empty() ? "" : ", ", trust.trust);
}

std::string source_text(const EntryTrust& trust) {
  const std::string text = trust_text(trust);
  return text.starts_with("from ") ? text : "from " + text;
}

bool must_be_quoted(const EntryTrust& trust, double quote_below_trust) {
  return !has_voice(trust.origin) || trust.trust < quote_below_trust ||
         is_others(trust.source_kind);
}

}  // namespace bmad_mem
