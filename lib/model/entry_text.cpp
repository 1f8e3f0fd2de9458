// entry_text.cpp - writes the structs of entries as JSON.
#include <cassert>
#include <initializer_list>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

/// A member of an object, such as "key", or of an object in it, such as "context.topic"; and its
/// value as JSON, empty for none.
struct EntryMember {
  EntryMember(std::string_view name, const std::string& text)
      : path(name), json(text.empty() ? "" : json_quoted(text)) {}
  EntryMember(std::string_view name, const std::vector<std::string>& texts)
      : path(name), json(texts.empty() ? "" : list_json(texts)) {}
  EntryMember(std::string_view name, std::optional<double> number)
      : path(name), json(number ? json_number(*number) : "") {}
  EntryMember(std::string_view name, std::optional<std::int64_t> number)
      : path(name), json(number ? std::to_string(*number) : "") {}

  std::string_view path;
  std::string json;
};

/// `json`, which is a value or empty, as a member.
EntryMember raw_json_member(std::string_view path, std::string json) {
  EntryMember member(path, std::string());
  member.json = std::move(json);
  return member;
}

/// Appends the members that have a value. Those of one object inside stand one after the other.
void append_members(JsonWriter& writer, std::initializer_list<EntryMember> members) {
  std::string_view open;
  for (const EntryMember& member : members) {
    if (member.json.empty()) {
      continue;
    }
    const std::size_t dot = member.path.find('.');
    const std::string_view inside = member.path.substr(0, dot == member.path.npos ? 0 : dot);
    if (inside != open && !open.empty()) {
      writer.end_object();
    }
    if (inside != open && !inside.empty()) {
      writer.key(inside).begin_object();
    }
    assert(member.path.find('.', dot + 1) == member.path.npos && "one object inside at most");
    open = inside;
    writer.key(member.path.substr(dot + 1)).raw(member.json);  // npos + 1 is 0.
  }
  if (!open.empty()) {
    writer.end_object();
  }
}

std::string entry_json(const EntryCommon& common, std::initializer_list<EntryMember> members) {
  JsonWriter writer;
  writer.begin_object();
  append_members(writer,
                 {{"id", common.id},
                  {"timestamp", common.timestamp ? format_rfc3339(*common.timestamp) : ""}});
  append_members(writer, members);
  append_members(writer,
                 {{"tags", common.tags},
                  raw_json_member("pinned", common.pinned ? "true" : ""),
                  {kExpiresField, common.expires_at ? format_rfc3339(*common.expires_at) : ""},
                  raw_json_member("sensitive", common.sensitive ? "true" : ""),
                  {"source.kind", common.source.kind},
                  {"source.trust", common.source.trust}});
  std::string text = writer.take();
  if (!common.extra.empty()) {
    text += text.size() > 1 ? "," : "";
    text += common.extra;
  }
  return text + '}';
}

std::string list_of(const std::vector<Alternative>& alternatives) {
  JsonWriter list;
  list.begin_array();
  for (const Alternative& each : alternatives) {
    list.begin_object();
    append_members(list, {{"option", each.option}, {"rejected_reason", each.rejected_reason}});
    list.end_object();
  }
  list.end_array();
  return alternatives.empty() ? std::string() : list.take();
}

}  // namespace

std::string to_json(const ConversationEntry& entry) {
  return entry_json(entry.common, {{"agent_id", entry.agent_id},
                                   {"role", entry.role},
                                   {"content", entry.content},
                                   {"context.conversation_id", entry.conversation_id},
                                   {"context.parent_message_id", entry.parent_message_id},
                                   {"context.topic", entry.topic},
                                   {"metadata.tokens", entry.tokens},
                                   {"metadata.processing_time_ms", entry.processing_time_ms},
                                   {"metadata.references", entry.references}});
}

std::string to_json(const DecisionRecord& entry) {
  return entry_json(entry.common, {{"made_by", entry.made_by},
                                   {"approved_by", entry.approved_by},
                                   {"decision", entry.decision},
                                   {"rationale", entry.rationale},
                                   raw_json_member("alternatives_considered",
                                                   list_of(entry.alternatives_considered)),
                                   {"impact", entry.impact},
                                   {"references.conversations", entry.conversations},
                                   {"references.findings", entry.findings}});
}

std::string to_json(const FindingRecord& entry) {
  return entry_json(entry.common, {{"discovered_by", entry.discovered_by},
                                   {"category", entry.category},
                                   {"severity", entry.severity},
                                   {"description", entry.description},
                                   {"evidence", entry.evidence},
                                   {"recommendation", entry.recommendation},
                                   {"status", entry.status}});
}

std::string to_json(const UserPreference& entry) {
  return entry_json(entry.common, {{"category", entry.category},
                                   {"key", entry.key},
                                   {"value", entry.value},
                                   {"context", entry.context},
                                   {"confidence", entry.confidence},
                                   {"learned_from", entry.learned_from}});
}

std::string to_json(const FactEntry& entry) {
  return entry_json(entry.common, {{"agent_id", entry.agent_id},
                                   {"category", entry.category},
                                   {"key", entry.key},
                                   {"content", entry.content},
                                   {"confidence", entry.confidence},
                                   {"learned_from", entry.learned_from}});
}

std::string to_json(const EventEntry& entry) {
  return entry_json(entry.common, {{"agent_id", entry.agent_id},
                                   {"kind", entry.kind},
                                   {"tool", entry.tool},
                                   {"path", entry.path},
                                   {"content", entry.content},
                                   raw_json_member("metadata", entry.metadata_json)});
}

std::string to_json(const AgentStateEntry& entry) {
  return entry_json(entry.common,
                    {{"agent_id", entry.agent_id}, raw_json_member("state", entry.state_json)});
}

std::string to_json(const ArtifactEntry& entry) {
  return entry_json(entry.common, {{"agent_id", entry.agent_id},
                                   {"path", entry.path},
                                   {"title", entry.title},
                                   {"snippet", entry.snippet}});
}

}  // namespace bmad_mem
