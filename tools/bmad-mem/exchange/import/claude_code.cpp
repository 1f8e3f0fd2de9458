// claude_code.cpp - transcripts of Claude Code (~/.claude/projects/*/*.jsonl).
//
//   record                              becomes
//   user, text                          conversation, role user
//   assistant, text of one message.id   conversation, role assistant: its blocks joined
//   assistant, tool_use                 event tool_use: tool, path, a snippet of the input
//   user, tool_result                   event tool_result: the same, a snippet of the output
//   attachment, prompt typed meanwhile  conversation, role user
//   everything else                     nothing; counted by kind
//
// Ids are those of the transcript: the record's uuid, the tool_use's id, the same with "-result".
// So importing again adds nothing, and a transcript that has grown adds what is new. Records of
// subagents carry the subagent's name as agent_id, and its messages "metadata":{"sidechain":true}.
// A message answers the nearest message above it that was imported: the transcript's parents are
// often tool calls or progress.
#include <array>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/text.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

/// How far back a record's parent is looked for. Parents are nearly always the record before.
constexpr std::size_t kRecordsRemembered = 1U << 16U;
constexpr std::size_t kToolUsesRemembered = 1U << 12U;

/// Records without a session, for telling what a file is.
constexpr std::array<std::string_view, 6> kRecordTypes = {
    "user", "assistant", "file-history-snapshot", "progress", "queue-operation", "summary"};

bool looks_like_claude_code(std::string_view beginning) {
  JsonParser parser;
  while (!beginning.empty()) {
    const std::size_t newline = beginning.find('\n');
    const Result<JsonValue> record = parser.parse(repaired_json(beginning.substr(0, newline)));
    if (record && (*record)["sessionId"].is_string()) {
      return true;
    }
    if (record && !is_among(kRecordTypes, (*record)["type"].string())) {
      return false;
    }
    if (!record && newline == std::string_view::npos) {
      // The first part of a long record: a prompt with a screenshot.
      return beginning.contains("\"parentUuid\"") && beginning.contains("\"sessionId\"");
    }
    beginning.remove_prefix(newline == std::string_view::npos ? beginning.size() : newline + 1);
  }
  return false;
}

class ClaudeCodeImport final : public TranscriptImporter {
 public:
  explicit ClaudeCodeImport(const ImportContext& context)
      : TranscriptImporter(context, "claude-code", "claude-code"),
        stands_for_(kRecordsRemembered),
        kept_as_(kToolUsesRemembered),
        tool_uses_(kToolUsesRemembered) {
    project_.clear();  // Records tell it.
  }

  Status take(JsonValue value, std::string_view text, std::uint64_t line) override {
    const Record record = read_record(value, text, line);
    if (const std::string_view cwd = value["cwd"].string(); !cwd.empty()) {
      project_ = base_name(cwd);
    }
    const std::string_view type = value["type"].string();
    std::string stands_for = record.parent;
    if (value["isMeta"].boolean() || value["isCompactSummary"].boolean() ||
        value["isApiErrorMessage"].boolean()) {
      sink_.skip(kByProgram);
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

  /// A message may still have waited for further blocks.
  Status finish() override { return flush_message(); }

 private:
  /// What all entries of a record have in common.
  struct Record {
    JsonValue value;
    std::string_view text;
    std::uint64_t line = 0;
    std::string session = {};
    std::string agent = {};
    std::string timestamp = {};
    std::string parent = {};  ///< The nearest imported message above; may be empty.

    [[nodiscard]] bool is_sidechain() const { return value["isSidechain"].boolean(); }
    /// A message made of it.
    [[nodiscard]] TranscriptMessage message(bool is_person, std::string_view said) const {
      const std::string_view uuid = value["uuid"].string();
      return {.id = is_usable_id(uuid) ? std::string(uuid) : content_id("msg-", text),
              .session = session,
              // What a subagent is asked comes from the agent that started it.
              .agent = is_person && !is_sidechain() ? "" : agent,
              .timestamp = timestamp,
              .parent = parent,
              .role = is_person ? "user" : "assistant",
              .text = std::string(said),
              .line = line,
              .sidechain = is_sidechain()};
    }
  };
  struct ToolUse {
    std::string tool;
    std::string path;
  };

  [[nodiscard]] Record read_record(JsonValue value, std::string_view text,
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
    record.session = session_.empty() ? session_id_from("cc-", own_id) : session_;
    const std::string_view agent = value["agentId"].string();
    record.agent = agent.empty() ? agent_ : agent;
    record.timestamp = time_text(value["timestamp"]);
    return record;
  }

  Status take_user(const Record& record, std::string& stands_for) {
    const JsonValue content = record.value["message"]["content"];
    std::string text(content.string());
    for (const JsonValue block : content.elements()) {
      const std::string_view kind = block["type"].string();
      if (kind == "tool_result") {
        BMAD_TRY(take_tool_result(record, block));
      } else if (kind == "text" && !is_machine_text(block["text"].string())) {
        append_part(text, stripped(block["text"].string()));
      } else {
        sink_.skip(kind == "text" ? kByProgram : kSkippedBlocks);
      }
    }
    if (!text.empty() && !is_machine_text(text) && !record.is_sidechain()) {
      BMAD_TRY(flush_message());  // A person has answered it: no further block comes.
    }
    return take_person_text(record, text, stands_for);
  }

  Status take_attachment(const Record& record, std::string& stands_for) {
    const JsonValue attachment = record.value["attachment"];
    const std::string_view origin = attachment["origin"]["kind"].string();
    const std::string_view mode = attachment["commandMode"].string();
    if (attachment["type"].string() != "queued_command" || (!origin.empty() && origin != "human") ||
        (!mode.empty() && mode != "prompt")) {
      sink_.skip(record_reason("attachment"));
      return {};
    }
    return take_person_text(record, blocks_text(attachment["prompt"]), stands_for);
  }

  Status take_person_text(const Record& record, std::string_view text, std::string& stands_for) {
    if (is_machine_text(text)) {
      sink_.skip(kByProgram);
    } else if (!stripped(text).empty()) {
      BMAD_TRY_ASSIGN(stands_for, add(record.message(true, stripped(text))));
    }
    return {};
  }

  Status take_assistant(const Record& record, std::string& stands_for) {
    const JsonValue content = record.value["message"]["content"];
    if (content.is_string()) {
      return take_assistant_text(record, content.string(), stands_for);
    }
    for (const JsonValue block : content.elements()) {
      const std::string_view kind = block["type"].string();
      if (kind == "text") {
        BMAD_TRY(take_assistant_text(record, block["text"].string(), stands_for));
      } else if (kind == "tool_use") {
        BMAD_TRY(take_tool_use(record, block, stands_for));
      } else {
        sink_.skip(kind.ends_with("thinking") ? kThinking : "other blocks");
      }
    }
    return {};
  }

  Status take_assistant_text(const Record& record, std::string_view text, std::string& stands_for) {
    const std::string_view message_id = record.value["message"]["id"].string();
    if (message_id.empty() || message_id != message_id_) {
      BMAD_TRY(flush_message());
    }
    text = stripped(text);
    if (text.empty()) {
      return {};
    }
    if (message_.text.empty()) {
      message_ = record.message(false, text);
      message_id_ = message_id;
    } else {
      // What was imported before its last block was written is an older version of it.
      message_.may_have_grown = true;
      if (message_.text.size() < kMessageSizeMax) {
        append_part(message_.text, text);
      }
    }
    stands_for = message_.id;
    return {};
  }

  Status flush_message() {
    message_id_.clear();
    const TranscriptMessage message = std::exchange(message_, {});
    if (message.text.empty()) {
      return {};
    }
    BMAD_TRY_ASSIGN(std::string kept, add(message));
    if (kept != message.id) {
      kept_as_.set(message.id, std::move(kept));
    }
    return {};
  }

  Result<std::string> add(TranscriptMessage message) {
    if (const std::string* parent = kept_as_.find(message.parent); parent != nullptr) {
      message.parent = *parent;
    }
    return add_message(message);
  }

  Status take_tool_use(const Record& record, JsonValue block, const std::string& message) {
    const std::string own_id(block["id"].string());
    const ToolUse use{.tool = std::string(block["name"].string()),
                      .path = std::string(tool_path(block["input"]))};
    tool_uses_.set(own_id, use);
    return add_tool_event({.id = own_id,
                           .session = record.session,
                           .agent = record.agent,
                           .timestamp = record.timestamp,
                           .tool = use.tool,
                           .path = use.path,
                           .text = tool_input_text(block["input"]),
                           .reference = message,
                           .line = record.line});
  }

  Status take_tool_result(const Record& record, JsonValue block) {
    const std::string use_id(block["tool_use_id"].string());
    const ToolUse* use = tool_uses_.find(use_id);
    return add_tool_event({.id = result_id(use_id),
                           .session = record.session,
                           .agent = record.agent,
                           .timestamp = record.timestamp,
                           .tool = use != nullptr ? use->tool : "",
                           .path = use != nullptr ? use->path : "",
                           .text = blocks_text(block["content"]),
                           .reference = use_id,
                           .line = record.line,
                           .is_result = true,
                           .is_error = block["is_error"].boolean()});
  }

  /// The texts of blocks; the others are counted.
  std::string blocks_text(JsonValue content) {
    return tool_result_text(content, [&](std::string_view) { sink_.skip(kSkippedBlocks); });
  }

  TranscriptMessage message_;  ///< An assistant's, whose further blocks may still come.
  std::string message_id_;
  RecentMap<std::string> stands_for_;  ///< A record's uuid to the message that it belongs to.
  RecentMap<std::string> kept_as_;     ///< A message's id to that of what a hook recorded of it.
  RecentMap<ToolUse> tool_uses_;       ///< By id.
};

}  // namespace

const ImportClient kClaudeCodeClient = {.looks_like = looks_like_claude_code,
                                        .make = make_importer<ClaudeCodeImport>};

}  // namespace bmad_mem::cli
