// manifest.cpp - reads and writes manifests, and keeps the bytes of unknown members.
#include "store/manifest.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "base/json_cursor.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

/// Sets the string, except that an empty one isn't put where there was none.
void set_if_given(ObjectText& object, std::string_view key, const std::string& value) {
  if (!value.empty() || object.has(key)) {
    object.set_string(key, value);
  }
}

void set_time(ObjectText& object, std::string_view key, const std::optional<Timestamp>& time) {
  if (time) {
    object.set_string(key, format_rfc3339(*time));
  } else {
    object.remove(key);
  }
}

std::string metadata_text(const Manifest& manifest, std::string_view old_text) {
  constexpr std::array<std::string_view, 4> kOrder = {"title", "project_name", "session_type",
                                                      "tags"};
  ObjectText metadata(old_text);
  if (!manifest.title.empty()) {
    metadata.set_string("title", manifest.title);
  } else if (metadata.raw("title").starts_with('"')) {  // Else it is somebody's own.
    metadata.remove("title");
  }
  set_if_given(metadata, "project_name", manifest.project_name);
  set_if_given(metadata, "session_type", manifest.session_type);
  if (!manifest.tags.empty() || metadata.has("tags")) {
    metadata.set("tags", list_json(manifest.tags));
  }
  return metadata.to_line(kOrder);
}

/// Empty without any. What 0.1 wrote of this machine goes.
std::string statistics_text(const Manifest& manifest, std::string_view old_text) {
  ObjectText object(old_text);
  for (const std::string& key : object.keys()) {
    if (key.starts_with(kTotalPrefix)) {
      object.remove(key);
    }
  }
  for (const char* of_machine : {"size_bytes", "compacted_bytes", "last_accessed"}) {
    object.remove(of_machine);
  }
  std::vector<std::string_view> order;
  for (const ManifestTotal& total : manifest.totals) {
    if (total.count > 0 && total.name != "total_events") {
      object.set(total.name, std::to_string(total.count));
      order.push_back(total.name);
    }
  }
  return object.to_line(order);
}

}  // namespace

bool is_newer_version(std::string_view version) {
  const std::string_view major = version.substr(0, version.find('.'));
  const bool is_number =
      !major.empty() && major.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number && major != "0" && major != "1";
}

namespace {

/// Far above any real one, and far below what would hurt to read.
constexpr std::uint64_t kManifestSizeMax = 1U << 20U;

constexpr std::string_view kRemedy =
    "; correct it by hand, or let `bmad-mem repair` rebuild the manifest";

/// Takes members out of a manifest and keeps the first thing that is wrong.
class ManifestReader {
 public:
  ManifestReader(std::string_view text, const std::string& display_path)
      : text_(text), display_path_(display_path) {}

  void optional_string(std::string_view field, JsonValue value, std::string& out) {
    if (value.is_string()) {
      out = value.string();
    } else if (value.present()) {
      refuse_kind(field, "a string", value);
    }
  }

  void strings(std::string_view field, JsonValue value, std::vector<std::string>& out) {
    if (value.present() && !value.is_array()) {
      refuse_kind(field, "an array of strings", value);
    }
    for (const JsonValue element : value.elements()) {
      if (!element.is_string()) {
        refuse_kind(field, "an array of strings only", element);
      }
      out.emplace_back(element.string());
    }
  }

  std::optional<Timestamp> optional_time(std::string_view field, JsonValue value) {
    if (!value.present()) {
      return std::nullopt;
    }
    const std::optional<Timestamp> time = try_parse_rfc3339(value.string());
    if (!time) {
      refuse(field, "must be a time such as \"2026-01-11T10:00:00Z\"");
    }
    return time;
  }

  void refuse(std::string_view field, std::string_view reason) {
    refuse_as(ErrorCode::E_SESSION_CORRUPT, field, fmt::format("{}{}", reason, kRemedy));
  }

  /// What a newer program wrote is its own to mend; it also says more than other faults.
  void refuse_newer(std::string_view field, std::string_view version) {
    problem_.reset();
    refuse_as(ErrorCode::E_NEWER_VERSION, field,
              fmt::format("is {}, and this bmad-mem reads 1.0; install a newer bmad-mem", version));
  }

  void refuse_as(ErrorCode code, std::string_view field, std::string message) {
    assert(!message.empty());
    if (problem_) {
      return;
    }
    const TextPosition position = position_of_member(text_, field);
    problem_ = Error{.code = code,
                     .message = std::move(message),
                     .path = display_path_,
                     .line = position.line,
                     .column = position.column,
                     .field = std::string(field)};
  }

  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }

 private:
  void refuse_kind(std::string_view field, std::string_view wanted, JsonValue value) {
    refuse(field, fmt::format("must be {}, not {}", wanted, json_kind_name(value.kind())));
  }

  std::string_view text_;
  const std::string& display_path_;
  std::optional<Error> problem_;
};

/// Lenient, since the statistics are derived: what can't be used is left out.
void read_statistics(JsonValue object, Manifest& manifest) {
  for (const JsonMember& member : object.members()) {
    const std::int64_t count = member.value.integer(-1);
    if (member.key.starts_with(kTotalPrefix) && count >= 0) {
      manifest.set_total(member.key, count);
    }
  }
}

void read_metadata(ManifestReader& reader, JsonValue metadata, Manifest& manifest) {
  if (metadata.present() && !metadata.is_object()) {
    reader.refuse("metadata", "must be an object");
  }
  manifest.title = metadata["title"].string();  // What is no string is somebody's own.
  reader.optional_string("metadata.project_name", metadata["project_name"], manifest.project_name);
  reader.optional_string("metadata.session_type", metadata["session_type"], manifest.session_type);
  reader.strings("metadata.tags", metadata["tags"], manifest.tags);
}

void read_version(ManifestReader& reader, JsonValue value, Manifest& manifest) {
  reader.optional_string("version", value, manifest.version);
  if (manifest.version == "1" || manifest.version.starts_with("1.")) {
    return;
  }
  if (is_newer_version(manifest.version)) {
    reader.refuse_newer("version", manifest.version);
  } else {
    reader.refuse("version", "is no version: 1.0 is the one that this bmad-mem writes");
  }
}

Manifest read_manifest(ManifestReader& reader, JsonValue root) {
  Manifest manifest;
  for (const char* required : {"session_id", "created_at"}) {
    if (!root[required].present()) {
      reader.refuse(required, "is missing");
    }
  }
  reader.optional_string("session_id", root["session_id"], manifest.session_id);
  if (!is_session_id(manifest.session_id)) {
    reader.refuse("session_id", "is not a session id: 1 to 64 of a-z, 0-9, '.', '_', '-'");
  }
  manifest.created_at =
      reader.optional_time("created_at", root["created_at"]).value_or(Timestamp());
  manifest.updated_at =
      reader.optional_time("updated_at", root["updated_at"]).value_or(manifest.created_at);
  manifest.closed_at = reader.optional_time("closed_at", root["closed_at"]);
  reader.optional_string("user_id", root["user_id"], manifest.user_id);
  reader.strings("agent_ids", root["agent_ids"], manifest.agent_ids);
  read_metadata(reader, root["metadata"], manifest);
  read_version(reader, root["version"], manifest);
  read_statistics(root["statistics"], manifest);
  return manifest;
}

Error missing_session(FileSystem& files, std::string_view session_id) {
  const bool has_entries = is_session_there(files, session_id).value_or(false);
  Error error = no_session(session_id, files.display_path(manifest_path(session_id)));
  if (has_entries) {
    error.message = fmt::format(
        "session {} has no manifest; `bmad-mem repair` makes one for the entries that are there",
        session_id);
  }
  return error;
}

}  // namespace

std::int64_t Manifest::total(std::string_view name) const {
  const auto found = std::ranges::find(totals, name, &ManifestTotal::name);
  return found == totals.end() ? 0 : found->count;
}

void Manifest::set_total(std::string_view name, std::int64_t count) {
  assert(name.starts_with(kTotalPrefix));
  assert(count >= 0);
  const auto found = std::ranges::find(totals, name, &ManifestTotal::name);
  if (found != totals.end()) {
    found->count = count;
  } else {
    totals.push_back({.name = std::string(name), .count = count});
  }
}

Manifest new_manifest(SessionParams session, Timestamp now) {
  assert(is_session_id(session.session_id));
  return {.session_id = std::move(session.session_id),
          .created_at = now,
          .updated_at = now,
          .user_id = std::move(session.user_id),
          .agent_ids = std::move(session.agent_ids),
          .project_name = std::move(session.project_name),
          .session_type = std::move(session.session_type),
          .tags = std::move(session.tags)};
}

Result<Manifest> parse_manifest(std::string_view text, const std::string& display_path) {
  const ParsedJson root(text);
  if (!root) {
    Error problem = problem_in_file(root.error(), text, display_path);
    problem.code = ErrorCode::E_SESSION_CORRUPT;
    problem.message += kRemedy;
    return problem;
  }
  ManifestReader reader(text, display_path);
  if (!root->is_object()) {
    reader.refuse("", fmt::format("must be a JSON object, not {}", json_kind_name(root->kind())));
    return *reader.problem();
  }
  Manifest manifest = read_manifest(reader, *root);
  if (reader.problem()) {
    return *reader.problem();
  }
  assert(is_session_id(manifest.session_id) && "the reader refuses any other");
  manifest.text = text;
  return manifest;
}

Result<Manifest> load_manifest(FileSystem& files, std::string_view session_id) {
  const std::string path = manifest_path(session_id);
  const Result<std::string> text = read_file(files, path, kManifestSizeMax);
  if (!text) {
    return is_not_found(text.error()) ? missing_session(files, session_id) : text.error();
  }
  const std::string display_path = files.display_path(path);
  Result<Manifest> manifest = parse_manifest(*text, display_path);
  if (manifest && manifest->session_id != session_id) {
    ManifestReader reader(*text, display_path);
    reader.refuse("session_id", fmt::format("is \"{}\", but the folder is that of {}",
                                            manifest->session_id, session_id));
    return *reader.problem();
  }
  return manifest;
}

Status save_manifest(FileSystem& files, const Manifest& manifest) {
  return replace_file(files, manifest_path(manifest.session_id), manifest.to_text());
}

// Writing a manifest so that everything we don't know keeps its bytes.

std::string Manifest::free_metadata() const {
  if (text.find("\"metadata\"") == std::string::npos) {
    return {};
  }
  ObjectText metadata(ObjectText(text).raw("metadata"));
  for (const std::string_view own : {"project_name", "session_type", "tags"}) {
    metadata.remove(own);
  }
  if (metadata.raw("title").starts_with('"')) {
    metadata.remove("title");
  }
  std::string rest = metadata.to_line();
  return rest == "{}" ? std::string() : rest;
}

void Manifest::set_metadata(std::string_view key, std::string raw) {
  ObjectText root(text);
  ObjectText metadata(root.raw("metadata"));
  if (raw.empty()) {
    metadata.remove(key);
  } else {
    metadata.set(key, std::move(raw));
  }
  root.set("metadata", metadata.to_line());
  text = root.to_line();
}

std::string Manifest::to_text() const {
  ObjectText root(text);
  root.set_string("session_id", session_id);
  root.set_string("created_at", format_rfc3339(created_at));
  root.set_string("updated_at", format_rfc3339(updated_at));
  set_if_given(root, "user_id", user_id);
  root.set("agent_ids", list_json(agent_ids));
  root.set("metadata", metadata_text(*this, root.raw("metadata")));
  root.set_unless_empty("statistics", statistics_text(*this, root.raw("statistics")));
  set_time(root, "closed_at", closed_at);
  root.set_string("version", version);
  return json_pretty(root.to_line(kManifestOrder)) + '\n';
}

}  // namespace bmad_mem
