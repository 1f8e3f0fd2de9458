#include "http/api/record_line.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/json_text.hpp"
#include "cli/text.hpp"
#include "mcp/tool_arguments.hpp"

namespace bmad_mem::cli {
namespace {

/// A type of records as the specification names them, and the member that says so in ours.
struct SpecifiedType {
  std::string_view name;
  EntryType type;
  std::string_view member;
  std::string_view value;
};

constexpr std::array<SpecifiedType, 6> kSpecifiedTypes = {{
    {"prompt", EntryType::kConversation, "role", "user"},
    {"assistant", EntryType::kConversation, "role", "assistant"},
    {"tool_use", EntryType::kEvent, "kind", "tool_use"},
    {"tool_result", EntryType::kEvent, "kind", "tool_result"},
    {"approval", EntryType::kEvent, "kind", "approval"},
    {"error", EntryType::kEvent, "kind", "error"},
}};

const SpecifiedType* specified_type(std::string_view name) {
  const auto* const found = std::ranges::find(kSpecifiedTypes, name, &SpecifiedType::name);
  return found == kSpecifiedTypes.end() ? nullptr : found;
}

/// A member of an object: decoded key, and its key and value as they stand.
struct Member {
  std::string_view key;
  std::string_view key_raw;
  JsonValue value;
  std::string_view raw;
};

std::vector<Member> members_of(JsonValue object, std::string_view raw) {
  const std::vector<MemberText> raws = json_members(raw);
  std::vector<Member> members;
  for (const JsonMember& member : object.members()) {
    const MemberText& text = raws[members.size()];
    members.push_back({member.key, text.key, member.value, text.value});
  }
  return members;
}

/// Puts a line together. Values may have line breaks between their tokens, which a log must not.
class LineBuilder {
 public:
  void add(std::string_view key_raw, std::string_view raw) {
    const bool is_one_line = raw.find_first_of("\r\n") == std::string_view::npos;
    line_ += fmt::format("{}\"{}\":{}", line_.empty() ? "{" : ",", key_raw,
                         is_one_line ? std::string(raw) : json_compact(raw));
  }
  [[nodiscard]] std::string take() && { return line_.empty() ? "{}" : std::move(line_) + "}"; }

 private:
  std::string line_;
};

/// Reads the members of a record one by one into a RecordLine.
class RecordReader {
 public:
  RecordReader(Timestamp now, bool is_in_batch) : now_(now), is_in_batch_(is_in_batch) {}

  /// Reads the members of `object`, whose text is `raw`, as a record of this type.
  Result<RecordLine> read_all(std::string_view type_name, JsonValue object, std::string_view raw) {
    BMAD_TRY_ASSIGN(record_.type, record_type_of(type_name));
    specified_ = specified_type(type_name);
    for (const Member& member : members_of(object, raw)) {
      BMAD_TRY(read(member));
    }
    return take();
  }

 private:
  Status read(const Member& member) {
    if (member.key == "type" && !is_in_batch_) {
      return {};  // Known before all others.
    }
    if (specified_ != nullptr && member.key == specified_->member) {
      return bad_argument(
          member.key, fmt::format("the type {} says it already; leave it out", specified_->name));
    }
    if (member.key == "session_id") {
      return read_session(member);
    }
    if (member.key == "ts" || member.key == "timestamp") {
      return read_time(member);
    }
    if (specified_ != nullptr && (member.key == "workspace" || member.key == "metadata")) {
      (member.key == "workspace" ? workspace_ : metadata_) = member;
      return {};
    }
    if (member.key == "id") {
      record_.id = member.value.string();
    }
    line_.add(member.key_raw, member.raw);
    return {};
  }

  Result<RecordLine> take() {
    record_.timestamp = time_.value_or(now_);
    line_.add("timestamp", json_quoted(format_rfc3339(record_.timestamp)));
    if (specified_ != nullptr) {
      line_.add(specified_->member, json_quoted(specified_->value));
    }
    BMAD_TRY(add_metadata());
    record_.json = std::move(line_).take();
    return std::move(record_);
  }

  Status read_session(const Member& member) {
    if (is_in_batch_) {
      return bad_argument(member.key, "it stands beside the entries, and not in each of them");
    }
    if (!member.value.is_string() || member.value.string().empty()) {
      return bad_argument(member.key, "must be the id of a session; leave it out for the last one");
    }
    record_.session_id = member.value.string();
    return {};
  }

  Status read_time(const Member& member) {
    if (time_) {
      return bad_argument(member.key, "give ts or timestamp, not both");
    }
    if (member.key == "timestamp") {
      time_ = try_parse_rfc3339(member.value.string());
      return time_ ? Status()
                   : bad_argument(member.key, "must be a time such as \"2026-01-11T10:05:23Z\"");
    }
    // The year 9999: what RFC 3339 can say.
    constexpr std::int64_t kMsMax = 253'402'300'799'999;
    const std::int64_t ms = member.value.integer(-1);
    if (ms < 0 || ms > kMsMax) {
      return bad_argument(member.key, "must be milliseconds since 1970, as a whole number");
    }
    time_ = Timestamp(std::chrono::milliseconds(ms));
    return {};
  }

  /// The metadata, with the workspace as a member of it.
  Status add_metadata() {
    if (!workspace_) {
      if (metadata_) {
        line_.add(metadata_->key_raw, metadata_->raw);
      }
      return {};
    }
    if (!workspace_->value.is_string()) {
      return bad_argument("workspace", "must be a string");
    }
    LineBuilder metadata;
    if (metadata_) {
      if (!metadata_->value.is_object() || metadata_->value["workspace"].present()) {
        return bad_argument("metadata",
                            "must be an object, and have no workspace beside the other");
      }
      for (const Member& member : members_of(metadata_->value, metadata_->raw)) {
        metadata.add(member.key_raw, member.raw);
      }
    }
    metadata.add("workspace", workspace_->raw);
    line_.add("metadata", std::move(metadata).take());
    return {};
  }

  Timestamp now_;
  bool is_in_batch_;
  const SpecifiedType* specified_ = nullptr;
  std::optional<Timestamp> time_;
  std::optional<Member> workspace_;
  std::optional<Member> metadata_;
  LineBuilder line_;
  RecordLine record_;
};

}  // namespace

Result<EntryType> record_type_of(std::string_view name) {
  if (const SpecifiedType* const specified = specified_type(name)) {
    return specified->type;
  }
  if (const std::optional<EntryType> type = try_parse_entry_type(name)) {
    return *type;
  }
  std::vector<std::string_view> known;
  known.reserve(kEntryTypeCount + kSpecifiedTypes.size());
  for (const EntryType type : kEntryTypes) {
    known.push_back(entry_type_name(type));
  }
  for (const SpecifiedType& specified : kSpecifiedTypes) {
    known.push_back(specified.name);
  }
  const std::string_view near = nearest_word(name, known);
  return bad_argument("type",
                      fmt::format("\"{}\" is no type{}; there are {}", utf8_prefix(name, 100),
                                  near.empty() ? "" : fmt::format(", did you mean {}?", near),
                                  fmt::join(known, ", ")));
}

Result<RecordLine> read_record(JsonValue body, std::string_view raw, Timestamp now) {
  if (!body["type"].is_string()) {
    return bad_argument("type", "is required: conversation, decision, prompt, tool_use …");
  }
  return RecordReader(now, false).read_all(body["type"].string(), body, raw);
}

Result<std::vector<std::string>> read_batch(JsonValue body, std::string_view raw,
                                            std::string_view type_name, Timestamp now) {
  std::vector<std::string> lines;
  for (const Member& member : members_of(body, raw)) {
    if (member.key != "entries") {
      continue;
    }
    if (!member.value.is_array()) {
      return bad_argument("entries", "must be an array of objects");
    }
    const std::vector<std::string_view> raws = json_elements(member.raw);
    for (const JsonValue entry : member.value.elements()) {
      Result<RecordLine> record =
          entry.is_object()
              ? RecordReader(now, true).read_all(type_name, entry, raws[lines.size()])
              : bad_argument("entries", fmt::format("an entry must be an object, not {}",
                                                    json_kind_name(entry.kind())));
      if (!record) {
        Error error = std::move(record).error();
        error.line = lines.size() + 1;
        return error;
      }
      lines.push_back(std::move(record->json));
    }
  }
  return lines;
}

}  // namespace bmad_mem::cli
