// beside_files.hpp - the files of a root that belong to no session and are nobody's settings.
//
//   memories/notes.md        what an agent keeps with the memory tool
//   README.md                what a person put there
//   config.json.tmp          what a process that died left at the root
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/result.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Larger ones are no notes, and are left alone.
inline constexpr std::uint64_t kBesideFileSizeMax = 64U << 20U;

/// Their paths, sorted. Links and what else is no file are passed over.
Result<std::vector<std::string>> files_beside_sessions(FileSystem& files);

/// Whether `path`, one of these, was left by a process that died.
bool is_root_leftover(std::string_view path);

/// Whether `bytes` are a text: lines can be taken out of it.
bool is_text_file(std::string_view bytes);

// The manifests that hub/sessions/*.json keep, without a text that goes.
//
//   {"version":1,…,"manifest":"{…\"title\":\"about KIWI\"…}",…}  ->  {…,"manifest":"{}",…}
//
// Nothing else in hub/ is memory: state.json and policy.toml are never rewritten for a text. An
// object without members, and not an empty text: the hub has a manifest, which differs from ours
// now, so that the next sync pushes ours.

/// Whether `text`, a manifest or a damaged file, is to go.
using ManifestGoes = std::function<bool(std::string_view session_id, std::string_view text)>;

/// Looks through those of `sessions`, or of all when empty, and takes out what goes. A damaged file
/// that has to go, or one that a process left that died, leaves nothing but what makes the next
/// sync compare the session with the hub from the start. Returns the paths. Waits for a sync that
/// runs, so the caller holds no lock. Errors: E_LOCK_TIMEOUT, E_STORAGE_IO.
Result<std::vector<std::string>> drop_mirrored_manifests(const Store& store,
                                                         std::span<const std::string> sessions,
                                                         bool dry_run, const ManifestGoes& goes);

/// The manifest in `bytes`, a file of hub/sessions; `bytes` when they are damaged.
std::string mirrored_manifest(const std::string& bytes);

}  // namespace bmad_mem
