// evicted_file.hpp - what compaction moved out of a session: archive/{session-id}.evicted.jsonl.gz;
// and what version 0.1 kept.
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

// What version 0.1 kept of an archived session: shared/kept/{session-id}.jsonl.
//
//   {"type":"fact","entry":{…the line, byte for byte…}}
//
// Its facts, preferences and pins, a copy of what is in the archive: it is read where that is
// damaged, nothing writes one, and it goes when the session is archived again or restored.

struct KeptLine {
  EntryType type = EntryType::kFact;
  std::string line;  ///< As in the log, without its '\n'.

  bool operator==(const KeptLine&) const = default;
};

/// As read_kept(), but without the lines that can't be read.
Result<std::vector<KeptLine>> read_good_kept(FileSystem& files, std::string_view session_id);

/// All lines in order; none without a file. Errors: E_STORAGE_CORRUPT with path, line and field for
/// a line that can't be read; E_SIZE_LIMIT above 256 MiB; as the file system's.
Result<std::vector<KeptLine>> read_kept(FileSystem& files, std::string_view session_id);

/// Removes the file, if there is one. Durable on success.
Status remove_kept(FileSystem& files, std::string_view session_id);

/// The sessions that something was kept of, sorted.
Result<std::vector<std::string>> kept_session_ids(FileSystem& files);

}  // namespace bmad_mem
