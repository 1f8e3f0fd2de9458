// claude_code_tools.cpp - what a transcript says of tools: calls and results as events.
#include <utility>

#include "exchange/import/claude_code.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {

Status ClaudeCodeImport::take_tool_use(const Record& record, JsonValue block,
                                       const std::string& message) {
  const std::string own_id(block["id"].string());
  const std::string_view path = tool_path(block["input"]);
  const std::string text = tool_input_text(block["input"]);
  tool_uses_.set(own_id, {.tool = std::string(block["name"].string()), .path = std::string(path)});
  return writer_.add_tool_call({.id = own_id,
                                .session = record.session,
                                .agent = record.agent,
                                .timestamp = record.timestamp,
                                .tool = block["name"].string(),
                                .path = path,
                                .text = text,
                                .reference = message,
                                .line = record.line});
}

Status ClaudeCodeImport::take_tool_result(const Record& record, JsonValue block) {
  const std::string use_id(block["tool_use_id"].string());
  const ToolUse* use = tool_uses_.find(use_id);
  const std::string text =
      tool_result_text(block["content"], [&](std::string_view) { sink_.skip(kSkippedBlocks); });
  return writer_.add_tool_result({.id = use_id.empty() ? "" : use_id + "-result",
                                  .session = record.session,
                                  .agent = record.agent,
                                  .timestamp = record.timestamp,
                                  .tool = use != nullptr ? std::string_view(use->tool) : "",
                                  .path = use != nullptr ? std::string_view(use->path) : "",
                                  .text = text,
                                  .reference = use_id,
                                  .line = record.line,
                                  .is_error = block["is_error"].boolean()});
}

}  // namespace bmad_mem::cli
