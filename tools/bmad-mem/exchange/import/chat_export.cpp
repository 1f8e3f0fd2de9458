// chat_export.cpp - conversations.json as ChatGPT and Claude.ai export it: an array of
// conversations, each a session of its own; or one conversation alone.
//
//   ChatGPT                              becomes
//   mapping, from current_node upwards   the messages of the branch that was shown last; without
//                                        current_node of the one with the newest message
//   author user                          conversation, role user
//   author assistant                     conversation, role assistant
//   author assistant, to a tool          event tool_use
//   author tool                          event tool_result
//   hidden, author system, other nodes   nothing; counted
//
//   Claude.ai
//   chat_messages, human | assistant     conversation, role user | assistant
//
// The title becomes the topic of the messages. Ids are those of the messages; a session is
// "chatgpt-" or "claude-" and the conversation's id.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "cli/json_text.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kTopicSizeMax = 120;
constexpr std::string_view kNoText = "messages without text";

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

/// The node with the newest message; without times the last one. For exports without current_node.
std::string_view newest_node(JsonValue mapping) {
  std::string_view newest;
  double time = -1;
  for (const JsonMember& node : mapping.members()) {
    const double created = node.value["message"]["create_time"].number(0);
    if (node.value["message"].is_object() && created >= time) {
      time = created;
      newest = node.key;
    }
  }
  return newest;
}

/// The nodes from the root to `current`; a circle ends the walk.
std::vector<JsonValue> branch_to(const std::unordered_map<std::string_view, JsonValue>& nodes,
                                 std::string_view current) {
  std::vector<JsonValue> branch;
  for (auto at = nodes.find(current); at != nodes.end() && branch.size() < nodes.size();
       at = nodes.find(at->second["parent"].string())) {
    branch.push_back(at->second);
  }
  std::ranges::reverse(branch);
  return branch;
}

bool looks_like_chat_export(std::string_view beginning) {
  if (beginning.starts_with("\xEF\xBB\xBF")) {
    beginning.remove_prefix(3);
  }
  const char first = first_character(beginning);
  return (first == '[' || first == '{') &&
         (beginning.contains("\"mapping\"") || beginning.contains("\"chat_messages\""));
}

class ChatExportImport final : public TranscriptImporter {
 public:
  explicit ChatExportImport(const ImportContext& context)
      : TranscriptImporter(context, "", ""), wanted_session_(session_) {}

  /// A conversation.
  Status take(JsonValue record, std::string_view /*text*/, std::uint64_t line) override {
    line_ = line;
    last_message_.clear();
    if (record["mapping"].is_object()) {
      return take_chatgpt(record);
    }
    if (record["chat_messages"].is_array()) {
      return take_claude(record);
    }
    sink_.skip("elements that are no conversation");
    return {};
  }

  /// A conversation that is the whole document comes member by member.
  Status take_member(std::string_view key, JsonValue /*value*/, std::string_view text) override {
    append_part(alone_, fmt::format("{}:{}", json_quoted(key), text), ",");
    return {};
  }

  Status finish() override {
    if (alone_.empty()) {
      return {};
    }
    JsonParser parser;
    const std::string text = fmt::format("{{{}}}", alone_);
    BMAD_TRY_ASSIGN(const JsonValue conversation, parser.parse(text));
    return take(conversation, text, 1);
  }

 private:
  void begin(std::string_view format, std::string_view agent, std::string_view id,
             std::string_view title, std::string time) {
    format_ = format;
    agent_ = agent;
    session_ = wanted_session_.empty() ? session_id_from(agent_ + "-", id) : wanted_session_;
    topic_ = utf8_prefix(title, kTopicSizeMax);
    last_time_ = std::move(time);
  }

  Status add(JsonValue id, std::string timestamp, bool is_user, std::string text) {
    last_time_ = timestamp.empty() ? last_time_ : std::move(timestamp);
    return add_next_message({.id = std::string(id.string()),
                             .timestamp = last_time_,
                             .text = std::move(text),
                             .topic = topic_,
                             .line = line_},
                            is_user, last_message_);
  }

  Status take_chatgpt(JsonValue conversation) {
    const std::string_view id = conversation["conversation_id"].string();
    begin("chatgpt", "chatgpt", id.empty() ? conversation["id"].string() : id,
          conversation["title"].string(), time_of_seconds(conversation["create_time"]));
    std::size_t count = 0;
    std::unordered_map<std::string_view, JsonValue> nodes;
    for (const JsonMember& node : conversation["mapping"].members()) {
      nodes.emplace(node.key, node.value);
      ++count;
    }
    const std::string_view current = conversation["current_node"].string();
    const std::vector<JsonValue> branch =
        branch_to(nodes, nodes.contains(current) ? current : newest_node(conversation["mapping"]));
    if (count > branch.size()) {
      sink_.skip("messages of other branches", count - branch.size());
    }
    for (const JsonValue node : branch) {
      if (node["message"].is_object()) {
        BMAD_TRY(take_chatgpt_message(node["message"]));
      }
    }
    return {};
  }

  Status take_chatgpt_message(JsonValue message) {
    const std::string_view author = message["author"]["role"].string();
    const bool is_hidden =
        author == "system" || message["metadata"]["is_visually_hidden_from_conversation"].boolean();
    std::string text = is_hidden ? "" : chatgpt_text(message["content"]);
    if (text.empty()) {
      sink_.skip(is_hidden ? kByProgram : kNoText);
      return {};
    }
    const std::string timestamp = time_of_seconds(message["create_time"]);
    const std::string_view recipient = message["recipient"].string();
    const bool to_tool = author == "assistant" && !recipient.empty() && recipient != "all";
    if (author == "user" || (author == "assistant" && !to_tool)) {
      return add(message["id"], timestamp, author == "user", std::move(text));
    }
    const TranscriptToolEvent event = {
        .id = std::string(message["id"].string()),
        .timestamp = timestamp.empty() ? last_time_ : timestamp,
        .tool = std::string(to_tool ? recipient : message["author"]["name"].string()),
        .text = std::move(text),
        .reference = to_tool ? last_message_ : "",
        .line = line_,
        .is_result = !to_tool};
    return add_tool_event(event);
  }

  /// The text of a message: its parts, or "text" where it is code. What is no text is counted.
  std::string chatgpt_text(JsonValue content) {
    std::string out(stripped(content["text"].string()));
    for (const JsonValue part : content["parts"].elements()) {
      if (part.is_string() || part["text"].is_string()) {
        append_part(out, stripped(part.is_string() ? part.string() : part["text"].string()));
      } else {
        sink_.skip(kSkippedBlocks);
      }
    }
    return out;
  }

  Status take_claude(JsonValue conversation) {
    begin("claude.ai", "claude", conversation["uuid"].string(), conversation["name"].string(),
          time_text(conversation["created_at"]));
    for (const JsonValue message : conversation["chat_messages"].elements()) {
      std::string text;
      for (const JsonValue block : message["content"].elements()) {
        if (block["type"].string() == "text") {
          append_part(text, stripped(block["text"].string()));
        }
      }
      if (text.empty()) {
        text = stripped(message["text"].string());
      }
      if (text.empty()) {
        sink_.skip(kNoText);
        continue;
      }
      BMAD_TRY(add(message["uuid"], time_text(message["created_at"]),
                   message["sender"].string() == "human", std::move(text)));
    }
    return {};
  }

  std::string wanted_session_;  ///< Where all goes; empty: each conversation by itself.
  std::string topic_;
  std::string last_time_;  ///< Of the message before: that of one which names none.
  std::string alone_;      ///< The members of a conversation that is the whole document.
  std::uint64_t line_ = 0;
};

}  // namespace

const ImportClient kChatExportClient = {.looks_like = looks_like_chat_export,
                                        .make = make_importer<ChatExportImport>,
                                        .is_document = [](std::string_view) { return true; },
                                        .records_member = "conversations"};

}  // namespace bmad_mem::cli
