// evicted_file.hpp - what compaction moved out of a session: archive/{session-id}.evicted.jsonl.gz.
//
//   | gzip member: 812 lines | gzip member: 640 lines | torn… one member an append; zcat shows it
//
//   {"type":"conversation","evicted_at":"2026-…Z","reason":"relevance 0.12, the least 20 %",
//    "entry":{…the line, byte for byte…}}
//
// Lines go in before they leave their log. A crash in between, and compaction runs again with the
// same lines: what is there already is not added a second time. The caller of what writes holds the
// session's lock; readers need none.
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

/// Most bytes of the file, packed or not. What is evicted in a year of a session that is full all
/// the time is far below that.
constexpr std::uint64_t kEvictedSizeMax = std::uint64_t{256} << 20U;

/// A version of an entry that was moved out.
struct EvictedLine {
  EntryType type = EntryType::kConversation;
  std::string line;    ///< As in the log, without its '\n'.
  std::string reason;  ///< For people.
  Timestamp evicted_at{};

  bool operator==(const EvictedLine&) const = default;
};

/// Adds `lines`, which must be valid lines of logs, as evicted at `now`, whatever time they carry.
/// Those whose type and line are there already are left out. Durable on success; on error the lines
/// that were there still are, and the new ones are there all or none. A last member that a crash
/// has torn is cut off. Errors: E_STORAGE_CORRUPT when the file is damaged in any other way;
/// E_SIZE_LIMIT when it holds too much to be read (256 MiB); as the file system's. Cost: reads the
/// file; purge it, or replace it, before it becomes a burden.
Status append_evicted(FileSystem& files, std::string_view session_id,
                      std::span<const EvictedLine> lines, Timestamp now);

/// All lines in the order in which they were moved out; none without a file. A torn last member is
/// left out. Errors: as append_evicted; E_STORAGE_CORRUPT with the line that can't be read.
Result<std::vector<EvictedLine>> read_evicted(FileSystem& files, std::string_view session_id);

/// Makes the file hold `lines` and nothing else; without any it is removed. Durable on success, the
/// old file or the new one on error.
Status replace_evicted(FileSystem& files, std::string_view session_id,
                       std::span<const EvictedLine> lines);

}  // namespace bmad_mem
