// session_change.cpp - title and metadata of a session, which anybody may set.
//
//   {"reviewer":"Ann","tags":["a"],"old":null}  ->  without secrets  ->  manifest.json, "metadata"
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_copy.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/text.hpp"
#include "model/title.hpp"
#include "store/layout.hpp"
#include "store/session_title.hpp"
#include "store/sessions.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kMetadataSizeMax = std::size_t{16} << 10U;

bool is_null(JsonValue value) { return value.kind() == JsonKind::kNull; }

Error bad_metadata(ErrorCode code, std::string_view key, std::string message) {
  return {.code = code,
          .message = std::move(message),
          .field = key.empty() ? "metadata" : fmt::format("metadata.{}", key)};
}

/// Texts without their secrets.
class Cleaning {
 public:
  Cleaning(const Store& store, const std::string& session_id)
      : rules_(store.redaction.get()), session_id_(session_id) {}

  [[nodiscard]] std::string text(std::string_view text) const {
    return rules_ == nullptr ? std::string(text) : rules_->redact_text(text, session_id_);
  }

  /// The value of a member, which may say what a value is that says nothing by itself.
  [[nodiscard]] std::string value(std::string_view key, std::string_view value) const {
    const std::string before = fmt::format("{}=", key);
    const std::string both = text(before + std::string(value));
    return both.starts_with(before) ? both.substr(before.size()) : text(value);
  }

  /// Writes `value` with clean strings.
  void write(JsonWriter& json, std::string_view key, JsonValue value) const {
    if (value.is_string()) {
      json.string(this->value(key, value.string()));
    } else if (value.is_array()) {
      json.begin_array();
      for (const JsonValue element : value.elements()) {
        write(json, key, element);
      }
      json.end_array();
    } else if (value.is_object()) {
      json.begin_object();
      for (const JsonMember& member : value.members()) {
        json.key(text(member.key));
        write(json, member.key, member.value);
      }
      json.end_object();
    } else {
      write_json(json, value);
    }
  }

 private:
  const WriteRedaction* rules_;
  const std::string& session_id_;
};

void set_title(Manifest& manifest, std::string_view title, const Cleaning& clean) {
  constexpr std::size_t kChosenWidth = 200;
  manifest.title = title_line(clean.text(title), kChosenWidth);
}

Status set_text(std::string_view key, JsonValue value, const Cleaning& clean, std::string& out) {
  if (!value.is_string() && !is_null(value)) {
    return bad_metadata(ErrorCode::E_SCHEMA_INVALID, key, "must be a string, or null to remove it");
  }
  out = is_null(value) ? std::string() : clean.text(value.string());
  return {};
}

Status set_tags(JsonValue value, const Cleaning& clean, std::vector<std::string>& out) {
  std::vector<std::string> tags;
  bool are_texts = value.is_array() || is_null(value);
  for (const JsonValue element : value.elements()) {
    are_texts = are_texts && element.is_string();
    tags.push_back(clean.text(element.string()));
  }
  if (!are_texts) {
    return bad_metadata(ErrorCode::E_SCHEMA_INVALID, "tags",
                        "must be a list of strings, or null to remove them");
  }
  out = std::move(tags);
  return {};
}

Status set_member(const JsonMember& member, const Cleaning& clean, Manifest& manifest) {
  constexpr std::size_t kKeySizeMax = 64;
  const std::string_view key = member.key;
  if (key.empty() || key.size() > kKeySizeMax) {
    return bad_metadata(ErrorCode::E_SCHEMA_INVALID, "", "a name must have 1 to 64 bytes");
  }
  if (key == "title") {
    std::string title;
    BMAD_TRY(set_text(key, member.value, clean, title));
    set_title(manifest, title, clean);
    return {};
  }
  if (key == "project_name") {
    return set_text(key, member.value, clean, manifest.project_name);
  }
  if (key == "session_type") {
    return set_text(key, member.value, clean, manifest.session_type);
  }
  if (key == "tags") {
    return set_tags(member.value, clean, manifest.tags);
  }
  if (!can_write_json(member.value)) {
    return bad_metadata(ErrorCode::E_SCHEMA_INVALID, key,
                        "numbers above 9223372036854775807 lose digits; write them as strings");
  }
  JsonWriter json;
  clean.write(json, key, member.value);
  manifest.set_metadata(clean.text(key), is_null(member.value) ? std::string() : json.take());
  return {};
}

}  // namespace

Status change_manifest(const Store& store, const SessionChange& change, Manifest& manifest) {
  const Cleaning clean(store, manifest.session_id);
  if (change.title) {
    set_title(manifest, *change.title, clean);
  }
  if (change.metadata_json.empty()) {
    return {};
  }
  if (change.metadata_json.size() > kMetadataSizeMax) {
    return bad_metadata(ErrorCode::E_SIZE_LIMIT, "", "is longer than 16 KiB; store it as an entry");
  }
  JsonParser parser;
  const Result<JsonValue> object = parser.parse(change.metadata_json);
  if (!object || !object->is_object()) {
    return bad_metadata(ErrorCode::E_INVALID_FORMAT, "",
                        "must be a JSON object, such as {\"reviewer\":\"Ann\"}");
  }
  for (const JsonMember& member : object->members()) {
    BMAD_TRY(set_member(member, clean, manifest));
  }
  if (manifest.to_text().size() > 4 * kMetadataSizeMax) {
    return bad_metadata(ErrorCode::E_SIZE_LIMIT, "",
                        "would make the manifest longer than 64 KiB; store it as an entry");
  }
  return {};
}

namespace {

Status write_change(Store& store, const std::string& session_id, const SessionChange& change) {
  BMAD_TRY(check_session(store, session_id));
  const std::shared_ptr<OpenSession> session = store.session(session_id);
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, session->writer.lock("session set"));
  BMAD_TRY_ASSIGN(Manifest manifest, load_manifest(*store.files, session_id));
  const std::string before = manifest.to_text();
  BMAD_TRY(change_manifest(store, change, manifest));
  if (manifest.to_text() == before) {
    return {};
  }
  manifest.updated_at = std::max(manifest.updated_at, store.clock.now());
  session->manifest_known = false;
  return save_manifest(*store.files, manifest);
}

}  // namespace

Result<Session> update_session(Store& store, const std::string& session_id,
                               const SessionChange& change) {
  Status written = write_change(store, session_id, change);
  constexpr int kTries = 4;  // It may be archived again before we get to it.
  for (int i = 1; i < kTries && !written && is_archived(store, session_id) &&
                  (written.error().code == ErrorCode::E_SESSION_ARCHIVED ||
                   written.error().code == ErrorCode::E_SESSION_NOT_FOUND);
       ++i) {
    BMAD_TRY(store.above.restore(store, session_id));
    written = write_change(store, session_id, change);
  }
  BMAD_TRY(std::move(written));
  return titled_session(store, session_id);
}

}  // namespace bmad_mem
