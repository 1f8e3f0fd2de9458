#include "http/api/shapes.hpp"

#include "bmad_mem/entry_links.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "cli/json_text.hpp"
#include "cli/views.hpp"

namespace bmad_mem::cli {
namespace {

/// The members that an entry and a hit have in common.
void add_head(JsonWriter& json, const Entry& entry) {
  json.member("id", entry.id).member("type", entry_type_name(entry.type));
  json.member("session_id", entry.session_id);
  json.member("timestamp", format_rfc3339(entry.timestamp));
  json.member("who", entry.who).member("headline", entry.headline);
  json.member("pinned", entry.pinned).member("sensitive", entry.sensitive);
  if (entry.archived) {
    json.member("archived", true);
  }
  if (entry.evicted) {
    json.member("evicted", true);
  }
  if (entry.of_user) {
    json.member("scope", "user");
  }
}

}  // namespace

namespace {

void add_problems_as(JsonWriter& json, std::string_view name, std::span<const Error> problems) {
  add_array(json, name, problems, [&](const Error& problem) {
    json.begin_object().member("code", error_code_name(problem.code));
    json.member("message", problem.message).member("path", problem.path).end_object();
  });
}

}  // namespace

void add_incomplete(JsonWriter& json, const MemoryManager& memory) {
  if (const std::vector<Error> problems = memory.problems(); !problems.empty()) {
    add_problems_as(json, "incomplete", problems);
  }
}

void add_unreadable(JsonWriter& json, const MemoryManager& memory) {
  if (const std::vector<Error> problems = memory.problems(); !problems.empty()) {
    add_problems_as(json, "problems", problems);
    add_problems_as(json, "incomplete", problems);
  }
}

namespace {

void add_explanation(JsonWriter& json, const TextExplanation& explanation) {
  json.key("explanation").begin_object();
  add_array(json, "terms", explanation.terms, [&](const TermScore& term) {
    json.begin_object().member("term", term.term).member("entry", term.entry);
    json.member("window", term.window).member("session", term.session).end_object();
  });
  json.member("question", explanation.question).member("asks", explanation.asks);
  json.member("meaning", explanation.meaning);
  json.member("session_meaning", explanation.session_meaning);
  if (explanation.cosine) {
    json.member("cosine", *explanation.cosine);
  }
  json.member("speaker", explanation.speaker).member("date", explanation.date).end_object();
}

void add_version(JsonWriter& json, const KnowledgeVersion& version) {
  json.begin_object().member("session_id", version.session_id);
  json.member("type", entry_type_name(version.type)).member("id", version.id);
  json.member("value", version.value).member("agent_id", version.agent_id);
  json.member("confidence", version.confidence).member("trust", version.trust);
  json.member("at", format_rfc3339(version.at)).member("review", review_name(version.review));
  json.member("holds", version.holds).end_object();
}

}  // namespace

namespace {

void write_members(JsonWriter& json, const Entry& entry) {
  json.begin_object();
  add_head(json, entry);
  json.member("versions", entry.versions).member("line", entry.line);
  if (!entry.links.empty()) {
    write_links(json, entry);
  }
}

}  // namespace

void write_entry(JsonWriter& json, const Entry& entry) {
  write_members(json, entry);
  json.key("fields").raw(entry.json).end_object();
}

void write_entry_found(JsonWriter& json, const Hit& hit) {
  write_members(json, hit.entry);
  if (hit.outdated) {
    json.member("outdated", true);
  }
  json.key("fields").raw(hit.entry.json).end_object();
}

void add_closed_lines(JsonWriter& json, const MemoryManager& memory, const EntryFilter& filter) {
  Result<std::uint64_t> closed = memory.closed_entries(filter);
  closed = closed ? std::move(closed) : memory.sealed_lines(filter.sessions);
  if (closed && *closed > 0) {
    json.member("closed_lines", *closed);
  }
}

void add_sealed_lines(JsonWriter& json, const MemoryManager& memory,
                      const std::vector<std::string>& sessions) {
  if (const Result<std::uint64_t> lines = memory.sealed_lines(sessions); lines && *lines > 0) {
    json.member("sealed_lines", *lines);
  }
}

void write_hit(JsonWriter& json, const Hit& hit) {
  json.begin_object();
  add_head(json, hit.entry);
  json.member("score", hit.relevance).member("snippet", hit.snippet);
  add_array(json, "highlights", hit.highlights, [&](const Highlight& highlight) {
    json.begin_object().member("offset", std::uint64_t{highlight.offset});
    json.member("size", std::uint64_t{highlight.size}).end_object();
  });
  json.key("components").begin_object();
  json.member("text", hit.components.text).member("time", hit.components.time);
  json.member("importance", hit.components.importance).member("access", hit.components.access);
  json.end_object().member("combine", relevance_combine_name(hit.combine));
  if (hit.outdated) {
    json.member("outdated", true);
  }
  if (hit.said_before) {
    json.member("said_before", true);
  }
  if (hit.weak) {
    json.member("weak", true);
  }
  json.key("weights").begin_object();
  json.member("text", hit.weights.text).member("time", hit.weights.time);
  json.member("importance", hit.weights.importance).member("access", hit.weights.access);
  json.end_object();
  if (hit.explanation) {
    add_explanation(json, *hit.explanation);
  }
  json.end_object();
}

void write_knowledge_item(JsonWriter& json, const KnowledgeItem& item) {
  json.begin_object().member("id", item.id).member("type", entry_type_name(item.type));
  json.member("session_id", item.session_id).member("category", category_name(item.category));
  json.member("key", item.key).member("value", item.value).member("agent_id", item.agent_id);
  json.member("confidence", item.confidence).member("trust", item.trust);
  json.member("source_kind", item.source_kind).member("origin", origin_name(item.origin));
  json.member("score", item.score);
  json.member("created_at", format_rfc3339(item.created_at));
  json.member("updated_at", format_rfc3339(item.updated_at));
  json.member("access_count", item.access_count);
  json.member("pinned", item.pinned).member("sensitive", item.sensitive);
  json.member("review", review_name(item.review)).member("contradicted", item.contradicted);
  if (item.of_user) {
    json.member("scope", "user");
  }
  add_text(json, "replaces_id", item.replaces_id);
  add_text(json, "replaces_value", item.replaces_value);
  add_list(json, "tags", item.tags);
  JsonParser parser;
  const Result<JsonValue> entry = parser.parse(item.json);
  add_list(json, "references", entry ? entry_references(*entry) : std::vector<std::string_view>());
  add_array(json, "chain", item.chain, add_version);
  json.end_object();
}

void write_error(JsonWriter& json, const Error& error) { json.raw(error_as_json(error)); }

void write_deletion(JsonWriter& json, const Deletion& deletion) {
  json.begin_object().member("session_id", deletion.session_id);
  json.member("deletion_id", deletion.deletion_id);
  json.member("deleted_at", format_rfc3339(deletion.deleted_at));
  json.member("expires_at", format_rfc3339(deletion.expires_at));
  json.member("agent_id", deletion.agent_id).member("whole_session", deletion.whole_session);
  json.member("entries", deletion.entries).end_object();
}

void write_action(JsonWriter& json, const MaintenanceAction& action) {
  json.begin_object();
  add_action(json, action, EmptyMembers::kKeep);
  json.end_object();
}

void write_type_counts(JsonWriter& json, const std::array<std::uint64_t, kEntryTypeCount>& counts) {
  json.begin_object();
  for (const EntryType type : kEntryTypes) {
    json.member(entry_type_name(type), counts[static_cast<std::size_t>(type)]);
  }
  json.end_object();
}

void write_session(JsonWriter& json, const MemoryManager& memory, const Session& session,
                   std::optional<std::uint64_t> entries) {
  json.begin_object().member("session_id", session.session_id);
  if (session.problem) {
    json.member("state", "damaged").key("problem");
    write_error(json, *session.problem);
    json.end_object();
    return;
  }
  json.member("state", session_state_name(memory.session_state(session)));
  add_title(json, session);
  add_time(json, "created_at", session.created_at);
  add_time(json, "last_write", session.last_write);
  add_time(json, "closed_at", session.closed_at);
  json.member("user_id", session.user_id);
  add_list(json, "agent_ids", session.agent_ids);
  json.member("project_name", session.project_name);
  json.member("session_type", session.session_type);
  add_list(json, "tags", session.tags);
  json.member("size_bytes", session.size_bytes);
  if (!session.metadata_json.empty()) {
    json.key("metadata").raw(session.metadata_json);
  }
  if (entries) {
    json.member("entries", *entries);
  }
  json.end_object();
}

void add_next_due(JsonWriter& json, Timestamp next_due) {
  if (next_due != Timestamp::max()) {
    json.member("next_due", format_rfc3339(next_due));
  }
}

}  // namespace bmad_mem::cli
