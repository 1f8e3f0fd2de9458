// forgotten_text.hpp - a text that goes, where no entry holds it: audits, records and manifests
// tell of entries and sessions, and files beside the sessions belong to nobody.
//
//   "ids":["ann-7"]          ->  "ids":["forgotten:1f3870be27da41e6"]    an id stays the same thing
//   "tags":["ann","x"]       ->  "tags":["[forgotten]","x"]
//   memories/team.md         ->  the file without the lines that hold the text
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/result.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// What stands for an id that holds the text.
using HideId = std::function<std::string(std::string_view id)>;

/// Replaces `text` in the strings of `json`: an object, or one a line. Keys stay, and so does
/// session_id, which is the name of a folder. Returns how many strings changed.
std::uint64_t forget_in_json(std::string& json, std::string_view text, const HideId& hide);

/// Takes the lines with `text` out of the files beside the sessions, and what processes that died
/// left at the root as a whole. Adds to `report`. The caller holds the root's lock unless
/// `dry_run`.
Status purge_beside_sessions(Store& store, std::string_view text, bool dry_run,
                             DeletionReport& report);

/// Takes the text of `criteria` out of the copies of a hub's manifests. Adds to `report`. The
/// caller holds no lock. Errors: as drop_mirrored_manifests().
Status purge_mirrored(const Store& store, const DeletionCriteria& criteria, bool dry_run,
                      DeletionReport& report);

}  // namespace bmad_mem
