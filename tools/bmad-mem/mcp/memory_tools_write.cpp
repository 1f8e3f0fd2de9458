// memory_tools_write.cpp - memory_add, memory_remember, memory_update, memory_link, memory_forget,
// memory_delete: what would go, its deletion, and its return.
#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/text.hpp"
#include "cli/results.hpp"
#include "cli/text.hpp"
#include "exchange/workspaces.hpp"
#include "mcp/memory_service.hpp"
#include "mcp/memory_text.hpp"
#include "mcp/memory_tools.hpp"
#include "mcp/tool_arguments.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

namespace {

/// The session to write to, and what to do in it. A session of our own that has been deleted
/// meanwhile is replaced once.
template <typename T>
Result<T> write_in_session(
    MemoryToolCall& call, const std::string& named,
    const std::function<Result<T>(MemoryManager&, const std::string&)>& write) {
  if (call.text("scope") == "user") {
    BMAD_TRY_ASSIGN(MemoryManager* const users, users_to_write(&call.users));
    BMAD_TRY_ASSIGN(const UsualSession session, users->usual_session());
    return write(*users, named.empty() ? session.session_id : named);
  }
  BMAD_TRY_ASSIGN(MemoryManager* const memory, call.memory.to_write());
  if (!named.empty()) {
    return write(*memory, named);
  }
  BMAD_TRY_ASSIGN(std::string session, call.session.choose(*memory, call.call));
  Result<T> done = write(*memory, session);
  if (done || done.error().code != ErrorCode::E_SESSION_NOT_FOUND) {
    return done;
  }
  call.session.forget(session);
  BMAD_TRY_ASSIGN(session, call.session.choose(*memory, call.call));
  return write(*memory, session);
}

/// Who writes when the call doesn't say.
std::string agent_of(MemoryToolCall& call, std::string named) {
  if (!named.empty()) {
    return named;
  }
  const std::string& configured = call.memory.place().agent_id;
  return configured.empty() ? std::string(utf8_prefix(call.call.client, 200)) : configured;
}

/// The fields that a call gives besides the text. Errors: E_INVALID_QUERY.
Result<JsonValue> read_fields(const ToolArguments& args, std::string_view example) {
  const JsonValue fields = args.value("fields");
  if (fields.present() && !fields.is_object()) {
    return bad_argument("fields", fmt::format("must be an object, such as {}", example));
  }
  if (!can_write_json(fields)) {
    return bad_argument("fields",
                        "numbers above 9223372036854775807 lose digits; write them as strings");
  }
  return fields;
}

/// The state of an agent is any JSON value; what is none is a string.
std::string state_of(std::string_view text) {
  const ParsedJson value(text);
  const bool is_kept = value && value->kind() != JsonKind::kNull && can_write_json(*value);
  return is_kept ? json_of(*value) : json_quoted(text);
}

/// The text as the main field of an entry, in JSON.
std::string main_json(EntryType type, std::string_view text) {
  return type == EntryType::kAgentState ? state_of(text) : json_quoted(text);
}

/// The type that is stored: a decision that `waits` for the user is a fact.
EntryType stored_type(EntryType type, bool waits) {
  return waits && type == EntryType::kDecision ? EntryType::kFact : type;
}

/// The entry as one JSON object. What stands in `fields` wins over defaults, not over arguments;
/// but the main field does, and then the text is a field of its own. One that `waits` for the user
/// is a candidate, and no pin.
std::string json_of_entry(const MemoryToolCall& call, EntryType asked, JsonValue fields,
                          const std::string& agent, bool waits) {
  const EntryType type = stored_type(asked, waits);
  const std::string text = call.text("text");
  const JsonValue main = fields[main_field(asked).name];
  const std::string source = call.text("source");
  JsonWriter json;
  std::vector<std::string_view> written = {main_field(asked).name};
  const auto add = [&](std::string_view name, const auto& value) {
    if (is_some(value)) {
      written.push_back(name);
      put(json, name, value);
    }
  };
  json.begin_object();
  add("id", call.text("id"));
  add(main_field(type).name,
      std::optional(raw_json(main.present() ? json_of(main) : main_json(type, text))));
  add("text", main.present() && main.string() != text ? text : "");
  const bool is_message = type == EntryType::kConversation;
  if (is_message && !fields["role"].present()) {
    add("role", std::string_view(source == "user" ? "user" : "assistant"));
  }
  // A preference is the user's, whoever stores it.
  const std::string_view who =
      type == EntryType::kPreference ? std::string_view() : who_field(type);
  const bool is_of_user = is_message && (source == "user" || fields["role"].string() == "user");
  if (!who.empty() && (!call.text("agent").empty() || (!fields[who].present() && !is_of_user))) {
    add(who, agent);
  }
  add("tags", call.texts("tags"));
  add("pinned", call.boolean("pinned") && !waits);
  add("review", waits ? review_name(Review::kCandidate) : std::string_view());
  add("category", type != asked ? category_name(Category::kDecision) : std::string_view());
  add("sensitive", call.boolean("sensitive"));
  const bool is_own = waits && (source.empty() || source == "user");
  if (is_own || !source.empty()) {
    const auto trust = only_if(source == "web", kWebReliability);
    add("source", std::optional(raw_object("kind", is_own ? std::string_view("assistant") : source,
                                           "trust", trust)));
  }
  for (const JsonMember& member : fields.members()) {
    if (!is_among(written, member.key) && (!waits || member.key != "pinned")) {
      json.key(member.key);
      write_json(json, member.value);
    }
  }
  return json.end_object().take();
}

}  // namespace

Result<McpToolResult> mcp_add(MemoryToolCall& call) {
  BMAD_TRY_ASSIGN(const JsonValue fields, read_fields(call, R"({"rationale":"…"})"));
  const std::string agent = agent_of(call, call.text("agent"));
  const EntryType type = try_parse_entry_type(call.text("type")).value_or(EntryType::kFact);
  // What would be told as the user's wish or rule, though an agent says so.
  const bool is_statement = type == EntryType::kFact || type == EntryType::kPreference ||
                            (type == EntryType::kDecision && call.boolean("pinned"));
  const JsonValue main = fields[main_field(type).name];
  const std::string said = !main.present()    ? call.text("text")
                           : main.is_string() ? std::string(main.string())
                                              : json_of(main);
  std::string session;
  bool waits = false;
  BMAD_TRY_ASSIGN(const BatchReport report,
                  write_in_session<BatchReport>(
                      call, call.text("session_id"),
                      [&](MemoryManager& memory, const std::string& chosen) -> Result<BatchReport> {
                        session = chosen;
                        if (is_statement) {
                          BMAD_TRY_ASSIGN(waits, Knowledge(memory).waits(said));
                        }
                        const std::string line = json_of_entry(call, type, fields, agent, waits);
                        const std::string_view view = line;
                        Result<BatchReport> done =
                            memory.add_batch(chosen, stored_type(type, waits), {&view, 1},
                                             {.known = KnownEntries::kRefuse});
                        if (!done) {
                          Error error = std::move(done).error();
                          error.line = 0;  // Places in JSON that the model has never seen.
                          error.column = 0;
                          return error;
                        }
                        return done;
                      }));
  const std::string_view stored = entry_type_name(stored_type(type, waits));
  const std::string id = report.ids.empty() ? call.text("id") : report.ids.front();
  for (const std::string& notice : report.notices) {
    call.call.log(McpLogLevel::kNotice, notice);
  }
  return view_result("mcp_stored",
                     object_of("id", id, "session_id", session, "type", stored, "review",
                               only_if(waits, review_name(Review::kCandidate)), "notices",
                               report.notices, "redacted", report.redacted));
}

namespace {

/// What a statement was learned from: where the call doesn't say, what the person said last in the
/// conversation that it is stored in.
std::vector<std::string> said_in(const MemoryManager& memory, const std::string& session,
                                 std::vector<std::string> given) {
  const std::optional<Entry> prompt = given.empty() ? last_prompt(memory, session) : std::nullopt;
  if (prompt) {
    given.push_back(prompt->id);
  }
  return given;
}

}  // namespace

Result<McpToolResult> mcp_remember(MemoryToolCall& call) {
  RememberParams params = read_statement(call);
  params.agent_id = agent_of(call, params.agent_id);
  const std::vector<std::string> given = params.learned_from;
  BMAD_TRY_ASSIGN(
      const Remembered done,
      write_in_session<Remembered>(call, params.session_id,
                                   [&](MemoryManager& memory, const std::string& session) {
                                     params.session_id = session;
                                     params.learned_from = said_in(memory, session, given);
                                     return Knowledge(memory).remember(params);
                                   }));
  return view_result("mcp_remembered", shaped(shape::remembered, done), "waits",
                     done.review == Review::kCandidate, "is_dropped",
                     done.review == Review::kDropped);
}

namespace {

/// What is to change, as one JSON object: the text is the main field of the type.
Result<std::string> changes_of(const ToolArguments& args, EntryType type) {
  BMAD_TRY_ASSIGN(const JsonValue fields, read_fields(args, R"({"status":"resolved"})"));
  const std::string text = args.text("text");
  const std::string_view main = main_field(type).name;
  if (!text.empty() && fields[main].present()) {
    return bad_argument("text", fmt::format("leave it out, or {} in fields: one new text", main));
  }
  JsonWriter json;
  json.begin_object();
  if (!text.empty()) {
    json.key(main).raw(main_json(type, text));
  }
  for (const JsonMember& member : fields.members()) {
    json.key(member.key);
    write_json(json, member.value);
  }
  return json.end_object().take();
}

}  // namespace

Result<McpToolResult> mcp_edit(MemoryToolCall& call) {
  const std::string id = call.text("id");
  const std::vector<std::string> sessions = call.listed("session_id");
  BMAD_TRY_ASSIGN(MemoryManager* const memory, call.existing());
  BMAD_TRY_ASSIGN(const std::vector<Entry> known, memory->get({&id, 1}, sessions));
  std::string changes = "{}";
  if (!known.empty()) {  // Else the memory says that there is none.
    BMAD_TRY_ASSIGN(changes, changes_of(call, known.front().type));
  }
  BMAD_TRY_ASSIGN(const Entry entry, memory->update_entry(id, changes, sessions));
  return view_result("mcp_edited", shaped(shape::edited_entry, entry), "asked", id);
}

Result<McpToolResult> mcp_link(MemoryToolCall& call) {
  const LinkRequest request = read_link(call);
  BMAD_TRY_ASSIGN(MemoryManager* const memory, call.existing());
  BMAD_TRY_ASSIGN(const LinkReport report, memory->link(request));
  return view_result("mcp_linked", shaped(shape::link_change, request, report));
}

Result<McpToolResult> mcp_forget_own(MemoryToolCall& call) {
  const std::vector<std::string> ids = call.texts("ids");
  BMAD_TRY_ASSIGN(MemoryManager* const memory, call.existing());
  BMAD_TRY_ASSIGN(const std::vector<Entry> known, memory->get(ids));
  const std::string session = call.session.current();
  const std::string agent = agent_of(call, {});
  std::vector<std::string> own;
  std::vector<std::string> proposed;
  std::vector<std::string> unknown;
  for (const std::string& id : ids) {
    const bool is_known = std::ranges::find(known, id, &Entry::id) != known.end();
    bool is_own = std::ranges::all_of(known, [&](const Entry& entry) {
      return entry.id != id || (entry.session_id == session && entry.who == agent && !entry.pinned);
    });
    if (is_known && is_own) {  // What the user said stays the user's, whoever stored it.
      const Result<DeletionReport> may_go =
          memory->delete_entries({.ids = {id}, .sessions = {session}}, {.dry_run = true});
      is_own = may_go || may_go.error().code != ErrorCode::E_ACCESS_DENIED;
    }
    (!is_known ? unknown : is_own ? own : proposed).emplace_back(utf8_prefix(id, 200));
  }
  DeletionReport report;
  if (!own.empty()) {
    BMAD_TRY_ASSIGN(report, memory->delete_entries({.ids = own, .sessions = {session}}, {}));
  }
  return view_result("mcp_forgotten",
                     object_of("forgotten", own, "proposed", proposed, "unknown_ids", unknown,
                               "recoverable_until", report.expires_at));
}

namespace {

/// What became of a deletion, and what to do `next`.
McpToolResult deletion_result(std::string_view action, std::uint64_t count,
                              const std::vector<RemovedEntry>& removed,
                              const std::vector<std::string>& unknown,
                              std::optional<Timestamp> expires, std::string_view next) {
  std::vector<RemovedEntry> entries;
  const auto place = [](const RemovedEntry& entry) { return std::tie(entry.session_id, entry.id); };
  // One with several versions stands there once.
  std::ranges::unique_copy(removed, std::back_inserter(entries), {}, place);
  return {.text = std::string(next),
          .structured = json_object("action", action, "count", count, "entries",
                                    shaped(shape::entry_name, entries), "unknown_ids", unknown,
                                    "recoverable_until", expires, "next", next)};
}

Result<McpToolResult> restore(MemoryManager& memory, const std::vector<std::string>& ids) {
  BMAD_TRY_ASSIGN(const UndeleteReport report, memory.undelete({.ids = ids}));
  return deletion_result(
      "restore", report.lines, {}, report.left_behind, {},
      report.lines != 0 ? "They are found again."
                        : "Nothing came back: these ids aren't deleted, or their time is over.");
}

}  // namespace

Result<McpToolResult> mcp_delete(MemoryToolCall& call) {
  const std::vector<std::string> ids = call.texts("ids");
  const std::string action = call.text("action");
  const std::vector<std::string> sessions = call.listed("session_id");
  BMAD_TRY_ASSIGN(MemoryManager* const memory, call.existing());
  if (action == "restore") {
    return restore(*memory, ids);
  }
  const bool is_preview = action != "delete";
  BMAD_TRY_ASSIGN(
      const DeletionReport report,
      memory->delete_entries({.ids = ids, .sessions = sessions}, {.dry_run = is_preview}));
  const auto is_unknown = [&](const std::string& id) {
    return find_by(report.removed, id, &RemovedEntry::id) == nullptr;
  };
  const std::vector<std::string> unknown = mapped_if(
      ids, is_unknown, [](const std::string& id) { return std::string(utf8_prefix(id, 200)); });
  const std::string_view next =
      report.entries == 0 ? "None of these ids exists; use memory_search to find entries."
      : is_preview        ? "Nothing was changed. To delete them call again with action delete."
                          : "Deleted. To undo call again with the same ids and action restore.";
  return deletion_result(action, report.entries, report.removed, unknown, report.expires_at, next);
}

void OfferedReviews::offer(std::string id, std::string value) {
  constexpr std::chrono::minutes kLasts{10};
  const std::scoped_lock lock(mutex_);
  offers_.insert_or_assign(
      std::move(id),
      Offer{.value = std::move(value), .until = std::chrono::steady_clock::now() + kLasts});
}

bool OfferedReviews::has(const std::string& id, std::string_view value) const {
  const std::scoped_lock lock(mutex_);
  const auto found = offers_.find(id);
  return found != offers_.end() && found->second.value == value &&
         std::chrono::steady_clock::now() < found->second.until;
}

std::string offered_text(const KnowledgeItem& item) {
  return fmt::format("{}\n{}\n{}", category_name(item.category), item.key, item.value);
}

namespace {

/// Nothing when a person has seen all of `ids` as they read now. Errors: E_ACCESS_DENIED.
Status check_offered(const MemoryToolCall& call, MemoryManager& memory,
                     std::span<const std::string> ids) {
  BMAD_TRY_ASSIGN(
      const std::vector<KnowledgeItem> waiting,
      Knowledge(memory).recall({.candidates = true, .note_accesses = false, .limit = 0}));
  for (const KnowledgeItem& item : waiting) {
    const bool is_wanted = std::ranges::find(ids, item.id) != ids.end();
    if (is_wanted && !call.offered.has(item.id, offered_text(item))) {
      return Error{.code = ErrorCode::E_ACCESS_DENIED,
                   .message = fmt::format(
                       "only the user accepts {}: ask the user to pick the prompt \"review\" of "
                       "this server, or to run `bmad-mem review`",
                       item.id)};
    }
  }
  return {};
}

}  // namespace

Result<McpToolResult> mcp_review(MemoryToolCall& call) {
  const std::vector<std::string> ids = call.texts("ids");
  const bool accepts = call.text("review") == "accepted";
  BMAD_TRY_ASSIGN(MemoryManager* const memory, call.existing());
  if (accepts) {
    BMAD_TRY(check_offered(call, *memory, ids));
  }
  const ActingAs person(accepts ? Origin::kPerson : Origin::kAgent);
  BMAD_TRY_ASSIGN(const ReviewReport report,
                  Knowledge(*memory).review(ids, accepts ? Review::kAccepted : Review::kDropped));
  const std::vector<std::string> reviewed = mapped(report.reviewed, &KnowledgeItem::id);
  return view_result("mcp_reviewed",
                     object_of("reviewed", reviewed, "unknown_ids", report.unknown_ids), "accepts",
                     accepts);
}

}  // namespace bmad_mem::cli
