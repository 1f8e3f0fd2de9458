#include "exchange/import/claude_code.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/json_repair.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kMainAgent = "claude-code";
/// How far back a record's parent is looked for. Parents are nearly always the record before.
constexpr std::size_t kRecordsRemembered = 1U << 16U;
constexpr std::size_t kToolUsesRemembered = 1U << 12U;

/// Records of a transcript that are no user or assistant record, for telling what a file is.
constexpr std::array<std::string_view, 6> kRecordTypes = {
    "user", "assistant", "file-history-snapshot", "progress", "queue-operation", "summary"};

}  // namespace

bool looks_like_claude_code(std::string_view beginning) {
  JsonParser parser;
  while (!beginning.empty()) {
    const std::size_t newline = beginning.find('\n');
    const Result<JsonValue> record = parser.parse(repaired_json(beginning.substr(0, newline)));
    if (record && (*record)["sessionId"].is_string()) {
      return true;
    }
    if (record &&
        std::ranges::find(kRecordTypes, (*record)["type"].string()) == kRecordTypes.end()) {
      return false;
    }
    beginning.remove_prefix(newline == std::string_view::npos ? beginning.size() : newline + 1);
  }
  return false;
}

ClaudeCodeImport::ClaudeCodeImport(ImportSink& sink, const std::string& file,
                                   std::string session_id)
    : sink_(sink),
      file_(file),
      session_id_(std::move(session_id)),
      writer_(sink, kMainAgent, file, kMainAgent, ""),
      stands_for_(kRecordsRemembered),
      kept_as_(kToolUsesRemembered),
      tool_uses_(kToolUsesRemembered) {}

ClaudeCodeImport::Record ClaudeCodeImport::read_record(JsonValue value, std::string_view text,
                                                       std::uint64_t line) const {
  Record record{.value = value, .text = text, .line = line};
  for (const std::string_view key : {"parentUuid", "logicalParentUuid"}) {
    const std::string_view parent = value[key].string();
    if (!parent.empty() && record.parent.empty()) {
      const std::string* message = stands_for_.find(parent);
      record.parent = message != nullptr ? *message : is_usable_id(parent) ? parent : "";
    }
  }
  const std::string_view type = value["type"].string();
  if (type != "user" && type != "assistant" && type != "attachment") {
    return record;  // Nine of ten records: only what lies above them matters.
  }
  std::string_view own_id = value["sessionId"].string();
  if (own_id.empty()) {
    own_id = base_name(file_).substr(0, base_name(file_).rfind(".jsonl"));
  }
  record.session = session_id_.empty() ? session_id_from("cc-", own_id) : session_id_;
  const std::string_view agent = value["agentId"].string();
  record.agent = agent.empty() ? kMainAgent : agent;
  if (const auto time = try_parse_rfc3339(value["timestamp"].string())) {
    record.timestamp = format_rfc3339(*time);
  }
  return record;
}

Status ClaudeCodeImport::take(JsonValue value, std::string_view text, std::uint64_t line) {
  const Record record = read_record(value, text, line);
  if (const std::string_view cwd = value["cwd"].string(); !cwd.empty()) {
    writer_.set_folder(cwd);
  }
  const std::string_view type = value["type"].string();
  std::string stands_for = record.parent;
  if (value["isMeta"].boolean() || value["isCompactSummary"].boolean() ||
      value["isApiErrorMessage"].boolean()) {
    sink_.skip("messages made by the program");
  } else if (type == "user") {
    BMAD_TRY(take_user(record, stands_for));
  } else if (type == "assistant") {
    BMAD_TRY(take_assistant(record, stands_for));
  } else if (type == "attachment") {
    BMAD_TRY(take_attachment(record, stands_for));
  } else {
    sink_.skip(record_reason(type));
  }
  if (const std::string_view uuid = value["uuid"].string(); !uuid.empty()) {
    stands_for_.set(uuid, std::move(stands_for));
  }
  return {};
}

Status ClaudeCodeImport::take_user(const Record& record, std::string& stands_for) {
  const JsonValue content = record.value["message"]["content"];
  std::string text(content.string());
  for (const JsonValue block : content.elements()) {
    const std::string_view kind = block["type"].string();
    if (kind == "tool_result") {
      BMAD_TRY(take_tool_result(record, block));
    } else if (kind == "text" && !is_machine_text(block["text"].string())) {
      text += text.empty() ? "" : "\n\n";
      text += stripped(block["text"].string());
    } else {
      sink_.skip(kind == "text" ? "messages made by the program" : kSkippedBlocks);
    }
  }
  if (is_machine_text(text)) {
    sink_.skip("messages made by the program");
    return {};
  }
  if (!text.empty() && !record.value["isSidechain"].boolean()) {
    BMAD_TRY(flush_message());  // A person has answered it: no further block comes.
  }
  return take_person_text(record, text, stands_for);
}

Status ClaudeCodeImport::take_attachment(const Record& record, std::string& stands_for) {
  const JsonValue attachment = record.value["attachment"];
  const std::string_view origin = attachment["origin"]["kind"].string();
  const std::string_view mode = attachment["commandMode"].string();
  if (attachment["type"].string() != "queued_command" || (!origin.empty() && origin != "human") ||
      (!mode.empty() && mode != "prompt")) {
    sink_.skip(record_reason("attachment"));
    return {};
  }
  const std::string text =
      tool_result_text(attachment["prompt"], [&](std::string_view) { sink_.skip(kSkippedBlocks); });
  if (is_machine_text(text)) {
    sink_.skip("messages made by the program");
    return {};
  }
  return take_person_text(record, text, stands_for);
}

Status ClaudeCodeImport::take_person_text(const Record& record, const std::string& text,
                                          std::string& stands_for) {
  if (stripped(text).empty()) {
    return {};
  }
  const std::string_view uuid = record.value["uuid"].string();
  const Message message = {
      .id = is_usable_id(uuid) ? std::string(uuid) : content_id("msg-", record.text),
      .session = record.session,
      // What a subagent is asked comes from the agent that started it.
      .agent = record.value["isSidechain"].boolean() ? record.agent : "",
      .timestamp = record.timestamp,
      .parent = record.parent,
      .text = std::string(stripped(text)),
      .line = record.line,
      .blocks = 1,
      .sidechain = record.value["isSidechain"].boolean()};
  BMAD_TRY_ASSIGN(stands_for, add_message(message, "user"));
  return {};
}

Status ClaudeCodeImport::take_assistant(const Record& record, std::string& stands_for) {
  if (record.value["message"]["content"].is_string()) {
    return take_assistant_text(record, record.value["message"]["content"].string(), stands_for);
  }
  for (const JsonValue block : record.value["message"]["content"].elements()) {
    const std::string_view kind = block["type"].string();
    if (kind == "text") {
      BMAD_TRY(take_assistant_text(record, block["text"].string(), stands_for));
    } else if (kind == "tool_use") {
      BMAD_TRY(take_tool_use(record, block, stands_for));
    } else {
      sink_.skip(kind == "thinking" || kind == "redacted_thinking" ? "thinking blocks"
                                                                   : "other blocks");
    }
  }
  return {};
}

Status ClaudeCodeImport::take_assistant_text(const Record& record, std::string_view text,
                                             std::string& stands_for) {
  const std::string_view message_id = record.value["message"]["id"].string();
  if (message_.blocks > 0 && (message_id.empty() || message_id != message_.message_id)) {
    BMAD_TRY(flush_message());
  }
  text = stripped(text);
  if (text.empty()) {
    return {};
  }
  if (message_.blocks == 0) {
    const std::string_view uuid = record.value["uuid"].string();
    message_ = {.message_id = std::string(message_id),
                .id = is_usable_id(uuid) ? std::string(uuid) : content_id("msg-", record.text),
                .session = record.session,
                .agent = record.agent,
                .timestamp = record.timestamp,
                .parent = record.parent,
                .line = record.line,
                .sidechain = record.value["isSidechain"].boolean()};
  }
  if (message_.text.size() < kMessageSizeMax) {
    message_.text += message_.text.empty() ? "" : "\n\n";
    message_.text += text;
  }
  ++message_.blocks;
  stands_for = message_.id;
  return {};
}

Status ClaudeCodeImport::flush_message() {
  const Message message = std::exchange(message_, {});
  if (message.blocks == 0) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::string kept, add_message(message, "assistant"));
  if (kept != message.id) {
    kept_as_.set(message.id, kept);
  }
  return {};
}

Status ClaudeCodeImport::finish() { return flush_message(); }

Result<std::string> ClaudeCodeImport::add_message(const Message& message, std::string_view role) {
  const std::string* parent = kept_as_.find(message.parent);
  return writer_.add_message(
      {.id = message.id,
       .session = message.session,
       .agent = message.agent,
       .timestamp = message.timestamp,
       .parent = parent != nullptr ? *parent : message.parent,
       .role = role,
       .text = message.text,
       .line = message.line,
       // A subagent's prompt has the role of a user, but an agent wrote it.
       .from_agent = role == "assistant" || !message.agent.empty(),
       .sidechain = message.sidechain,
       // What was imported before its last block was written is an older version of it.
       .may_have_grown = message.blocks > 1});
}

}  // namespace bmad_mem::cli
