// hook_client.hpp - the agents whose hooks we understand.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bmad_mem::cli {

enum class HookClient : std::uint8_t { kClaudeCode, kCodex, kGemini, kCursor };

inline constexpr std::array<HookClient, 4> kHookClients = {
    HookClient::kClaudeCode, HookClient::kCodex, HookClient::kGemini, HookClient::kCursor};

/// What is known of a client as a whole. The views are static.
struct HookClientInfo {
  std::string_view name;            ///< "claude-code": on the command line and as agent_id.
  std::string_view title;           ///< "Claude Code", for people.
  std::string_view session_prefix;  ///< "cc-": in front of the client's own session ids.
};

const HookClientInfo& hook_client_info(HookClient client);

/// The client of this name; nothing for any other text.
std::optional<HookClient> find_hook_client(std::string_view name);

}  // namespace bmad_mem::cli
