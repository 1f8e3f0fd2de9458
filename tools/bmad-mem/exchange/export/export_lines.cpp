// export_lines.cpp - writes entries and sessions as lines of an export, and reads them back.
#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "cli/json_text.hpp"
#include "cli/results.hpp"
#include "exchange/export/export_writer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 2> kAdded = {"session_id", "type"};

/// Whether a member may have to be renamed: quick, and never wrong when it says no.
bool may_have_added(std::string_view text) {
  return text.contains("session_id\"") || text.contains("type\"");
}

/// `front` (members, with a comma behind them) and the members of the entry.
std::string with_front(const Entry& entry, std::string_view front) {
  const std::size_t brace = entry.json.find('{');
  assert(brace != std::string::npos && front.ends_with(','));
  const std::string_view type = entry_type_name(entry.type);
  if (!may_have_added(entry.json)) {
    return fmt::format("{{{}{}", front, std::string_view(entry.json).substr(brace + 1));
  }
  std::string out = fmt::format("{{{}", front);
  for (const MemberText& member : json_members(entry.json)) {
    out += fmt::format("\"{}\":{},", name_beside(kAdded, type, member.key), member.value);
  }
  out.back() = '}';
  return out;
}

Error bad_field(std::string_view field, std::string_view why) {
  return field_error(ErrorCode::E_SCHEMA_INVALID, fmt::format("session.{}", field),
                     std::string(why));
}

Status read_text(JsonValue identity, std::string_view key, std::string& text) {
  const JsonValue value = identity[key];
  if (value.present() && !value.is_string()) {
    return bad_field(key, "must be a string");
  }
  text = value.string();
  return {};
}

Status read_list(JsonValue identity, std::string_view key, std::vector<std::string>& texts) {
  const JsonValue list = identity[key];
  if (list.present() && !list.is_array()) {
    return bad_field(key, "must be a list of strings");
  }
  for (const JsonValue element : list.elements()) {
    if (!element.is_string()) {
      return bad_field(key, "must be a list of strings");
    }
    texts.emplace_back(element.string());
  }
  return {};
}

Status read_time(JsonValue identity, std::string_view key, std::optional<Timestamp>& time) {
  if (!identity[key].present()) {
    return {};
  }
  time = try_parse_rfc3339(identity[key].string());
  return time ? Status() : bad_field(key, "must be a time such as 2026-01-11T10:00:00Z");
}

}  // namespace

bool looks_like_export(std::string_view beginning) {
  return beginning.starts_with(R"({"session":{)") || is_export_document(beginning);
}

bool is_export_document(std::string_view beginning) {
  static constexpr std::string_view kStart = R"({"version":1,"exported_at":)";
  std::string front;  // Without blanks: another program may have formatted the document.
  for (const char c : beginning.substr(0, 200)) {
    front += std::string_view(" \t\r\n").contains(c) ? "" : std::string(1, c);
  }
  return front.starts_with(kStart);
}

std::string session_identity(const Session& session) {
  const bool has_title = !session.title.empty() && session.title_from != TitleSource::kDay;
  return json_object("session_id", session.session_id, "created_at",
                     only_if(!session.problem, session.created_at), "closed_at", session.closed_at,
                     "user_id", if_some(session.user_id), "agent_ids", if_some(session.agent_ids),
                     "project_name", if_some(session.project_name), "session_type",
                     if_some(session.session_type), "tags", if_some(session.tags), "title",
                     only_if(has_title, session.title), "title_from",
                     only_if(has_title, title_source_name(session.title_from)), "metadata",
                     only_if(!session.metadata_json.empty(), raw_json(session.metadata_json)));
}

Result<Session> read_session_identity(JsonValue identity) {
  Session session;
  if (!identity.is_object()) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, "session",
                       "must be an object that identifies the session");
  }
  std::optional<Timestamp> created_at;
  BMAD_TRY(read_text(identity, "session_id", session.session_id));
  if (session.session_id.empty()) {
    return bad_field("session_id", "is missing");
  }
  BMAD_TRY(read_time(identity, "created_at", created_at));
  BMAD_TRY(read_time(identity, "closed_at", session.closed_at));
  BMAD_TRY(read_text(identity, "user_id", session.user_id));
  BMAD_TRY(read_list(identity, "agent_ids", session.agent_ids));
  BMAD_TRY(read_text(identity, "project_name", session.project_name));
  BMAD_TRY(read_text(identity, "session_type", session.session_type));
  BMAD_TRY(read_list(identity, "tags", session.tags));
  if (identity["title_from"].string() == title_source_name(TitleSource::kChosen)) {
    BMAD_TRY(read_text(identity, "title", session.title));
    session.title_from = TitleSource::kChosen;
  }
  if (const JsonValue metadata = identity["metadata"]; metadata.is_object()) {
    session.metadata_json = json_of(metadata);
  }
  session.created_at = created_at.value_or(system_clock().now());
  return session;
}

std::string exported_entry(const Entry& entry) {
  return with_front(entry, fmt::format("\"session_id\":{},\"type\":\"{}\",",
                                       json_quoted(entry.session_id), entry_type_name(entry.type)));
}

std::string exported_entry_of_session(const Entry& entry) {
  return with_front(entry, fmt::format("\"type\":\"{}\",", entry_type_name(entry.type)));
}

std::string stored_entry(std::string_view text, std::string_view type) {
  std::string out = "{";
  for (const MemberText& member : json_members(text)) {
    if (!is_among(kAdded, member.key)) {
      out += fmt::format("{}\"{}\":{}", out.size() == 1 ? "" : ",",
                         name_within(kAdded, type, member.key), member.value);
    }
  }
  return out + "}";
}

std::string EntryContent::text(std::string_view key) const {
  const JsonValue value = value_[key];
  if (value.is_string()) {
    return std::string(value.string());
  }
  if (value.present() && value.kind() != JsonKind::kNull) {
    const std::vector<MemberText> members = json_members(entry_.json);
    const auto member = std::ranges::find(members, key, &MemberText::key);
    return member == members.end() ? std::string() : json_compact(member->value);
  }
  return {};
}

std::vector<std::string> EntryContent::texts(std::string_view key) const {
  const JsonValue value = value_[key];
  std::vector<std::string> found = json_strings(value);
  found.emplace_back(value.string());
  std::erase(found, "");
  return found;
}

std::string EntryContent::main_text() const {
  switch (entry_.type) {
    case EntryType::kConversation:
    case EntryType::kFact:
      return text("content");
    case EntryType::kDecision:
      return text("decision");
    case EntryType::kFinding:
      return text("description");
    case EntryType::kPreference:
      return text("key") + ": " + text("value");
    case EntryType::kEvent: {
      std::string out = text("kind");
      for (const std::string_view key : {"tool", "path", "content"}) {
        append_part(out, text(key), " ");
      }
      return out;
    }
    case EntryType::kAgentState:
      return text("state");
    case EntryType::kArtifact:
      break;
  }
  std::string out = text("title");
  append_part(out, text("snippet"), ": ");
  return out;
}

}  // namespace bmad_mem::cli
