// importer.cpp - turns messages and tool calls of transcripts into entries.
#include "exchange/import/importer.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/text.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

std::string_view source_of(const TranscriptToolEvent& event) {
  const bool from_web = event.tool.starts_with("Web") || event.tool.starts_with("web");
  return !event.is_result ? "assistant" : from_web ? "web" : "tool";
}

}  // namespace

Status RecordImporter::need_session_called(const std::string& name) {
  const SessionParams params{.session_id = session_.empty() ? name : session_,
                             .project_name = project_,
                             .session_type = name,
                             .tags = {"imported"}};
  if (!session_.empty()) {
    return sink_.need_session(params);
  }
  BMAD_TRY_ASSIGN(session_, sink_.need_shared_session(params));
  return {};
}

Status TranscriptImporter::need_session(const std::string& session) {
  if (sink_.has_session(session)) {
    return {};
  }
  return sink_.need_session({.session_id = session,
                             .agent_ids = {agent_},
                             .project_name = project_,
                             .session_type = format_,
                             .tags = {"imported"},
                             .title = title_});
}

std::string TranscriptImporter::time_of(const std::string& timestamp) {
  if (!timestamp.empty()) {
    last_time_ = timestamp;
  }
  return last_time_;
}

std::string TranscriptImporter::said_by_person(const std::string& text) {
  std::string typed = without_injected(text);
  if (is_blank(typed) && !is_blank(text)) {
    sink_.skip("messages made by the program");
    return {};
  }
  typed = commands_.typed(typed).value_or(typed);
  std::string said = without_private(typed);
  if (is_blank(said) && !is_blank(typed)) {
    sink_.skip("messages that are private");
  }
  return said;
}

Result<std::string> TranscriptImporter::add_message(const TranscriptMessage& message) {
  const std::string& session = message.session.empty() ? session_ : message.session;
  const SpeakerRow& speaker = speaker_row(message.speaker);
  const std::string time = time_of(message.timestamp);
  if (prompts_only_ && message.speaker != Speaker::kPerson) {
    return std::string();
  }
  const std::string said =
      message.speaker == Speaker::kAgent ? message.text : said_by_person(message.text);
  if (is_blank(said) && !is_blank(message.text)) {
    return std::string();
  }
  BMAD_TRY(need_session(session));
  const std::string_view text = utf8_prefix(stripped(said), kMessageSizeMax);
  if (text.size() < stripped(said).size()) {
    sink_.skip("ends of messages over 512 KiB");
  }
  const MessageKey key = {
      .session = session,
      .id = message.id,
      .role = speaker.role,
      .time = copies_have_new_ids_ ? std::string_view(message.timestamp) : std::string_view(),
      .text = text};
  if (same_elsewhere_ && !is_elsewhere_) {
    BMAD_TRY_ASSIGN(is_elsewhere_, sink_.has_others_than(key));
  }
  if (is_elsewhere_.value_or(false) && sink_.take_same(key)) {
    return message.id;
  }
  BMAD_TRY_ASSIGN(const CopiedMessages::Origin origin, sink_.take_copied(key, parent_session_));
  if (!origin.id.empty()) {
    return origin.id;
  }
  if (std::string id = sink_.take_recorded(session, speaker.role, text); !id.empty()) {
    sink_.note_said(key, id);
    return id;
  }
  sink_.note_said(key, message.id);
  const std::string& agent = message.agent.empty() ? agent_ : message.agent;
  std::string json = json_object(
      "id", message.id, "timestamp", if_some(time), "agent_id",
      only_if(message.speaker != Speaker::kPerson, agent), "role", speaker.role, "content", text,
      "context", only_if(!message.parent.empty(), object_of("parent_message_id", message.parent)),
      "topic", if_some(message.topic), "metadata",
      only_if(message.sidechain || !origin.session.empty(),
              object_of("forked_from", if_some(origin.session), "sidechain",
                        if_some(message.sidechain))),
      "source", object_of("kind", speaker.source), "imported_from",
      object_of("format", format_, "file", base_name(file_), "line", message.line));
  // Without a time the line gets that of the import, so it could never be the very same line.
  const bool may_have_grown = message.may_have_grown && !time.empty();
  BMAD_TRY(sink_.add(session, EntryType::kConversation, std::move(json),
                     may_have_grown ? KnownEntries::kSkipIdentical : KnownEntries::kSkipId,
                     {.file = file_, .line = message.line}));
  return message.id;
}

Status TranscriptImporter::add_tool_event(const TranscriptToolEvent& event) {
  if (prompts_only_) {
    return {};
  }
  const std::string_view text = stripped(event.text);
  const std::string time = time_of(event.timestamp);
  const std::string_view kind = event.is_result ? "tool_result" : "tool_use";
  const std::string_view content = words_prefix(text, kSnippetSizeMax);
  BMAD_TRY(need_session(session_));
  if (sink_.take_copied_event(session_, event.id) ||
      !sink_.take_recorded(session_, kind, content).empty()) {
    return {};
  }
  const auto made_id = [&] {
    return content_id("evt-", fmt::format("{}\n{}\n{}\n{}\n{}", session_, event.line, event.id,
                                          event.tool, event.text));
  };
  const std::string_view reference =
      event.is_result && !is_usable_id(event.reference) ? "" : std::string_view(event.reference);
  std::string json = json_object(
      "id", is_usable_id(event.id) ? event.id : made_id(), "timestamp", if_some(time), "agent_id",
      event.agent.empty() ? agent_ : event.agent, "kind", kind, "tool", if_some(event.tool), "path",
      if_some(event.path), "content", if_some(content), "metadata",
      only_if(event.is_result,
              object_of("is_error", event.is_error, "bytes", std::max(text.size(), event.size))),
      "references",
      only_if(!reference.empty(),
              object_of(event.is_result ? "events" : "conversations", std::array{reference})),
      "source", object_of("kind", source_of(event)), "imported_from",
      object_of("format", format_, "file", base_name(file_), "line", event.line));
  return sink_.add(session_, EntryType::kEvent, std::move(json), KnownEntries::kSkipId,
                   {.file = file_, .line = event.line});
}

Status TranscriptImporter::put(Item item) {
  if (is_in_group_) {
    assert(group_ < groups_.size());
    groups_[group_].items.push_back(std::move(item));
    return {};
  }
  if (auto* message = std::get_if<TranscriptMessage>(&item)) {
    const std::string* recorded = recorded_as_.find(last_message_);
    message->parent = recorded != nullptr ? *recorded : last_message_;
    if (!is_usable_id(message->id)) {
      message->id =
          content_id("msg-", fmt::format("{}\n{}\n{}", session_, message->salt, message->text));
    }
    message->text = stripped(message->text);
    BMAD_TRY_ASSIGN(last_message_, add_message(*message));
    return {};
  }
  if (auto* event = std::get_if<TranscriptToolEvent>(&item)) {
    event->reference = event->is_result ? event->reference : last_message_;
    return add_tool_event(*event);
  }
  sink_.skip(std::get<std::string>(item));
  return {};
}

Status TranscriptImporter::join(TranscriptMessage part, const std::string& key) {
  if (key.empty() || key != joined_key_) {
    BMAD_TRY(flush());
  }
  if (part.text.empty()) {
    return {};
  }
  if (joined_.text.empty()) {
    part.parent = last_message_;
    joined_ = std::move(part);
    joined_key_ = key;
  } else {
    // What was imported before its last block was written is an older version of it.
    joined_.may_have_grown = true;
    if (joined_.text.size() < kMessageSizeMax) {
      append_part(joined_.text, part.text);
    }
  }
  last_message_ = joined_.id;
  return {};
}

Status TranscriptImporter::flush() {
  joined_key_.clear();
  TranscriptMessage message = std::exchange(joined_, {});
  if (message.text.empty()) {
    return {};
  }
  const std::string id = message.id;
  const std::string last = std::exchange(last_message_, message.parent);
  BMAD_TRY(put(std::move(message)));
  if (last_message_ != id) {
    recorded_as_.set(id, last_message_);
  }
  last_message_ = last;
  return {};
}

void TranscriptImporter::begin_group(std::string id) {
  is_in_group_ = true;
  // Messages are replaced while they grow, so the one in question is nearly always the last.
  const auto found = std::find_if(groups_.rbegin(), groups_.rend(), [&](const Group& group) {
    return !id.empty() && group.id == id;
  });
  if (found == groups_.rend()) {
    groups_.push_back({.id = std::move(id)});
    group_ = groups_.size() - 1;
  } else {
    found->items.clear();
    group_ = static_cast<std::size_t>(groups_.rend() - found) - 1;
  }
}

void TranscriptImporter::drop_groups(const std::string& id) {
  const auto found = std::ranges::find(groups_, id, &Group::id);
  groups_.erase(id.empty() || found == groups_.end() ? groups_.begin() : found, groups_.end());
}

Status TranscriptImporter::put_groups() {
  assert(!is_in_group_);
  for (Group& group : std::exchange(groups_, {})) {
    for (Item& item : group.items) {
      BMAD_TRY(put(std::move(item)));
    }
  }
  return {};
}

ParsedJson first_record(std::string_view beginning) {
  beginning = trimmed(beginning);
  return ParsedJson(repaired_json(beginning.substr(0, beginning.find('\n'))));
}

char first_character(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(kWhiteSpace);
  return first == std::string_view::npos ? '\0' : beginning[first];
}

std::string time_text(JsonValue text) {
  const auto time = try_parse_rfc3339(text.string());
  return time ? format_rfc3339(*time) : "";
}

std::string python_time(JsonValue text) {
  const std::string time = time_text(text);
  const auto zoned = try_parse_rfc3339(std::string(text.string()) + "Z");
  return time.empty() && zoned ? format_rfc3339(*zoned) : time;
}

}  // namespace bmad_mem::cli
