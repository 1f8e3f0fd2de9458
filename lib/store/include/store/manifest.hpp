// manifest.hpp - who a session is: sessions/{session-id}/manifest.json.
//
//   {
//     "session_id": "sess-2026-01-11-4q7m2s",
//     "created_at": "2026-01-11T10:00:00Z",     "updated_at": …,
//     "user_id": "user-789",                    absent when nobody was named
//     "agent_ids": ["bmad-master", "architect"],
//     "metadata": {"title": …, "project_name": …, "session_type": …, "tags": […], …},
//     "statistics": {"total_messages": 127, …}, what git tracks, at the last close; no events
//     "closed_at": "2026-01-11T18:00:00Z",      only once the session is closed
//     "version": "1.0"
//   }
//
// Identity and metadata are truth: a manifest that doesn't hold them in the right form is an error.
// The statistics are derived: what is wrong in them counts as absent. The file changes when the
// session opens and closes, and when a person changes it, so that git has no other changes to show.
// Members that we don't know, on the top level, in metadata and in statistics, keep their bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

struct SessionParams;
struct Store;

/// The names of totals begin so.
constexpr std::string_view kTotalPrefix = "total_";

/// The members in the order in which they are written.
inline constexpr std::array<std::string_view, 9> kManifestOrder = {
    "session_id", "created_at", "updated_at", "user_id", "agent_ids",
    "metadata",   "statistics", "closed_at",  "version"};

/// How many entries a session holds, under the name that stands in the manifest.
struct ManifestTotal {
  std::string name;  ///< "total_messages", "total_agent_states".
  std::int64_t count = 0;

  bool operator==(const ManifestTotal&) const = default;
};

struct Manifest {
  std::string session_id;
  Timestamp created_at{};
  Timestamp updated_at{};
  std::string user_id;  ///< Empty when nobody was named.
  std::vector<std::string> agent_ids;
  std::string title;         ///< As somebody chose it; empty when nobody did.
  std::string project_name;  ///< Empty when not given; so are the two below.
  std::string session_type;  ///< Free text, such as "architecture_review".
  std::vector<std::string> tags;
  /// In the order in which they are written; those of 0 are not. Empty before the first close.
  std::vector<ManifestTotal> totals;
  std::optional<Timestamp> closed_at;  ///< Nothing while the session is open.
  std::string version = "1.0";

  /// The JSON object this was read from, where unknown members come from; empty for a new one.
  std::string text;

  /// The file's content: pretty, members in the order of the specification, unknown ones after the
  /// known ones of their object, '\n' at the end.
  [[nodiscard]] std::string to_text() const;
  /// 0 when there is none of that name.
  [[nodiscard]] std::int64_t total(std::string_view name) const;
  void set_total(std::string_view name, std::int64_t count);
  /// The metadata that have no member here, as one JSON object; empty without any.
  [[nodiscard]] std::string free_metadata() const;
  /// Sets one of those to the JSON value `raw`; removes it when that is empty.
  void set_metadata(std::string_view key, std::string raw);
};

/// The manifest of a session created at `now`, without entries; without a title and metadata.
Manifest new_manifest(SessionParams session, Timestamp now);

/// Whether `version` is above those that this program reads, as "2.0" is. "" and words are not.
bool is_newer_version(std::string_view version);

/// Reads a manifest's `text`. `display_path` is where it lies, for the error.
/// Errors: E_SESSION_CORRUPT with path, line, column and field, and what to do.
Result<Manifest> parse_manifest(std::string_view text, const std::string& display_path);

/// Reads the manifest of session `session_id`, which must be a session id.
/// Errors: E_SESSION_NOT_FOUND when there is none; E_SESSION_CORRUPT as parse_manifest(), and when
/// it names another session; E_STORAGE_IO.
Result<Manifest> load_manifest(FileSystem& files, std::string_view session_id);

/// Replaces the session's manifest; durable on success. The caller holds the session's lock.
Status save_manifest(FileSystem& files, const Manifest& manifest);

// What a session is called: as chosen, else by its first request that says
// something, else by its first one, else by its summary, else by who wrote and when; where no
// agent is named, by one of its entries.
//
// A derived title is read from the head of the conversation each time. So it is never stale, and a
// message that is deleted or redacted takes it along. An archive's manifest keeps it, and is
// written again with the archive.

/// What is derived of a title; both may be empty.
struct DerivedTitle {
  std::string title;          ///< Of the request, else of the summary.
  std::string first_request;  ///< See Session::first_request.

  bool operator==(const DerivedTitle&) const = default;
};

/// From a conversation's log and a summary.md; both may be empty. An archive keeps it, so that a
/// message that expires some day gives no title.
DerivedTitle derived_title(std::string_view conversation, std::string_view summary);

/// Sets the title of `session`, which was described, from `files`: those of a folder or an archive.
/// Nothing is read of a type that may not be read. Never fails: without a log there is still a day.
void add_title(const Store& store, FileSystem& files, Session& session);

/// The same for the session of `manifest` in an archive, of which `derived` was kept.
void add_title(const Store& store, const Manifest& manifest, DerivedTitle derived,
               ArchivedSession& session);

}  // namespace bmad_mem
