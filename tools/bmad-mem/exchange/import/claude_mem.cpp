// claude_mem.cpp - the database of claude-mem, ~/.claude-mem/claude-mem.db.
//
//   table                                   becomes
//   sdk_sessions                            a session claude-mem-ID of its project and title
//   user_prompts                            conversation, role user
//   observations of type decision           decisions
//   observations of type bugfix, discovery  findings
//   other observations                      events of that kind
//   session_summaries                       events of kind session_summary
//   directives that are active              facts of category constraint, in session claude-mem
//
// Columns were renamed over its versions: an observation's session is memory_session_id or
// sdk_session_id, a prompt's content_session_id or claude_session_id. Ids are made of what rows
// say, so that importing again adds nothing.
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "cli/json_text.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/database.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kFormat = "claude-mem";

bool looks_like_claude_mem(std::string_view beginning) {
  return is_database(beginning) &&
         (beginning.contains("sdk_sessions") || beginning.contains("session_summaries"));
}

std::string_view first_text(JsonValue row, std::string_view name, std::string_view older) {
  const std::string_view text = row[name].string();
  return text.empty() ? row[older].string() : text;
}

/// When the row was written; empty when it does not say.
std::string row_time(JsonValue row) {
  std::string time = time_text(row["created_at"]);
  const std::int64_t epoch_ms = row["created_at_epoch"].integer();
  if (time.empty() && epoch_ms > 0) {
    time = format_rfc3339(Timestamp(std::chrono::milliseconds(epoch_ms)));
  }
  return time;
}

/// The texts of a column that holds a JSON array, a line each; else its text.
std::string list_lines(JsonValue column) {
  JsonParser parser;
  const Result<JsonValue> list = parser.parse(column.string());
  if (!list || !list->is_array()) {
    return std::string(column.string());
  }
  std::string lines;
  for (const JsonValue element : list->elements()) {
    append_part(lines, element.string(), "\n");
  }
  return lines;
}

class ClaudeMemImport final : public TranscriptImporter {
 public:
  ClaudeMemImport(const ImportContext& context, const Database& database)
      : TranscriptImporter(context, kFormat, "claude-code"),
        database_(database),
        wanted_session_(session_),
        only_(context.only) {}

  Status run() {
    BMAD_TRY(each("SELECT * FROM sdk_sessions ORDER BY id", "sdk_sessions",
                  &ClaudeMemImport::take_session));
    BMAD_TRY(each("SELECT * FROM user_prompts ORDER BY id", "user_prompts",
                  &ClaudeMemImport::take_prompt));
    BMAD_TRY(each("SELECT * FROM observations ORDER BY id", "observations",
                  &ClaudeMemImport::take_observation));
    BMAD_TRY(each("SELECT * FROM session_summaries ORDER BY id", "session_summaries",
                  &ClaudeMemImport::take_summary));
    return each("SELECT * FROM directives ORDER BY id", "directives",
                &ClaudeMemImport::take_directive);
  }

  /// Rows come from the database; there are no records.
  Status take(JsonValue /*record*/, std::string_view /*text*/, std::uint64_t /*line*/) override {
    return {};
  }

 private:
  using TakeRow = Status (ClaudeMemImport::*)(JsonValue row, std::uint64_t id);

  Status each(const char* sql, std::string_view table, TakeRow take_row) {
    BMAD_TRY_ASSIGN(const bool is_there, database_.has_table(table));
    return is_there ? database_.rows(sql, {},
                                     [&](JsonValue row, std::uint64_t number) {
                                       const std::int64_t id = row["id"].integer();
                                       return (this->*take_row)(
                                           row, id > 0 ? static_cast<std::uint64_t>(id) : number);
                                     })
                    : Status();
  }

  /// Remembers it; a session without entries is not made.
  Status take_session(JsonValue row, std::uint64_t /*id*/) {
    const std::string content(first_text(row, "content_session_id", "claude_session_id"));
    const std::string memory(first_text(row, "memory_session_id", "sdk_session_id"));
    const std::string name = content.empty() ? memory : content;
    if (name.empty()) {
      sink_.skip("sessions without an id");
      return {};
    }
    SessionParams params{.session_id = session_id_from("claude-mem-", name),
                         .agent_ids = {agent_},
                         .project_name = std::string(row["project"].string()),
                         .session_type = std::string(kFormat),
                         .tags = {"imported"},
                         .title = std::string(row["custom_title"].string())};
    for (const std::string& key : {content, memory}) {
      if (!key.empty()) {
        sessions_[key] = params;
      }
    }
    return {};
  }

  /// Sets session_ to that of a row. False for a row of a project that is not wanted.
  bool choose(JsonValue row, std::string_view key) {
    const auto found = sessions_.find(std::string(key));
    SessionParams params = found != sessions_.end()
                               ? found->second
                               : SessionParams{.session_id = session_id_from("claude-mem-", key),
                                               .agent_ids = {agent_},
                                               .project_name = std::string(row["project"].string()),
                                               .session_type = std::string(kFormat),
                                               .tags = {"imported"}};
    if (!only_.empty() && std::ranges::find(only_, params.project_name) == only_.end()) {
      sink_.skip("rows of other projects");
      return false;
    }
    if (!wanted_session_.empty()) {
      params.session_id = wanted_session_;
      params.title.clear();
    }
    session_ = params.session_id;
    chosen_ = std::move(params);
    return true;
  }

  /// The session of the row that was chosen last: only now is it certain that the row is not
  /// skipped.
  Status need_session(const std::string& session) override {
    return sink_.has_session(session) ? Status() : sink_.need_session(chosen_);
  }

  [[nodiscard]] std::string made_id(std::string_view prefix, std::string_view text) const {
    return content_id(prefix, fmt::format("{}\n{}\n{}", kFormat, session_, text));
  }

  Status take_prompt(JsonValue row, std::uint64_t id) {
    if (!choose(row, first_text(row, "content_session_id", "claude_session_id"))) {
      return {};
    }
    const std::string text(stripped(row["prompt_text"].string()));
    if (text.empty() || is_machine_text(text)) {
      sink_.skip(kByProgram);
      return {};
    }
    const std::string salt = fmt::format("{}\n{}", row["prompt_number"].integer(), text);
    BMAD_TRY(add_message({.id = made_id("msg-", salt),
                          .timestamp = row_time(row),
                          .role = "user",
                          .text = text,
                          .line = id}));
    return {};
  }

  Status take_observation(JsonValue row, std::uint64_t id) {
    if (!choose(row, first_text(row, "memory_session_id", "sdk_session_id"))) {
      return {};
    }
    const std::string_view kind = row["type"].string();
    std::string title(stripped(row["title"].string()));
    std::string body;
    append_part(body, stripped(row["subtitle"].string()));
    append_part(body, stripped(row["narrative"].string()));
    append_part(body, list_lines(row["facts"]));
    append_part(body, stripped(row["text"].string()));
    if (title.empty()) {
      std::swap(title, body);
    }
    if (title.empty()) {
      sink_.skip("observations without text");
      return {};
    }
    JsonWriter json;
    json.begin_object();
    const std::string salt = fmt::format("{}\n{}\n{}\n{}", row_time(row), kind, title, body);
    const bool is_decision = kind == "decision";
    const bool is_finding = kind == "bugfix" || kind == "discovery";
    json.member("id", made_id(is_decision ? "dec-" : is_finding ? "finding-" : "evt-", salt));
    add_text(json, "timestamp", row_time(row));
    if (is_decision) {
      json.member("made_by", agent_).member("decision", title);
      add_text(json, "rationale", body);
    } else if (is_finding) {
      json.member("discovered_by", agent_).member("category", kind).member("description", title);
      add_text(json, "evidence", body);
      json.member("status", kind == "bugfix" ? "resolved" : "acknowledged");
    } else {
      json.member("agent_id", agent_).member("kind", kind.empty() ? "observation" : kind);
      add_text(json, "path", first_of(row["files_modified"]));
      append_part(title, body);
      json.member("content", title);
    }
    add_tags(json, row["concepts"]);
    BMAD_TRY(need_session(session_));
    return add(is_decision  ? EntryType::kDecision
               : is_finding ? EntryType::kFinding
                            : EntryType::kEvent,
               json, "observations", id);
  }

  Status take_summary(JsonValue row, std::uint64_t id) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kParts = {
        {{"request", "Request"},
         {"investigated", "Investigated"},
         {"learned", "Learned"},
         {"completed", "Completed"},
         {"next_steps", "Next steps"},
         {"notes", "Notes"}}};
    if (!choose(row, first_text(row, "memory_session_id", "sdk_session_id"))) {
      return {};
    }
    std::string text;
    for (const auto& [column, name] : kParts) {
      if (const std::string_view part = stripped(row[column].string()); !part.empty()) {
        append_part(text, fmt::format("{}: {}", name, part));
      }
    }
    if (text.empty()) {
      sink_.skip("summaries without text");
      return {};
    }
    JsonWriter json;
    json.begin_object().member("id", made_id("evt-", row_time(row) + "\n" + text));
    add_text(json, "timestamp", row_time(row));
    json.member("agent_id", agent_).member("kind", "session_summary").member("content", text);
    BMAD_TRY(need_session(session_));
    return add(EntryType::kEvent, json, "session_summaries", id);
  }

  Status take_directive(JsonValue row, std::uint64_t id) {
    const std::string_view text = stripped(row["content"].string());
    if (text.empty() || row["status"].string() != "active") {
      sink_.skip("directives that are not active");
      return {};
    }
    session_ = directives_session_.empty() ? wanted_session_ : directives_session_;
    BMAD_TRY(need_session_called(std::string(kFormat)));
    directives_session_ = session_;
    JsonWriter json;
    json.begin_object().member("id", content_id("fact-", fmt::format("{}\n{}", kFormat, text)));
    add_text(json, "timestamp", row_time(row));
    json.member("category", "constraint").member("content", text);
    return add(EntryType::kFact, json, "directives", id);
  }

  /// The first text of a column with a JSON array.
  static std::string first_of(JsonValue column) {
    const std::string lines = list_lines(column);
    return lines.substr(0, lines.find('\n'));
  }

  static void add_tags(JsonWriter& json, JsonValue column) {
    const std::string lines = list_lines(column);
    if (lines.empty()) {
      return;
    }
    json.key("tags").begin_array();
    for (std::string_view rest = lines; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      json.string(line);
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    json.end_array();
  }

  Status add(EntryType type, JsonWriter& json, std::string_view table, std::uint64_t id) {
    return sink_.add(
        session_, type,
        fmt::format("{},{}}}", json.take(),
                    memory_origin(kFormat, fmt::format("{}:{}", base_name(file_), table), id)),
        KnownEntries::kSkipId, {.file = file_, .line = id});
  }

  const Database& database_;
  std::string wanted_session_;
  std::vector<std::string> only_;  ///< Names of projects; empty: all.
  std::string directives_session_;
  SessionParams chosen_;
  std::map<std::string, SessionParams> sessions_;  ///< By each of their ids.
};

Status read_claude_mem(const ImportContext& context, const Database& database) {
  return ClaudeMemImport(context, database).run();
}

}  // namespace

const ImportClient kClaudeMemClient = {
    .looks_like = looks_like_claude_mem, .make = nullptr, .read_database = read_claude_mem};

}  // namespace bmad_mem::cli
