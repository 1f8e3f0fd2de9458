// session_change.cpp - changes the title and the metadata of a session.
//
//   {"reviewer":"Ann","tags":["a"],"old":null}  ->  without secrets  ->  manifest.json, "metadata"
#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "model/title.hpp"
#include "store/sessions.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kMetadataSizeMax = std::size_t{16} << 10U;

bool is_null(JsonValue value) { return value.kind() == JsonKind::kNull; }

Error bad_metadata(ErrorCode code, std::string_view key, std::string message) {
  return field_error(code, key.empty() ? "metadata" : fmt::format("metadata.{}", key),
                     std::move(message));
}

void set_title(Manifest& manifest, std::string_view title) {
  constexpr std::size_t kChosenWidth = 200;
  manifest.title = title_line(title, kChosenWidth);
  assert(!manifest.title.contains('\n') && "a title is one line");
}

Status set_text(std::string_view key, JsonValue value, std::string& out) {
  if (!value.is_string() && !is_null(value)) {
    return bad_metadata(ErrorCode::E_SCHEMA_INVALID, key, "must be a string, or null to remove it");
  }
  out = value.string();
  return {};
}

Status set_tags(JsonValue value, std::vector<std::string>& out) {
  if (!is_string_list(value) && !is_null(value)) {
    return bad_metadata(ErrorCode::E_SCHEMA_INVALID, "tags",
                        "must be a list of strings, or null to remove them");
  }
  out = json_strings(value);
  return {};
}

Status set_member(const JsonMember& member, Manifest& manifest) {
  constexpr std::size_t kKeySizeMax = 64;
  const std::string_view key = member.key;
  if (key.empty() || key.size() > kKeySizeMax) {
    return bad_metadata(ErrorCode::E_SCHEMA_INVALID, "", "a name must have 1 to 64 bytes");
  }
  if (key == "title") {
    std::string title;
    BMAD_TRY(set_text(key, member.value, title));
    set_title(manifest, title);
    return {};
  }
  if (key == "project_name") {
    return set_text(key, member.value, manifest.project_name);
  }
  if (key == "session_type") {
    return set_text(key, member.value, manifest.session_type);
  }
  if (key == "tags") {
    return set_tags(member.value, manifest.tags);
  }
  if (!can_write_json(member.value)) {
    return bad_metadata(ErrorCode::E_SCHEMA_INVALID, key,
                        "numbers above 9223372036854775807 lose digits; write them as strings");
  }
  JsonWriter json;
  write_json(json, member.value);
  manifest.set_metadata(key, is_null(member.value) ? std::string() : json.take());
  return {};
}

}  // namespace

Status change_manifest(const Store& store, const SessionChange& change, Manifest& manifest) {
  const WriteRedaction* const rules = store.redaction.get();
  const std::string& id = manifest.session_id;
  if (change.title) {
    set_title(manifest, rules == nullptr ? *change.title : rules->redact_text(*change.title, id));
  }
  if (change.metadata_json.empty()) {
    return {};
  }
  if (change.metadata_json.size() > kMetadataSizeMax) {
    return bad_metadata(ErrorCode::E_SIZE_LIMIT, "", "is longer than 16 KiB; store it as an entry");
  }
  JsonParser parser;
  RedactionCounts counts;
  const std::string clean = rules == nullptr
                                ? change.metadata_json
                                : rules->redact_object(change.metadata_json, id, counts);
  const Result<JsonValue> object = parser.parse(clean);
  if (!object || !object->is_object()) {
    return bad_metadata(ErrorCode::E_INVALID_FORMAT, "",
                        "must be a JSON object, such as {\"reviewer\":\"Ann\"}");
  }
  for (const JsonMember& member : object->members()) {
    BMAD_TRY(set_member(member, manifest));
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
    assert(store.above.restore != nullptr);
    BMAD_TRY(store.above.restore(store, session_id));
    written = write_change(store, session_id, change);
  }
  BMAD_TRY(std::move(written));
  return titled_session(store, session_id);
}

}  // namespace bmad_mem
