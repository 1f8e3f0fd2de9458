#include "exchange/import/chat_export.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kTopicSizeMax = 120;

/// Seconds since 1970, with a fraction; empty for what is no time between 1970 and 9999.
std::string time_of_seconds(JsonValue seconds) {
  static constexpr double kSecondsMax = 253402300799.0;
  const double value = seconds.number(-1);
  if (!(value > 0) || value > kSecondsMax) {
    return {};
  }
  return format_rfc3339(
      Timestamp(std::chrono::milliseconds(static_cast<std::int64_t>(std::floor(value * 1000)))));
}

std::string time_of_text(JsonValue text) {
  const auto time = try_parse_rfc3339(text.string());
  return time ? format_rfc3339(*time) : "";
}

/// The text of a message: its parts, or "text" where it is code. What is no text is counted.
std::string content_text(JsonValue content, ImportSink& sink) {
  std::string out;
  const auto add = [&](std::string_view text) {
    out += out.empty() || stripped(text).empty() ? "" : "\n\n";
    out += stripped(text);
  };
  add(content["text"].string());
  for (const JsonValue part : content["parts"].elements()) {
    if (part.is_string() || part["text"].is_string()) {
      add(part.is_string() ? part.string() : part["text"].string());
    } else {
      sink.skip(kSkippedBlocks);
    }
  }
  return out;
}

/// The nodes from the root to `current`; a circle ends the walk.
std::vector<JsonValue> branch_to(JsonValue mapping, std::string_view current) {
  std::unordered_map<std::string_view, JsonValue> nodes;
  for (const JsonMember& node : mapping.members()) {
    nodes.emplace(node.key, node.value);
  }
  std::vector<JsonValue> branch;
  for (auto at = nodes.find(current); at != nodes.end() && branch.size() < nodes.size();
       at = nodes.find(at->second["parent"].string())) {
    branch.push_back(at->second);
  }
  std::ranges::reverse(branch);
  return branch;
}

}  // namespace

bool looks_like_chat_export(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && beginning[first] == '[' &&
         (beginning.contains("\"mapping\"") || beginning.contains("\"chat_messages\""));
}

ChatExportImport::ChatExportImport(ImportSink& sink, std::string file, std::string session_id,
                                   std::string_view project)
    : sink_(sink), file_(std::move(file)), session_id_(std::move(session_id)), project_(project) {}

Status ChatExportImport::take(JsonValue record, std::string_view /*text*/, std::uint64_t line) {
  if (record["mapping"].is_object()) {
    return take_chatgpt(record, line);
  }
  if (record["chat_messages"].is_array()) {
    return take_claude(record, line);
  }
  sink_.skip("elements that are no conversation");
  return {};
}

Status ChatExportImport::add(Chat& chat, JsonValue id, std::string timestamp, bool is_user,
                             std::string_view text) {
  const std::string own_id(id.string());
  chat.last_time = timestamp.empty() ? chat.last_time : std::move(timestamp);
  BMAD_TRY_ASSIGN(
      chat.last_message,
      chat.writer.add_message(
          {.id = is_usable_id(own_id) ? own_id
                                      : content_id("msg-", fmt::format("{}\n{}\n{}", chat.session,
                                                                       chat.last_message, text)),
           .session = chat.session,
           .agent = is_user ? "" : chat.agent,
           .timestamp = chat.last_time,
           .parent = chat.last_message,
           .role = is_user ? "user" : "assistant",
           .text = text,
           .topic = chat.topic,
           .line = chat.number,
           .from_agent = !is_user}));
  return {};
}

Status ChatExportImport::take_chatgpt(JsonValue conversation, std::uint64_t number) {
  std::string_view id = conversation["conversation_id"].string();
  id = id.empty() ? conversation["id"].string() : id;
  const std::string_view current = conversation["current_node"].string();
  Chat chat = {.writer = TranscriptWriter(sink_, "chatgpt", file_, "chatgpt", project_),
               .agent = "chatgpt",
               .session = session_id_.empty() ? session_id_from("chatgpt-", id) : session_id_,
               .topic = std::string(utf8_prefix(conversation["title"].string(), kTopicSizeMax)),
               .last_time = time_of_seconds(conversation["create_time"]),
               .number = number};
  const std::vector<JsonValue> branch = branch_to(conversation["mapping"], current);
  std::size_t nodes = 0;
  for ([[maybe_unused]] const JsonMember& node : conversation["mapping"].members()) {
    ++nodes;
  }
  if (nodes > branch.size()) {
    sink_.report().skipped["messages of other branches"] += nodes - branch.size();
  }
  for (const JsonValue node : branch) {
    if (node["message"].is_object()) {
      BMAD_TRY(take_chatgpt_message(chat, node["message"]));
    }
  }
  return {};
}

Status ChatExportImport::take_chatgpt_message(Chat& chat, JsonValue message) {
  const std::string_view author = message["author"]["role"].string();
  const bool is_hidden =
      message["metadata"]["is_visually_hidden_from_conversation"].boolean() || author == "system";
  const std::string text = is_hidden ? "" : content_text(message["content"], sink_);
  if (is_hidden || text.empty()) {
    sink_.skip(is_hidden ? "messages made by the program" : "messages without text");
    return {};
  }
  const std::string timestamp = time_of_seconds(message["create_time"]);
  const std::string_view recipient = message["recipient"].string();
  const bool to_tool = author == "assistant" && !recipient.empty() && recipient != "all";
  if (author == "user" || (author == "assistant" && !to_tool)) {
    return add(chat, message["id"], timestamp, author == "user", text);
  }
  const TranscriptToolEvent event = {
      .id = std::string(message["id"].string()),
      .session = chat.session,
      .agent = "chatgpt",
      .timestamp = timestamp.empty() ? chat.last_time : timestamp,
      .tool = to_tool ? recipient : message["author"]["name"].string(),
      .text = text,
      .reference = to_tool ? chat.last_message : "",
      .line = chat.number};
  return to_tool ? chat.writer.add_tool_call(event) : chat.writer.add_tool_result(event);
}

Status ChatExportImport::take_claude(JsonValue conversation, std::uint64_t number) {
  Chat chat = {.writer = TranscriptWriter(sink_, "claude.ai", file_, "claude", project_),
               .agent = "claude",
               .session = session_id_.empty()
                              ? session_id_from("claude-", conversation["uuid"].string())
                              : session_id_,
               .topic = std::string(utf8_prefix(conversation["name"].string(), kTopicSizeMax)),
               .last_time = time_of_text(conversation["created_at"]),
               .number = number};
  for (const JsonValue message : conversation["chat_messages"].elements()) {
    std::string text;
    for (const JsonValue block : message["content"].elements()) {
      if (block["type"].string() == "text" && !stripped(block["text"].string()).empty()) {
        text += text.empty() ? "" : "\n\n";
        text += stripped(block["text"].string());
      }
    }
    if (text.empty()) {
      text = stripped(message["text"].string());
    }
    if (text.empty()) {
      sink_.skip("messages without text");
      continue;
    }
    BMAD_TRY(add(chat, message["uuid"], time_of_text(message["created_at"]),
                 message["sender"].string() == "human", text));
  }
  return {};
}

}  // namespace bmad_mem::cli
