#include "hooks/hook_client.hpp"

#include <algorithm>

namespace bmad_mem::cli {
namespace {

/// In the order of the enum. Prefixes are parts of session ids that are stored: never change them.
constexpr std::array<HookClientInfo, kHookClients.size()> kInfos = {{
    {.name = "claude-code", .title = "Claude Code", .session_prefix = "cc-"},
    {.name = "codex", .title = "Codex", .session_prefix = "codex-"},
    {.name = "gemini", .title = "Gemini CLI", .session_prefix = "gemini-"},
    {.name = "cursor", .title = "Cursor", .session_prefix = "cursor-"},
}};

}  // namespace

const HookClientInfo& hook_client_info(HookClient client) {
  return kInfos[static_cast<std::size_t>(client)];
}

std::optional<HookClient> find_hook_client(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kHookClients, [&](HookClient client) { return hook_client_info(client).name == name; });
  return found == kHookClients.end() ? std::nullopt : std::optional(*found);
}

}  // namespace bmad_mem::cli
