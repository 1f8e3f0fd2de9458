// client_facts.hpp - facts about the clients: a file each, clients/NAME/client.toml. The build
// makes constants of it (cmake/embed_clients.cmake), since a hook has no time to read.
//
//   events           hooks/     what a client sends, and how context goes in
//   places           install/   where its hooks and our server are written
//   steps, trusted              what the user must still do
//   tried, how                  the version that the file describes, and where that was seen
//
// The words of the files are the members below, and values of enumerations: "session_start" is
// kSessionStart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

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

/// How a text for the model is printed at an event.
enum class HookAnswer : std::uint8_t {
  kNoAnswer,      ///< The client ignores what is printed then, or complains.
  kText,          ///< As it is.
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
  HookEventKind kind = HookEventKind::kNothing;
  std::string_view text;   ///< The member that holds its text; may be empty.
  std::string_view until;  ///< In a prompt what the client added begins so; empty: it adds nothing.
  int timeout_s = 0;       ///< 0: read, but not asked for.
  HookAnswer answer = HookAnswer::kNoAnswer;
  /// Tools are reported in the background where the client can do that; their hooks may take longer
  /// then.
  bool in_background = false;
  /// The object that holds the event's members; empty: the payload does.
  std::string_view inside;
  /// The tool of an event that is about one tool and has its input where others have a name.
  /// "MCP:" is put in front of the name.
  std::string_view tool;
};

/// What in a file is ours.
enum class SettingsPart : std::uint8_t {
  kGroupedHooks,  ///< {"hooks": {EVENT: [{"hooks": [{"type": "command", "command": …}]}]}}
  kFlatHooks,     ///< {"hooks": {EVENT: [{"command": …}]}}
  kHookScripts,   ///< A program of the event's name in a folder; all of it is ours.
  kPlugin,        ///< A file of JavaScript; all of it is ours.
  kJsonServer,    ///< {"mcpServers": {"bmad-mem": {"command": …, "args": ["mcp"]}}}
  kTomlServer,    ///< [mcp_servers.bmad-mem]
  kRules,         ///< Instructions for the model; all of it is ours.
};

/// A part and the file in which it stands.
struct SettingsPlace {
  SettingsPart part = SettingsPart::kGroupedHooks;
  std::string_view in_project;  ///< Below the project's folder; empty: the user's file alone.
  std::string_view variable;    ///< Names the folder of the user's file where it is set …
  std::string_view in_home;     ///< … else that is this one below the user's home …
  std::string_view on_macos;    ///< … on macOS this one.
  std::string_view in_folder;   ///< The user's file in that folder; empty: the project's alone.
  bool is_shared = false;       ///< The folder in_home has things of other programs, too.
  bool may_be_jsonc = false;    ///< "FILE.jsonc" is read where there is no "FILE.json".
};

/// How a hook is written.
struct HookShape {
  bool has_name = false;
  bool has_type = true;
  std::string_view command_key = "command";
  std::string_view timeout_key = "timeout";  ///< Empty: the client has none.
  int timeouts_in_s = 1;                     ///< How many of its units a second has.
  bool has_version = false;                  ///< "version": 1 stands beside "hooks".
  std::string_view project = ".";            ///< The project's folder, as a shell has it then.
};

/// How a server is written.
struct ServerShape {
  std::string_view key = "mcpServers";  ///< The member that holds the servers.
  std::string_view type = {};           ///< Empty: none is written.
  bool is_one_list = false;             ///< "command" is a list with the arguments.
  std::string_view more_name = {};      ///< A member that the client wants as well …
  std::string_view more_json = {};      ///< … and its value.
  std::string_view project = ".";       ///< The project's folder, as the client replaces it.
};

/// The file in which a client notes the folders that it trusts. It reads nothing of a project that
/// lies in none of them.
struct TrustList {
  SettingsPlace place;    ///< Of the user; in_project and part say nothing.
  std::string_view key;   ///< The list of folders.
  std::string_view step;  ///< How a folder comes in.
};

/// A client. All views are static.
struct ClientFacts {
  std::string_view name;     ///< "claude-code": on the command line and as agent_id. Of its folder.
  std::string_view title;    ///< "Claude Code", for people.
  std::string_view program;  ///< "claude": what starts it, by name.
  std::span<const std::string_view> aliases;  ///< Other names, such as a former or later one.
  std::string_view tried;  ///< "2.1.332"; of documents without a version their month.
  std::string_view how;    ///< "shipped program", "real file" or "documents"
  /// In front of the client's own session ids: "cc-". It is part of ids that are stored, so it
  /// never changes.
  std::string_view session_prefix;
  std::string_view event_key = "hook_event_name";  ///< The member with the event; that one as well.
  std::string_view session_key = "session_id";     ///< The member with the session; so here.
  /// Whether its prompts are the person's words, where nothing in them says otherwise.
  bool proves_typed = false;
  std::span<const HookEventRow> events;  ///< None: it has no hooks.
  std::span<const SettingsPlace> places;
  /// What the user must still do, in sentences.
  std::span<const std::string_view> steps;
  std::span<const std::string_view> steps_in_project;  ///< Instead of `steps`.
  std::span<const std::string_view> steps_for_user;
  std::string_view
      rules;  ///< How the model can ask, where hooks print nothing for it: what kRules holds.
  HookShape hook;
  ServerShape server;
  std::optional<TrustList> trusted;  ///< Nothing: it has none that we know.

  [[nodiscard]] bool has_hooks() const { return !events.empty(); }
  /// The event of this kind that `install` asks for; null where it asks for none.
  [[nodiscard]] const HookEventRow* asked(HookEventKind kind) const;
};

/// In the order in which they are offered.
std::span<const ClientFacts> all_clients();

/// The client of this name or alias; null for any other text.
const ClientFacts* find_client(std::string_view name);

/// The names of all of them, or of those whose hooks call us.
std::vector<std::string_view> client_names(bool with_hooks = false);

}  // namespace bmad_mem::cli
