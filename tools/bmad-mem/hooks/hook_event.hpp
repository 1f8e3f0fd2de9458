// hook_event.hpp - what a client tells its hooks, in one shape for all clients.
//
//   Claude Code, Codex   UserPromptSubmit ──┐
//   Gemini CLI           BeforeAgent ───────┼──> kPrompt       (clients/NAME/client.toml)
//   Cursor               beforeSubmitPrompt ┘
//
// Everything else is kNothing: events we don't know, and those that say what another one says too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json.hpp"
#include "clients/client_facts.hpp"

namespace bmad_mem::cli {

/// A tool that is called, and what it said when it was.
struct HookToolCall {
  std::string name;
  std::string id;    ///< The client's; empty where it gives none.
  std::string path;  ///< The file it is about; may be empty.
  std::string command;
  std::string input;               ///< A snippet, or a short diff of an edit.
  std::string output;              ///< A snippet.
  std::uint64_t output_bytes = 0;  ///< Of the whole output.
  bool failed = false;
};

struct HookEvent {
  const ClientFacts* client = nullptr;  ///< Never null.
  HookEventKind kind = HookEventKind::kNothing;
  HookAnswer answer = HookAnswer::kNoAnswer;
  std::string name;                  ///< As the client calls it.
  std::string session_id;            ///< Ours: "cc-18a6…". Empty when the client names none.
  std::string transcript;            ///< Of Cline 3: the name of its file; else empty.
  std::vector<std::string> folders;  ///< Absolute: where the agent works, the likeliest first.
  std::string turn;                  ///< What the client calls the turn; may be empty.
  std::string source;                ///< Why a session starts: "startup", "resume", "compact" …
  /// The prompt, the message, the summary of a compaction; of the first tool after a prompt that no
  /// event has, that prompt.
  std::string text;
  bool is_typed = false;         ///< The client proves that the person typed it.
  bool is_machine_text = false;  ///< The prompt was written by the client, not by a person.
  bool is_continued = false;     ///< The agent goes on because a hook at its end asked it to.
  bool is_sidechain = false;     ///< It happened in a sub-agent.
  std::string agent;             ///< The sub-agent's name, such as "general-purpose".
  std::string agent_instance;    ///< The client's id of this sub-agent.
  HookToolCall tool;
};

/// The event in `payload`, an object. Texts are cut to what is kept of them, and what we injected
/// ourselves is taken out.
HookEvent read_hook_event(const ClientFacts& client, JsonValue payload);

/// The tool's call that `told` tells of, the object that the event's row names; with snippets of at
/// most kSnippetSizeMax bytes.
HookToolCall read_tool_call(const HookEventRow& row, JsonValue told);

/// Whether the call is one of ours: of a tool of our MCP server, of our own files, or of bmad-mem
/// itself. What the memory says is not remembered again.
bool is_own_tool_call(const HookToolCall& call);

// What each client wants to read on a hook's stdout.

/// Whether the client takes a text for the model at this event.
bool takes_context(const HookEvent& event);

/// The answer that hands `context` to the model, and shows `for_person` where the client has a
/// place for that; empty when there is nothing to say.
std::string hook_answer(const HookEvent& event, std::string_view context,
                        std::string_view for_person = {});

}  // namespace bmad_mem::cli
