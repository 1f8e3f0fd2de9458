// archive_manifest.hpp - what an archive is of, without unpacking it:
// archive/{session-id}.manifest.json.
//
//   {
//     "session_id": …,                         every member of the session's manifest, as it was
//     "archived_at": "2026-02-20T08:00:00Z",
//     "original_size_bytes": 245678,           of the session's files
//     "compressed_size_bytes": 61234,          of the .tar.gz
//     "archived_files": {"facts.jsonl": {"size_bytes": 812, "xxh3": "…"}, …}
//   }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "store/session_archive.hpp"

namespace bmad_mem {

struct ArchiveManifest {
  std::string session_id;
  Timestamp created_at{};
  Timestamp archived_at{};
  std::uint64_t original_size_bytes = 0;
  std::uint64_t compressed_size_bytes = 0;
  std::vector<ArchivedHash> hashes;  ///< Of its files; none in what version 0.1 wrote.
  std::string text;                  ///< The whole file.
};

/// Writes the manifest that goes with an archive, in place of one that is there. `manifest_text` is
/// the session's manifest. Durable on success. The caller holds the lock that guards the archive.
/// Errors: E_SESSION_CORRUPT when `manifest_text` is no session's manifest.
Status write_archive_manifest(FileSystem& files, std::string_view manifest_text,
                              const ArchiveSize& size, Timestamp archived_at);

/// To be called before the archive of `manifest` is replaced: until its new manifest is written, it
/// has no hashes that could be wrong.
Status forget_hashes(FileSystem& files, const ArchiveManifest& manifest);

/// Errors: E_SESSION_NOT_FOUND when there is none; E_NEWER_VERSION; E_SESSION_CORRUPT with field
/// and, where the text is no JSON, its line, when it is not one of `session_id`.
Result<ArchiveManifest> read_archive_manifest(FileSystem& files, std::string_view session_id);

}  // namespace bmad_mem
