// manifest_text.cpp - writing a manifest so that everything we don't know keeps its bytes.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/object_text.hpp"
#include "bmad_mem/json_copy.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "store/manifest.hpp"

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
