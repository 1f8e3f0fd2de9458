// cursor.cpp - chats of Cursor, from its databases state.vscdb.
//
//   key                                becomes
//   cursorDiskKV composerData:ID       a session cursor-ID; its name is the title
//     conversation[] (older)           its messages
//     fullConversationHeadersOnly[]    the order of its messages
//   cursorDiskKV bubbleId:ID:MESSAGE   type 1: role user; type 2: role assistant;
//                                      toolFormerData: events tool_use, tool_result
//   ItemTable …aichat.chatdata (older) a session for each tab
//
// Cursor publishes no format: this is what its versions since 2024 write. A message without a time
// has that of its chat. Which chats were made in which project is in the database of the workspace:
// ItemTable composer.composerData.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/text.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/database.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr const char* kChats =
    "SELECT key, value FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' "
    "ORDER BY key";
constexpr const char* kBubbles =
    "SELECT key, value FROM cursorDiskKV WHERE key >= ?1 AND key < ?2 ORDER BY rowid";
constexpr const char* kItem = "SELECT key, value FROM ItemTable WHERE key = ?1";
/// The messages of one chat, which are in memory together.
constexpr std::size_t kChatSizeMax = std::size_t{256} << 20;
constexpr std::string_view kOldChats = "workbench.panel.aichat.view.aichat.chatdata";

bool looks_like_cursor(std::string_view beginning) {
  return is_database(beginning) &&
         (beginning.contains("cursorDiskKV") || beginning.contains("ItemTable"));
}

/// Milliseconds since 1970 or RFC 3339, as we write times; empty for neither.
std::string moment(JsonValue value) {
  if (value.is_string()) {
    return time_text(value);
  }
  constexpr double kLastMs = 253402300799999;  // In the year 9999.
  const double number = value.number();
  if (!(number >= 1 && number <= kLastMs)) {
    return {};
  }
  const auto ms = static_cast<std::int64_t>(number);
  return format_rfc3339(Timestamp(std::chrono::milliseconds(ms)));
}

class CursorImport final : public TranscriptImporter {
 public:
  CursorImport(const ImportContext& context, const Database& database)
      : TranscriptImporter(context, "cursor", "cursor"),
        database_(database),
        wanted_session_(session_),
        only_(context.only) {
    if (only_.empty()) {
      project_.clear();  // The common database has the chats of all projects.
    }
  }

  Status run() {
    BMAD_TRY_ASSIGN(const bool has_chats, database_.has_table("cursorDiskKV"));
    if (has_chats) {
      BMAD_TRY(database_.rows(kChats, {}, [&](JsonValue row, std::uint64_t number) {
        return take_chat(row["value"].string(), number);
      }));
    }
    BMAD_TRY_ASSIGN(const bool has_items, database_.has_table("ItemTable"));
    return has_items ? database_.rows(kItem, {std::string(kOldChats)},
                                      [&](JsonValue row, std::uint64_t number) {
                                        return take_old_chats(row["value"].string(), number);
                                      })
                     : Status();
  }

  /// Rows come from the database; there are no records.
  Status take(JsonValue /*record*/, std::string_view /*text*/, std::uint64_t /*line*/) override {
    return {};
  }

 private:
  /// Begins a chat. Its session is made with its first message.
  void begin(std::string_view id, std::string_view name, std::string time) {
    session_ = wanted_session_.empty() ? session_id_from("cursor-", id) : wanted_session_;
    title_ = wanted_session_.empty() ? std::string(stripped(name)) : std::string();
    time_ = std::move(time);
    last_message_.clear();
    number_ = 0;
  }

  Status need_session(const std::string& session) override {
    return sink_.has_session(session) ? Status()
                                      : sink_.need_session({.session_id = session,
                                                            .agent_ids = {agent_},
                                                            .project_name = project_,
                                                            .session_type = format_,
                                                            .tags = {"imported"},
                                                            .title = title_});
  }

  Status take_chat(std::string_view text, std::uint64_t number) {
    JsonParser parser;
    const Result<JsonValue> chat = parser.parse(text);
    if (!chat || !chat->is_object()) {
      sink_.skip("unreadable chats", text.empty() ? 0 : 1);
      return {};
    }
    const std::string id((*chat)["composerId"].string());
    if (!only_.empty() && std::ranges::find(only_, id) == only_.end()) {
      return {};  // Of another project, which was told.
    }
    begin(id, (*chat)["name"].string(), moment((*chat)["createdAt"]));
    for (const JsonValue bubble : (*chat)["conversation"].elements()) {
      BMAD_TRY(take_bubble(bubble, number));
    }
    std::vector<std::string> order;
    for (const JsonValue head : (*chat)["fullConversationHeadersOnly"].elements()) {
      order.emplace_back(head["bubbleId"].string());
    }
    return order.empty() ? Status() : take_bubbles(id, order, number);
  }

  /// Messages that are rows of their own, in the order of the chat.
  Status take_bubbles(const std::string& chat, const std::vector<std::string>& order,
                      std::uint64_t number) {
    std::map<std::string, std::string, std::less<>> texts;
    const std::string prefix = fmt::format("bubbleId:{}:", chat);
    const std::string end = fmt::format("bubbleId:{};", chat);  // ';' follows ':'.
    std::size_t size = 0;
    BMAD_TRY(database_.rows(kBubbles, {prefix, end}, [&](JsonValue row, std::uint64_t) {
      const std::string_view value = row["value"].string();
      if (size + value.size() > kChatSizeMax) {
        sink_.skip("messages of chats larger than 256 MiB");
        return Status();
      }
      size += value.size();
      texts[std::string(row["key"].string().substr(prefix.size()))] = value;
      return Status();
    }));
    JsonParser parser;
    for (const std::string& id : order) {
      const auto text = texts.extract(id);  // Once: a damaged order may name it many times.
      const Result<JsonValue> bubble =
          text.empty() ? Result<JsonValue>(Error{}) : parser.parse(text.mapped());
      if (bubble) {
        BMAD_TRY(take_bubble(*bubble, number));
      } else {
        sink_.skip(text.empty() ? "messages that are not in the database" : "unreadable messages");
      }
    }
    return {};
  }

  Status take_bubble(JsonValue bubble, std::uint64_t number) {
    constexpr std::int64_t kOfUser = 1;
    const bool is_user = bubble["type"].integer() == kOfUser || bubble["type"].string() == "user";
    std::string text(stripped(bubble["text"].string()));
    if (text.empty()) {
      text = stripped(bubble["rawText"].string());
    }
    const std::string time = time_of(bubble);
    const JsonValue call = bubble["toolFormerData"];
    ++number_;
    if (text.empty() && !call.is_object()) {
      const bool thinks = !bubble["thinking"]["text"].string().empty();
      sink_.skip(thinks ? kThinking : std::string_view("messages without text"));
      return {};
    }
    if (!text.empty()) {
      BMAD_TRY(add_next_message({.id = std::string(bubble["bubbleId"].string()),
                                 .timestamp = time,
                                 .text = std::move(text),
                                 .line = number},
                                is_user, std::to_string(number_)));
    }
    return call.is_object() ? take_call(call, bubble["bubbleId"].string(), time, number) : Status();
  }

  /// A call of a tool, and its result where it is there.
  Status take_call(JsonValue call, std::string_view bubble, const std::string& time,
                   std::uint64_t number) {
    const std::string tool(call["name"].string());
    if (tool.empty()) {
      sink_.skip("calls without a name");
      return {};
    }
    std::string id(call["toolCallId"].string());
    id = is_usable_id(id) ? id : std::string(bubble) + "-call";
    const std::string_view input =
        call["params"].string().empty() ? call["rawArgs"].string() : call["params"].string();
    JsonParser parser;
    const Result<JsonValue> arguments = parser.parse(input);
    const bool is_object = arguments && arguments->is_object();
    BMAD_TRY(add_tool_event({.id = id,
                             .timestamp = time,
                             .tool = tool,
                             .path = is_object ? std::string(tool_path(*arguments)) : std::string(),
                             .text = is_object ? tool_input_text(*arguments) : std::string(input),
                             .reference = last_message_,
                             .line = number}));
    const std::string_view result = stripped(call["result"].string());
    if (result.empty()) {
      return {};
    }
    return add_tool_event({.id = result_id(id),
                           .timestamp = time,
                           .tool = tool,
                           .text = std::string(result),
                           .reference = id,
                           .line = number,
                           .is_result = true,
                           .is_error = call["status"].string() == "error"});
  }

  /// When a message was written; else its chat.
  [[nodiscard]] std::string time_of(JsonValue bubble) const {
    std::string time = moment(bubble["createdAt"]);
    if (time.empty()) {
      time = moment(bubble["timingInfo"]["clientStartTime"]);
    }
    return time.empty() ? time_ : time;
  }

  Status take_old_chats(std::string_view text, std::uint64_t number) {
    JsonParser parser;
    const Result<JsonValue> data = parser.parse(text);
    if (!data) {
      sink_.skip("unreadable chats");
      return {};
    }
    for (const JsonValue tab : (*data)["tabs"].elements()) {
      begin(tab["tabId"].string(), tab["chatTitle"].string(), moment(tab["lastSendTime"]));
      for (const JsonValue bubble : tab["bubbles"].elements()) {
        BMAD_TRY(take_bubble(bubble, number));
      }
    }
    return {};
  }

  const Database& database_;
  std::string wanted_session_;
  const std::vector<std::string>& only_;
  std::string title_;  ///< Of the chat; so the time.
  std::string time_;
  std::uint64_t number_ = 0;  ///< Of the message in it.
};

Status read_cursor(const ImportContext& context, const Database& database) {
  return CursorImport(context, database).run();
}

}  // namespace

Result<std::vector<std::string>> cursor_chats_of(const std::string& workspace_database) {
  BMAD_TRY_ASSIGN(const Database database, Database::open(workspace_database));
  std::vector<std::string> ids;
  BMAD_TRY_ASSIGN(const bool has_items, database.has_table("ItemTable"));
  if (has_items) {
    BMAD_TRY(database.rows(kItem, {"composer.composerData"}, [&](JsonValue row, std::uint64_t) {
      JsonParser parser;
      if (const Result<JsonValue> data = parser.parse(row["value"].string())) {
        for (const JsonValue chat : (*data)["allComposers"].elements()) {
          ids.emplace_back(chat["composerId"].string());
        }
      }
      return Status();
    }));
  }
  return ids;
}

const ImportClient kCursorClient = {
    .looks_like = looks_like_cursor, .make = nullptr, .read_database = read_cursor};

}  // namespace bmad_mem::cli
