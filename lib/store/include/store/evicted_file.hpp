// evicted_file.hpp - what compaction moved out of a session: archive/{session-id}.evicted.jsonl.gz;
// and what version 0.1 kept.
//
//   | gzip member: 812 lines | gzip member: 640 lines | torn… one member an append; zcat shows it
//
//   {"type":"conversation","evicted_at":"2026-…Z","reason":"relevance 0.12, the least 20 %",
//    "entry":{…the line, byte for byte…}}
//
// A file that is full is followed by another part, {session-id}.evicted.2.jsonl.gz and so on: an
// append reads the last one and no other, and to read all takes the memory for one. None is
// missing between two; one that was emptied stays as long as others follow.
//
// Lines go in before they leave their log. A crash in between, and compaction runs again with the
// same lines: what is in the last part already is not added a second time, and a line that is there
// twice counts once for readers. The caller of what writes holds the session's lock; readers need
// none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"

namespace bmad_mem {

/// Text in a part from which on lines go to the next one: unpacking it, and finding what is there
/// already, takes 50 ms.
constexpr std::uint64_t kEvictedPartSize = std::uint64_t{8} << 20U;
/// Most bytes that are read of a file, packed or not: several parts, as git may have joined them.
/// Before there were parts it grew without end; docs/recovery.md says how to divide one.
constexpr std::uint64_t kEvictedSizeMax = 4 * kEvictedPartSize;

class UnpackBudget;

/// A version of an entry that was moved out.
struct EvictedLine {
  EntryType type = EntryType::kConversation;
  std::string line;    ///< As in the log, without its '\n'.
  std::string reason;  ///< For people.
  Timestamp evicted_at{};
  std::uint32_t part = 1;  ///< That it is in; an append finds one.

  bool operator==(const EvictedLine&) const = default;
};

/// How many parts there are.
Result<std::uint32_t> evicted_parts(FileSystem& files, std::string_view session_id);

/// Adds `lines`, which must be valid lines of logs, as evicted at `now`, whatever time they carry.
/// Those whose type and line are in the last part already are left out. Durable on success; on
/// error the lines that were there still are, and of the new ones those of whole parts may be. A
/// last member that a crash has torn is cut off. Errors: E_STORAGE_CORRUPT when the last part is
/// damaged in any other way; as the file system's. Cost: reads the last part.
Status append_evicted(FileSystem& files, std::string_view session_id,
                      std::span<const EvictedLine> lines, Timestamp now);

/// All lines in the order in which they were moved out; none without a file. A torn last member is
/// left out. Errors: as append_evicted; E_STORAGE_CORRUPT with the line that can't be read.
Result<std::vector<EvictedLine>> read_evicted(FileSystem& files, std::string_view session_id);
/// Those of one part, from 1 on, within `budget` if given.
Result<std::vector<EvictedLine>> read_evicted(FileSystem& files, std::string_view session_id,
                                              std::uint32_t part, UnpackBudget* budget = nullptr);

/// Makes each part hold those of `lines` that are of it, and nothing else; without any line all are
/// removed. Parts that hold these already are left alone. Durable on success, each part the old or
/// the new one on error.
Status replace_evicted(FileSystem& files, std::string_view session_id,
                       std::span<const EvictedLine> lines);
/// One part; without `lines` the last one is removed.
Status replace_evicted_part(FileSystem& files, std::string_view session_id,
                            std::span<const EvictedLine> lines, std::uint32_t part);

// What version 0.1 kept of an archived session: shared/kept/{session-id}.jsonl.
//
//   {"type":"fact","entry":{…the line, byte for byte…}}
//
// Its facts, preferences and pins, a copy of what is in the archive: it is read where that is
// damaged, nothing writes one, and it goes when the session is archived again or restored.

/// All lines in order; none without a file. Errors: E_STORAGE_CORRUPT with path, line and field for
/// a line that can't be read; E_SIZE_LIMIT above 64 MiB; as the file system's.
/// `only_good`: those that can't be read are left out instead.
Result<std::vector<EvictedLine>> read_retained(FileSystem& files, std::string_view session_id,
                                               bool only_good = false);

/// Removes the file, if there is one. Durable on success.
Status remove_retained(FileSystem& files, std::string_view session_id);

/// The sessions that something was kept of, sorted.
Result<std::vector<std::string>> retained_session_ids(FileSystem& files);

}  // namespace bmad_mem
