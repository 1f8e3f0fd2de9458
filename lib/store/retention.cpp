// retention.cpp - until when an entry is kept, and which entries readers skip as expired.
#include "store/retention.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <string_view>

#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {

const RetentionDays& retention_of(const Config& config, const Manifest& manifest) {
  const ProjectRetention& projects = config.privacy.project_retention_days;
  if (projects.empty()) {
    return config.privacy.retention_days;
  }
  const ParsedJson value(manifest.text);
  const std::string_view workspace =
      value ? (*value)["metadata"]["workspace"].string() : std::string_view();
  for (const std::string_view name : {std::string_view(manifest.project_name), workspace,
                                      workspace.substr(workspace.find_last_of('/') + 1)}) {
    if (const auto found = projects.find(name); found != projects.end()) {
      return found->second;
    }
  }
  return config.privacy.retention_days;
}

Timestamp retention_start(const Manifest& manifest) {
  constexpr std::chrono::hours kClosing(24);  // A close is written when it happens.
  const bool is_imported =
      manifest.closed_at && *manifest.closed_at + kClosing < manifest.updated_at;
  return is_imported ? manifest.updated_at : manifest.created_at;
}

std::optional<Timestamp> expires_at(EntryType type, Timestamp timestamp, bool pinned,
                                    const RetentionDays& days) {
  const std::int64_t kept = days.of(type);
  assert(kept >= 0 && "what a project does not say is filled in");
  if (pinned || kept == 0) {
    return std::nullopt;
  }
  return timestamp + std::chrono::days(kept);
}

std::optional<Timestamp> first_expiry(Timestamp created_at, const RetentionDays& days) {
  std::optional<Timestamp> first;
  for (const EntryType type : kEntryTypes) {
    const std::optional<Timestamp> end = expires_at(type, created_at, false, days);
    if (end && (!first || *end < *first)) {
      first = end;
    }
  }
  return first;
}

namespace {

/// The shortest time that any project keeps what is of `type`; 0: for ever.
std::int64_t shortest_days(const Config& config, EntryType type) {
  std::int64_t shortest = config.privacy.retention_days.of(type);
  for (const auto& [name, days] : config.privacy.project_retention_days) {
    const std::int64_t here = days.of(type);
    shortest = shortest == 0 || (here != 0 && here < shortest) ? here : shortest;
  }
  return shortest;
}

/// The manifest of a session, live or archived.
Result<Manifest> manifest_of(const Store& store, const std::string& session_id) {
  Result<Manifest> live = load_manifest(*store.files, session_id);
  if (live || !is_archived(store, session_id)) {
    return live;
  }
  BMAD_TRY_ASSIGN(const ArchiveManifest archived, read_archive_manifest(*store.files, session_id));
  return parse_manifest(archived.text, session_id);
}

}  // namespace

bool PastRetention::hides(const std::string& session_id, EntryType type, Timestamp timestamp,
                          bool pinned, Timestamp now) const {
  const std::int64_t shortest = shortest_days(store_.config, type);
  if (pinned || shortest == 0 || !store_.config.privacy.auto_purge) {
    return false;
  }
  // A question as of an earlier time does not show what else would have gone by now.
  now = std::max(now, store_.clock.now());
  if (timestamp + std::chrono::days(shortest) > now) {
    return false;
  }
  const std::scoped_lock lock(mutex_);
  if (looked_at_ != now) {
    looked_at_ = now;
    is_tracked_ = store_.tracked.any();
  }
  if (!is_tracked_) {
    return false;
  }
  const auto [rule, is_new] = rules_.try_emplace(session_id);
  if (is_new) {
    if (const Result<Manifest> manifest = manifest_of(store_, session_id)) {
      rule->second.emplace(retention_start(*manifest), retention_of(store_.config, *manifest));
    }
  }
  return rule->second && has_expired(expires_at(type, std::max(timestamp, rule->second->first),
                                                pinned, rule->second->second),
                                     now);
}

}  // namespace bmad_mem
