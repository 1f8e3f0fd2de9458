// mirrored_manifests.hpp - the manifests that hub/sessions/*.json keep, without a text that goes.
//
//   {"version":1,…,"manifest":"{…\"title\":\"about KIWI\"…}",…}  ->  {…,"manifest":"{}",…}
//
// Nothing else in hub/ is memory: state.json and policy.toml are never rewritten for a text. An
// object without members, and not an empty text: the hub has a manifest, which differs from ours
// now, so that the next sync pushes ours.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "store/store.hpp"

namespace bmad_mem {

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
