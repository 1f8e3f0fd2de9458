#include "exchange/import/transcript_writer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/utf8.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

std::string event_id(const std::string& id, const TranscriptToolEvent& event) {
  return is_usable_id(id) ? id
                          : content_id("evt-", fmt::format("{}\n{}\n{}\n{}\n{}", event.session,
                                                           event.line, id, event.tool, event.text));
}

}  // namespace

TranscriptWriter::TranscriptWriter(ImportSink& sink, std::string_view format,
                                   const std::string& file, std::string_view agent,
                                   std::string_view project)
    : sink_(sink),
      format_(format),
      path_(file),
      provenance_(fmt::format(R"({{"format":{},"file":{},"line":)", json_quoted(format),
                              json_quoted(base_name(file)))),
      agent_(agent),
      project_(project) {}

void TranscriptWriter::set_folder(std::string_view folder) { project_ = base_name(folder); }

std::string TranscriptWriter::provenance(std::uint64_t line) const {
  return fmt::format("{}{}}}", provenance_, line);
}

Status TranscriptWriter::need_session(const std::string& session) {
  if (sink_.has_session(session)) {
    return {};
  }
  return sink_.need_session({.session_id = session,
                             .agent_ids = {agent_},
                             .project_name = project_,
                             .session_type = format_,
                             .tags = {"imported"}});
}

Status TranscriptWriter::put(const std::string& session, EntryType type, std::string json,
                             KnownEntries known, std::uint64_t line) {
  BMAD_TRY(need_session(session));
  return sink_.add(session, type, std::move(json), known, {.file = path_, .line = line});
}

Result<std::string> TranscriptWriter::add_message(const TranscriptMessage& message) {
  BMAD_TRY(need_session(message.session));
  const std::string_view text = utf8_prefix(message.text, kMessageSizeMax);
  if (text.size() < message.text.size()) {
    sink_.skip("ends of messages over 512 KiB");
  }
  if (std::string id = sink_.take_recorded(message.session, message.role, text); !id.empty()) {
    return id;
  }
  JsonWriter json;
  json.begin_object().member("id", message.id);
  add_if_any(json, "timestamp", message.timestamp);
  add_if_any(json, "agent_id", message.agent);
  json.member("role", message.role).member("content", text);
  if (!message.parent.empty()) {
    json.key("context").begin_object().member("parent_message_id", message.parent).end_object();
  }
  add_if_any(json, "topic", message.topic);
  if (message.sidechain) {
    json.key("metadata").raw(R"({"sidechain":true})");
  }
  json.key("source").raw(message.from_agent ? R"({"kind":"assistant"})" : R"({"kind":"user"})");
  json.key("imported_from").raw(provenance(message.line)).end_object();
  // Without a time the line gets that of the import, so it could never be the very same line.
  const bool may_have_grown = message.may_have_grown && !message.timestamp.empty();
  BMAD_TRY(put(message.session, EntryType::kConversation, json.take(),
               may_have_grown ? KnownEntries::kSkipIdentical : KnownEntries::kSkipId,
               message.line));
  return message.id;
}

Status TranscriptWriter::add_tool_call(const TranscriptToolEvent& call) {
  JsonWriter json;
  json.begin_object().member("id", event_id(call.id, call));
  add_if_any(json, "timestamp", call.timestamp);
  json.member("agent_id", call.agent).member("kind", "tool_use");
  add_if_any(json, "tool", call.tool);
  add_if_any(json, "path", call.path);
  add_if_any(json, "content", utf8_prefix(stripped(call.text), kSnippetSizeMax));
  if (!call.reference.empty()) {
    json.key("references").begin_object().key("conversations").begin_array();
    json.string(call.reference).end_array().end_object();
  }
  json.key("source").raw(R"({"kind":"assistant"})");
  json.key("imported_from").raw(provenance(call.line)).end_object();
  return put(call.session, EntryType::kEvent, json.take(), KnownEntries::kSkipId, call.line);
}

Status TranscriptWriter::add_tool_result(const TranscriptToolEvent& result) {
  const std::string_view whole = stripped(result.text);
  JsonWriter json;
  json.begin_object().member("id", event_id(result.id, result));
  add_if_any(json, "timestamp", result.timestamp);
  json.member("agent_id", result.agent).member("kind", "tool_result");
  add_if_any(json, "tool", result.tool);
  add_if_any(json, "path", result.path);
  add_if_any(json, "content", utf8_prefix(whole, kSnippetSizeMax));
  json.key("metadata").begin_object().member("is_error", result.is_error);
  json.member("bytes", static_cast<std::uint64_t>(std::max(whole.size(), result.size)));
  json.end_object();
  if (is_usable_id(result.reference)) {
    json.key("references").begin_object().key("events").begin_array();
    json.string(result.reference).end_array().end_object();
  }
  const bool from_web = result.tool.starts_with("Web") || result.tool.starts_with("web");
  json.key("source").raw(from_web ? R"({"kind":"web"})" : R"({"kind":"tool"})");
  json.key("imported_from").raw(provenance(result.line)).end_object();
  return put(result.session, EntryType::kEvent, json.take(), KnownEntries::kSkipId, result.line);
}

}  // namespace bmad_mem::cli
