#include "exchange/import/gemini.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kGeminiAgent = "gemini";
/// A tool's texts are cut when they are read: the whole chat is held, and outputs are most of it.
constexpr std::size_t kToolTextMax = 2 * kSnippetSizeMax;

std::string content_text(JsonValue content) {
  if (content.is_string()) {
    return std::string(content.string());
  }
  std::string out;
  for (const JsonValue part : content.elements()) {
    const std::string_view text = part.is_string() ? part.string() : part["text"].string();
    out += out.empty() || text.empty() ? "" : "\n";
    out += text;
  }
  return out;
}

/// What a tool gave back: parts with {functionResponse:{response:{output | error}}}, or a text.
std::string result_text(JsonValue result) {
  std::string out = content_text(result);
  for (const JsonValue part : result.elements()) {
    const JsonValue response = part["functionResponse"]["response"];
    const std::string_view output = response["output"].string();
    const std::string text = output.empty() ? tool_input_text(response) : std::string(output);
    out += out.empty() || text.empty() ? "" : "\n";
    out += text;
  }
  return out;
}

}  // namespace

bool looks_like_gemini(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  const std::string_view front = beginning.substr(0, 4096);
  return first != std::string_view::npos && beginning[first] == '{' &&
         front.contains("\"sessionId\"") && front.contains("\"projectHash\"");
}

GeminiImport::GeminiImport(ImportSink& sink, const std::string& file, const std::string& session_id,
                           std::string_view project)
    : sink_(sink),
      writer_(sink, "gemini", file, kGeminiAgent, project),
      session_(session_id.empty() ? session_id_from("gemini-", base_name(file).substr(
                                                                   0, base_name(file).rfind('.')))
                                  : session_id),
      has_session_(!session_id.empty()) {}

Status GeminiImport::take_member(std::string_view key, JsonValue value) {
  if (key == "sessionId" && value.is_string() && !has_session_) {
    session_ = session_id_from("gemini-", value.string());
    has_session_ = true;
  }
  return {};
}

Status GeminiImport::take(JsonValue record, std::string_view /*text*/, std::uint64_t line) {
  if (const JsonValue change = record["$set"]; change.is_object()) {
    BMAD_TRY(take_member("sessionId", change["sessionId"]));
    if (change["messages"].is_array()) {
      messages_.clear();
      for (const JsonValue message : change["messages"].elements()) {
        take_message(message, line);
      }
    }
    return {};
  }
  if (record["$rewindTo"].present()) {
    rewind_to(record["$rewindTo"].string());
    return {};
  }
  if (record["sessionId"].is_string()) {
    BMAD_TRY(take_member("sessionId", record["sessionId"]));
    for (const JsonValue message : record["messages"].elements()) {
      take_message(message, line);
    }
    return {};
  }
  take_message(record, line);
  return {};
}

void GeminiImport::rewind_to(std::string_view id) {
  const auto found = std::ranges::find(messages_, id, &Message::id);
  messages_.erase(found == messages_.end() ? messages_.begin() : found, messages_.end());
}

GeminiImport::ToolCall GeminiImport::read_call(JsonValue call, const std::string& timestamp) {
  const auto time = try_parse_rfc3339(call["timestamp"].string());
  const std::string_view status = call["status"].string();
  ToolCall read = {.id = std::string(call["id"].string()),
                   .timestamp = time ? format_rfc3339(*time) : timestamp,
                   .tool = std::string(call["name"].string()),
                   .path = std::string(tool_path(call["args"])),
                   .has_output = call["result"].is_array() || call["result"].is_string(),
                   .is_error = status == "error" || status == "cancelled"};
  const std::string input = tool_input_text(call["args"]);
  const std::string output = result_text(call["result"]);
  read.input = utf8_prefix(input, kToolTextMax);
  read.output = utf8_prefix(stripped(output), kToolTextMax);
  read.output_size = stripped(output).size();
  return read;
}

void GeminiImport::take_message(JsonValue value, std::uint64_t line) {
  Message message = {.id = std::string(value["id"].string()),
                     .type = std::string(value["type"].string()),
                     .text = content_text(value["content"]),
                     .line = line};
  if (message.type.empty()) {
    sink_.skip("other records");
    return;
  }
  if (const auto time = try_parse_rfc3339(value["timestamp"].string())) {
    message.timestamp = format_rfc3339(*time);
  }
  for ([[maybe_unused]] const JsonValue thought : value["thoughts"].elements()) {
    ++message.thoughts;
  }
  for (const JsonValue call : value["toolCalls"].elements()) {
    message.calls.push_back(read_call(call, message.timestamp));
  }
  // Messages are replaced while they grow, so the one in question is nearly always the last.
  const auto found = std::find_if(messages_.rbegin(), messages_.rend(), [&](const Message& other) {
    return !message.id.empty() && other.id == message.id;
  });
  if (found != messages_.rend()) {
    *found = std::move(message);
  } else {
    messages_.push_back(std::move(message));
  }
}

Status GeminiImport::put(const Message& message) {
  if (message.thoughts != 0) {
    sink_.report().skipped["thinking blocks"] += message.thoughts;
  }
  if (message.type != "user" && message.type != "gemini") {
    sink_.skip(record_reason(message.type));
    return {};
  }
  const bool is_user = message.type == "user";
  if (!stripped(message.text).empty()) {
    BMAD_TRY_ASSIGN(last_message_,
                    writer_.add_message(
                        {.id = is_usable_id(message.id)
                                   ? message.id
                                   : content_id("msg-", fmt::format("{}\n{}\n{}", session_,
                                                                    message.line, message.text)),
                         .session = session_,
                         .agent = is_user ? "" : std::string(kGeminiAgent),
                         .timestamp = message.timestamp,
                         .parent = last_message_,
                         .role = is_user ? "user" : "assistant",
                         .text = stripped(message.text),
                         .line = message.line,
                         .from_agent = !is_user,
                         .may_have_grown = !is_user}));
  }
  return put_calls(message, last_message_);
}

Status GeminiImport::put_calls(const Message& message, const std::string& belongs_to) {
  for (const ToolCall& call : message.calls) {
    BMAD_TRY(writer_.add_tool_call({.id = call.id,
                                    .session = session_,
                                    .agent = std::string(kGeminiAgent),
                                    .timestamp = call.timestamp,
                                    .tool = call.tool,
                                    .path = call.path,
                                    .text = call.input,
                                    .reference = belongs_to,
                                    .line = message.line}));
    if (!call.has_output) {
      continue;
    }
    BMAD_TRY(writer_.add_tool_result({.id = call.id.empty() ? "" : call.id + "-result",
                                      .session = session_,
                                      .agent = std::string(kGeminiAgent),
                                      .timestamp = call.timestamp,
                                      .tool = call.tool,
                                      .path = call.path,
                                      .text = call.output,
                                      .reference = call.id,
                                      .line = message.line,
                                      .is_error = call.is_error,
                                      .size = call.output_size}));
  }
  return {};
}

Status GeminiImport::finish() {
  for (const Message& message : std::exchange(messages_, {})) {
    BMAD_TRY(put(message));
  }
  return {};
}

}  // namespace bmad_mem::cli
