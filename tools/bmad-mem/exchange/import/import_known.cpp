// import_known.cpp - what a memory has already of what is imported: recorded by hooks, in another
// session, or under another id.
#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/json.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/import_sink.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kImportedFrom = R"("imported_from":)";

}  // namespace

Status ImportSink::read_recorded(const std::string& session_id, bool is_there) {
  assert(there() != nullptr && "without a memory there are no known entries");
  BMAD_TRY_ASSIGN(std::vector<Entry> messages, there()->deleted_entries(session_id));
  const std::size_t deleted = messages.size();
  SessionImport& at = session_import(session_id);
  if (is_there) {
    BMAD_TRY_ASSIGN(
        const std::vector<Entry> listed,
        there()->list({.sessions = {session_id}, .types = {EntryType::kConversation}, .limit = 0}));
    messages.insert(messages.end(), listed.begin(), listed.end());
  }
  if (!is_there || memory_ == nullptr) {
    for (std::size_t i = 0; i < deleted; ++i) {
      at.deleted.insert(messages[i].id);
    }
  }
  for (const Entry& message : messages) {
    at.own.insert(message.id);
    add_recorded(at.recorded, message, "role");
  }
  if (!at.recorded.empty()) {
    BMAD_TRY_ASSIGN(scanner_, there()->scanner());
    if (is_there) {
      BMAD_TRY_ASSIGN(
          const std::vector<Entry> events,
          there()->list({.sessions = {session_id}, .types = {EntryType::kEvent}, .limit = 0}));
      for (const Entry& event : events) {
        add_recorded(at.recorded, event, "kind");
      }
    }
  }
  return {};
}

void ImportSink::add_recorded(Recorded& recorded, const Entry& entry, std::string_view kind) {
  if (entry.json.contains(kImportedFrom)) {
    return;
  }
  if (const Result<JsonValue> value = parser_.parse(entry.json)) {
    const std::string_view what = (*value)[kind].string();
    const std::string_view text = stripped((*value)["content"].string());
    recorded.emplace(
        content_id(what, text),
        RecordedText{.id = entry.id, .rest = what == "assistant" ? std::string(text) : ""});
  }
}

Status ImportSink::read_said(std::string_view session_type) {
  if (there() == nullptr || !read_types_.emplace(session_type).second) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<Session> sessions, there()->list_sessions());
  for (const Session& session : sessions) {
    if (session.session_type != session_type) {
      continue;
    }
    BMAD_TRY_ASSIGN(const std::vector<Entry> entries,
                    there()->list({.sessions = {session.session_id},
                                   .types = {EntryType::kConversation, EntryType::kEvent},
                                   .limit = 0}));
    for (const Entry& entry : entries) {
      const Result<JsonValue> value = parser_.parse(entry.json);
      if (entry.type == EntryType::kEvent) {
        copied_.add_event(session.session_id, entry.id);
      } else if (value) {
        copied_.add({.session = session.session_id,
                     .id = entry.id,
                     .role = (*value)["role"].string(),
                     .time = (*value)["timestamp"].string(),
                     .text = (*value)["content"].string()},
                    entry.id);
      }
    }
  }
  return {};
}

Result<CopiedMessages::Origin> ImportSink::take_copied(const MessageKey& key,
                                                       std::string_view parent) {
  if (copied_.is_past_copies(key.session)) {
    return CopiedMessages::Origin{};
  }
  const SessionImport& at = session_import(key.session);
  if (at.own.contains(key.id)) {
    copied_.end_copies(key.session);
    return CopiedMessages::Origin{};
  }
  MessageKey stored = key;
  std::string redacted;
  if (there() != nullptr && !copied_.knows(key, parent)) {
    BMAD_TRY(read_said(at.type));
    BMAD_TRY_ASSIGN(scanner_, there()->scanner());
    redacted = scanner_->redact(key.text);
    stored.text = copied_.knows(key, parent) ? key.text : redacted;
  }
  CopiedMessages::Origin origin = copied_.origin_of(stored, parent);
  if (count_known(!origin.id.empty())) {
    tally().sessions.try_emplace(std::string(origin.session));
  }
  return origin;
}

Result<bool> ImportSink::has_others_than(const MessageKey& key) {
  const SessionImport& at = session_import(key.session);
  if (at.own.empty()) {
    return at.has_said;
  }
  if (!at.own.contains(key.id)) {
    BMAD_TRY(read_said(at.type));
  }
  return !at.own.contains(key.id);
}

bool ImportSink::take_same(const MessageKey& key) {
  return count_known(copied_.knows({.role = key.role, .text = key.text}, key.session));
}

bool ImportSink::take_copied_event(std::string_view session, std::string_view id) {
  const bool is_copied = copied_.is_copied_event(session, id);
  copied_.add_event(session, id);
  return count_known(is_copied);
}

std::string ImportSink::take_recorded(const std::string& session_id, std::string_view what,
                                      std::string_view text) {
  Recorded& recorded = session_import(session_id).recorded;
  if (recorded.empty()) {
    return {};
  }
  text = stripped(text);
  auto found = recorded.find(content_id(what, text));
  if (found == recorded.end()) {
    assert(scanner_ && "read_recorded() makes it with the first text");
    const std::string redacted = scanner_->redact(text);
    found = recorded.find(content_id(what, redacted));
    if (found == recorded.end()) {
      return what == "assistant" ? take_part_of_recorded(recorded, redacted) : std::string();
    }
  }
  count_known(true);
  tally().differs = true;
  std::string id = std::move(found->second.id);
  recorded.erase(found);
  return id;
}

std::string ImportSink::take_part_of_recorded(Recorded& recorded, std::string_view text) {
  for (auto& [key, message] : recorded) {
    const std::string_view rest = message.rest;
    if (!text.empty() && rest.starts_with(text) &&
        (rest.size() == text.size() || rest[text.size()] == '\n')) {
      count_known(true);
      tally().differs = true;
      message.rest = stripped(rest.substr(text.size()));
      return message.id;
    }
  }
  return {};
}

}  // namespace bmad_mem::cli
