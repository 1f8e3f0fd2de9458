// log_merge.hpp - two branches of one file of memory, made one: what git's merge driver does.
//
//   base    a b c
//   ours    a b c D        ->   a b c X D     the lines of both, by time; a removed one stays away
//   theirs  a   c X
//
// Texts in, text out: nothing is read or written. Whoever is `ours`, the bytes of the result are
// the same, so that every clone that merges the same two branches gets the same file. Threads:
// safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Merges logs: files of JSON objects, one a line, told apart by "id". `base` is the text that both
/// sides began with, empty when there was none.
///
/// A line is there when both sides have it or one has added it; a line of `base` that one side has
/// removed (deletion, compaction) is gone, and what the other side has added under its id stays.
/// Lines keep the order of the file they come from, and what was added on both sides is ordered by
/// time ("timestamp", or "at"), then by the hash of the line. Versions of one id that were added on
/// both sides stand in the order of their times too, so that the newest is the last and wins. Where
/// they linked the entry to different ones, a version with the links of both follows the newest.
///
/// Lines keep their bytes; blank lines, and carriage returns before line ends, go. Damaged lines
/// (no JSON object) are kept where both sides have them. An unfinished last line that is a whole
/// object gets its line end; another stays the unfinished last line.
///
/// Errors: E_STORAGE_CORRUPT with path "ours" or "theirs" and the line, for a damaged line that one
/// side has added. Cost: linear in the size of the texts.
Result<std::string> merge_logs(std::string_view base, std::string_view ours,
                               std::string_view theirs);

/// Merges manifests of a session, member by member. What only one side changed is taken; where both
/// did, that of the side with the later "updated_at", then the greater text. "agent_ids" and "tags"
/// are sets, "updated_at" and "last_accessed" the later ones, "created_at" the earlier one, and the
/// counts and sizes of "statistics" grow by what each side added. Members that the engine does not
/// know are treated alike and keep their bytes.
///
/// Errors: E_SESSION_CORRUPT with path "base", "ours" or "theirs" for a text that is no JSON
/// object; E_SESSION_CORRUPT with field "session_id" when the two are different sessions.
Result<std::string> merge_manifests(std::string_view base, std::string_view ours,
                                    std::string_view theirs);

/// Merges what compaction moved out of a session (archive/{session-id}.evicted.jsonl.gz): what
/// either side added behind `base`, unpacked by nobody, since gzip members may follow each other.
///
/// Errors: E_STORAGE_CORRUPT with path "ours" or "theirs" for a side that has rewritten the file,
/// as `restore` and `purge` do, or that is no whole gzip file; E_SIZE_LIMIT above 32 MiB unpacked.
Result<std::string> merge_evicted(std::string_view base, std::string_view ours,
                                  std::string_view theirs);

/// Whether `text` is a manifest rather than a log: one object with a "session_id", no "id".
bool looks_like_manifest(std::string_view text);

/// Both texts in one, for a person to choose: lines that both begin and end with once, and what is
/// between them as git shows a conflict, with markers of `marker_size` (at least 1) characters.
std::string conflict_text(std::string_view ours, std::string_view theirs, std::size_t marker_size);

}  // namespace bmad_mem
