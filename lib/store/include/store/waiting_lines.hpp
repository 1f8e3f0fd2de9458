// waiting_lines.hpp - entries that are to be sealed, and whose key is not here: what hooks record
// must not be lost, and must not stand in the project in clear.
//
//   STATE/roots/4f0c5a…/waiting.jsonl   0600, of this user alone, outside the project
//     {"session_id":"s1","type":"conversation","origin":"person","entry":{…}}
//
// Secrets were taken out before. The first hook that finds the key, or no seal any more, writes
// them into their sessions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/trust.hpp"

namespace bmad_mem {

struct Store;

/// Appends `lines`, whole entries of `type` by `origin`. Durable on return. Errors: E_STORAGE_IO,
/// E_STORAGE_FULL; E_ACCESS_DENIED where no state folder is known.
Status keep_waiting(const Store& store, std::string_view session_id, EntryType type,
                    std::span<const std::string_view> lines, Origin origin);

/// How many wait. Without any, one look at a file.
std::uint64_t count_waiting(const Store& store);

/// Writes those that wait into their sessions, each once, and forgets them when all are there;
/// those of a session that is not there, as on another branch, wait on. Their number; 0 while
/// another process is at it. Errors: as add_lines(): all wait on.
Result<std::uint64_t> write_waiting(Store& store);

/// Which entries go: by session, type, value and text.
using WaitingGoes = std::function<bool(std::string_view, EntryType, JsonValue, std::string_view)>;
/// Overwrites those that go with blanks; with `dry_run` counts them. Durable on return.
Result<std::uint64_t> drop_waiting(const Store& store, const WaitingGoes& goes, bool dry_run);

/// All that waits, as it stands in its file; empty without any.
Result<std::string> waiting_text(const Store& store);

}  // namespace bmad_mem
