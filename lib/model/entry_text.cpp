#include "model/entry_text.hpp"

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem {
namespace {

/// A JsonWriter that leaves out what is empty.
class EntryWriter {
 public:
  explicit EntryWriter(const EntryCommon& common) : common_(common) {
    writer_.begin_object();
    string("id", common.id);
    if (common.timestamp) {
      writer_.member("timestamp", format_rfc3339(*common.timestamp));
    }
  }

  void string(std::string_view name, const std::string& value) {
    if (!value.empty()) {
      writer_.member(name, value);
    }
  }
  void real(std::string_view name, const std::optional<double>& value) {
    if (value) {
      writer_.member(name, *value);
    }
  }
  void integer(std::string_view name, const std::optional<std::int64_t>& value) {
    if (value) {
      writer_.member(name, *value);
    }
  }
  void strings(std::string_view name, const std::vector<std::string>& values) {
    if (values.empty()) {
      return;
    }
    writer_.key(name).begin_array();
    for (const std::string& value : values) {
      writer_.string(value);
    }
    writer_.end_array();
  }
  void raw(std::string_view name, const std::string& json) {
    if (!json.empty()) {
      writer_.key(name).raw(json);
    }
  }
  /// An object with the members that `fill` writes; nothing when it `is_empty`.
  template <typename Fill>
  void object(std::string_view name, bool is_empty, const Fill& fill) {
    if (!is_empty) {
      writer_.key(name).begin_object();
      fill();
      writer_.end_object();
    }
  }
  JsonWriter& json() { return writer_; }

  std::string finish() {
    strings("tags", common_.tags);
    if (common_.pinned) {
      writer_.member("pinned", true);
    }
    if (common_.sensitive) {
      writer_.member("sensitive", true);
    }
    object("source", common_.source.kind.empty() && !common_.source.trust, [&] {
      string("kind", common_.source.kind);
      real("trust", common_.source.trust);
    });
    std::string text = writer_.take();
    if (!common_.extra.empty()) {
      text += text.size() > 1 ? "," : "";
      text += common_.extra;
    }
    return text + '}';
  }

 private:
  const EntryCommon& common_;
  JsonWriter writer_;
};

}  // namespace

std::string to_json(const ConversationEntry& entry) {
  EntryWriter out(entry.common);
  out.string("agent_id", entry.agent_id);
  out.string("role", entry.role);
  out.string("content", entry.content);
  out.object(
      "context",
      entry.conversation_id.empty() && entry.parent_message_id.empty() && entry.topic.empty(), [&] {
        out.string("conversation_id", entry.conversation_id);
        out.string("parent_message_id", entry.parent_message_id);
        out.string("topic", entry.topic);
      });
  out.object("metadata", !entry.tokens && !entry.processing_time_ms && entry.references.empty(),
             [&] {
               out.integer("tokens", entry.tokens);
               out.real("processing_time_ms", entry.processing_time_ms);
               out.strings("references", entry.references);
             });
  return out.finish();
}

std::string to_json(const DecisionRecord& entry) {
  EntryWriter out(entry.common);
  out.string("made_by", entry.made_by);
  out.strings("approved_by", entry.approved_by);
  out.string("decision", entry.decision);
  out.string("rationale", entry.rationale);
  if (!entry.alternatives_considered.empty()) {
    out.json().key("alternatives_considered").begin_array();
    for (const Alternative& alternative : entry.alternatives_considered) {
      out.json().begin_object();
      out.string("option", alternative.option);
      out.string("rejected_reason", alternative.rejected_reason);
      out.json().end_object();
    }
    out.json().end_array();
  }
  out.string("impact", entry.impact);
  out.object("references", entry.conversations.empty() && entry.findings.empty(), [&] {
    out.strings("conversations", entry.conversations);
    out.strings("findings", entry.findings);
  });
  return out.finish();
}

std::string to_json(const FindingRecord& entry) {
  EntryWriter out(entry.common);
  out.string("discovered_by", entry.discovered_by);
  out.string("category", entry.category);
  out.string("severity", entry.severity);
  out.string("description", entry.description);
  out.string("evidence", entry.evidence);
  out.string("recommendation", entry.recommendation);
  out.string("status", entry.status);
  return out.finish();
}

std::string to_json(const UserPreference& entry) {
  EntryWriter out(entry.common);
  out.string("category", entry.category);
  out.string("key", entry.key);
  out.string("value", entry.value);
  out.string("context", entry.context);
  out.real("confidence", entry.confidence);
  out.strings("learned_from", entry.learned_from);
  return out.finish();
}

std::string to_json(const FactEntry& entry) {
  EntryWriter out(entry.common);
  out.string("agent_id", entry.agent_id);
  out.string("category", entry.category);
  out.string("key", entry.key);
  out.string("content", entry.content);
  out.real("confidence", entry.confidence);
  out.strings("learned_from", entry.learned_from);
  return out.finish();
}

std::string to_json(const EventEntry& entry) {
  EntryWriter out(entry.common);
  out.string("agent_id", entry.agent_id);
  out.string("kind", entry.kind);
  out.string("tool", entry.tool);
  out.string("path", entry.path);
  out.string("content", entry.content);
  out.raw("metadata", entry.metadata_json);
  return out.finish();
}

std::string to_json(const AgentStateEntry& entry) {
  EntryWriter out(entry.common);
  out.string("agent_id", entry.agent_id);
  out.raw("state", entry.state_json);
  return out.finish();
}

std::string to_json(const ArtifactEntry& entry) {
  EntryWriter out(entry.common);
  out.string("agent_id", entry.agent_id);
  out.string("path", entry.path);
  out.string("title", entry.title);
  out.string("snippet", entry.snippet);
  return out.finish();
}

}  // namespace bmad_mem
