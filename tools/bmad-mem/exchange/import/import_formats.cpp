#include "exchange/import/import_formats.hpp"

#include <algorithm>
#include <vector>

#include "bmad_mem/text.hpp"
#include "exchange/import/importer.hpp"

namespace bmad_mem::cli {
namespace {

bool is_markdown(std::string_view name) { return name.ends_with(".md"); }
bool is_json(std::string_view name) { return name.ends_with(".json"); }
bool is_json_or_lines(std::string_view name) { return is_json(name) || name.ends_with(".jsonl"); }
bool is_chat_export(std::string_view name) {
  return name.starts_with("conversations") && is_json(name);
}
bool is_aider_history(std::string_view name) { return name == ".aider.chat.history.md"; }
/// Not api_conversation_history.json, which says the same without times.
bool is_cline_task(std::string_view name) {
  return name == "ui_messages.json" || name.ends_with(".messages.json");
}
bool is_claude_mem(std::string_view name) { return name == "claude-mem.db"; }
bool is_state_file(std::string_view name) { return name == "state.vscdb"; }
bool is_agent_file(std::string_view name) { return name.ends_with(".af"); }

using enum ImportFormat;

constexpr ImportRow kRows[] = {
    {kAuto, "auto", "what the file itself says", "", nullptr, nullptr, false},
    {kEntries, "entries", "entries of bmad-mem, one a line", "", &kOwnEntriesClient, nullptr,
     false},
    {kOwnExport, "export", "an export of bmad-mem", "", &kOwnExportClient, nullptr, false},
    {kGemini, "gemini", "chats of Gemini CLI", "~/.gemini/tmp/*/chats/", &kGeminiClient,
     is_json_or_lines},
    {kQwen, "qwen", "chats of Qwen Code", "~/.qwen/projects/*/chats/", &kQwenClient},
    {kClaudeCode, "claude-code", "transcripts and notes of Claude Code",
     "$CLAUDE_CONFIG_DIR or ~/.claude: projects/", &kClaudeCodeClient},
    {kCodex, "codex", "rollouts of Codex", "$CODEX_HOME or ~/.codex: sessions/, archived_sessions/",
     &kCodexClient},
    {kCodexMemories, "codex-memories", "what Codex itself remembers",
     "$CODEX_HOME or ~/.codex: memories/", nullptr, is_markdown},
    {kCopilot, "copilot", "sessions of Copilot CLI", "~/.copilot/session-state/", &kCopilotClient},
    {kAider, "aider", "the chat history of Aider", ".aider.chat.history.md of the project",
     &kAiderClient, is_aider_history},
    {kCline, "cline", "sessions of Cline 3, tasks of Cline and Roo Code",
     "~/.cline/data/sessions/, ~/.config/Code/User/globalStorage/: the extensions' tasks/",
     &kClineClient, is_cline_task},
    {kOpencode, "opencode", "a session of opencode, from `opencode export`", "", &kOpencodeClient,
     is_json},
    {kLetta, "letta", "an agent file of Letta", "", &kLettaClient, is_agent_file},
    {kClaudeMem, "claude-mem", "the database of claude-mem",
     "$CLAUDE_MEM_DATA_DIR or ~/.claude-mem: claude-mem.db", &kClaudeMemClient, is_claude_mem},
    {kCursor, "cursor", "chats of Cursor",
     "~/.config/Cursor/User/: globalStorage/ and workspaceStorage/", &kCursorClient, is_state_file},
    {kServerMemory, "server-memory", "the graph of the reference memory server",
     "$MEMORY_FILE_PATH", &kServerMemoryClient},
    {kBasicMemory, "basic-memory", "notes of basic-memory", "", nullptr, is_markdown},
    {kMarkdown, "markdown", "Markdown, a fact for each heading", "", nullptr, is_markdown},
    {kChatgpt, "chatgpt", "conversations exported by ChatGPT or Claude.ai", "", &kChatExportClient,
     is_chat_export},
    {kMem0, "mem0", "memories of mem0", "", &kMem0Client, is_json},
    {kJsonl, "jsonl", "entries or an export of bmad-mem", ""},
};

}  // namespace

std::span<const ImportRow> import_rows() { return kRows; }

const ImportRow& import_row(ImportFormat format) {
  return *std::ranges::find(kRows, format, &ImportRow::format);
}

std::optional<ImportFormat> find_import_format(std::string_view name) {
  const auto* const found = std::ranges::find(kRows, name, &ImportRow::name);
  return found == std::end(kRows) ? std::nullopt : std::optional(found->format);
}

std::string import_names(bool all) {
  std::vector<std::string_view> names;
  for (const ImportRow& row : kRows) {
    if (all || row.is_source) {
      names.push_back(row.name);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace bmad_mem::cli
