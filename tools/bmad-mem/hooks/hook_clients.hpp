// hook_clients.hpp - the clients whose hooks call us: a row each, and a row for each of its events.
//
//   client       its event            what it is     its text         how context goes in
//   claude-code  UserPromptSubmit     kPrompt        "prompt"         kHookSpecific
//   windsurf     pre_user_prompt      kPrompt        "user_prompt"    kNoAnswer: it takes none
//
// Which files ask a client for its events is in install/client_table.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace bmad_mem::cli {

enum class HookEventKind : std::uint8_t {
  kNothing,
  kSessionStart,
  kPrompt,
  kBeforeTool,
  kAfterTool,
  kMessage,
  kSubagentStart,
  kSubagentStop,
  kBeforeCompact,
  kAfterCompact,
  kSessionEnd,
};

/// How a text for the model is told at an event: what stdout holds.
enum class HookAnswer : std::uint8_t {
  kNoAnswer,      ///< The client ignores what is printed then, or complains.
  kText,          ///< The text as it is.
  kHookSpecific,  ///< {"hookSpecificOutput": {"hookEventName": …, "additionalContext": …}}
  kBothWays,      ///< That, and "additionalContext" at the top as well.
  kCursor,        ///< {"additional_context": …}, with "continue" at a prompt
  kCline,         ///< {"cancel": false, "contextModification": …}
  kContinue,      ///< {"decision": "block", "reason": …}: the agent goes on with it, not to stop.
};

/// What an event of a client is, how we read it, and how `install` asks for it. Of a tool we ask to
/// hear when it has ended: that event says what it was called with as well, and half as many
/// processes are started.
struct HookEventRow {
  std::string_view name;
  HookEventKind kind;
  std::string_view text = {};  ///< The member that holds its text; may be empty.
  int timeout_s = 0;           ///< 0: read, but not asked for.
  HookAnswer answer = HookAnswer::kNoAnswer;
  /// Tools are told of in the background where the client can do that; their hooks may take longer
  /// then.
  bool in_background = false;
  /// The object that holds what is told; empty: the payload does.
  std::string_view inside = {};
  /// The tool of an event that is about one tool and has its input where others have a name.
  /// "MCP:" stands in front of the name that is told.
  std::string_view tool = {};
};

enum class HookClient : std::uint8_t {
  kClaudeCode,
  kCodex,
  kGemini,
  kCursor,
  kCopilot,
  kOpencode,
  kWindsurf,
  kQwen,
  kCline,
};

/// What is known of a client as a whole. The views are static.
struct HookClientInfo {
  std::string_view name;            ///< "claude-code": on the command line and as agent_id.
  std::string_view title;           ///< "Claude Code", for people.
  std::string_view session_prefix;  ///< "cc-": in front of the client's own session ids.
  std::string_view event_key;       ///< The member with the event; "hook_event_name" as well.
  std::string_view session_key;     ///< The member with the session; "session_id" as well.
  std::span<const HookEventRow> events;
  /// Whether its prompts are the person's words, where nothing in them says otherwise.
  bool proves_typed = false;
};

/// All of them, in the order of HookClient.
std::span<const HookClientInfo> hook_clients();
const HookClientInfo& hook_client_info(HookClient client);

/// The client of this name; nothing for any other text.
std::optional<HookClient> find_hook_client(std::string_view name);

/// Whether the client is asked to tell us when a compaction has ended.
bool has_end_of_compaction(HookClient client);

}  // namespace bmad_mem::cli
