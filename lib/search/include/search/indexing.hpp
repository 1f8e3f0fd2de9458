// indexing.hpp - the indexes of sessions made anew, and what people read of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "search/root_index.hpp"
#include "search/session_index.hpp"
#include "store/store.hpp"

namespace bmad_mem {

// The index of a session as a person reads it, and as any JSON reader takes it: the specification's
// lists of ids, laid out a key a line.
//
//   {
//     "version": 3,
//     "session_id": "sess-2026-10-02-4h7qkz",
//     "generated_at": "2026-10-31T09:00:00Z",
//     "language": "english",
//     "entries": 4,
//     "inverted_index": {                            terms: stems, without stop words
//       "clock": ["msg-1", "dec-1"],
//       "seat": ["msg-1", "msg-2"]
//     },
//     "topic_index": {…}, "temporal_index": {…},     topics; hours, UTC
//     "tag_index": {…}, "agent_index": {…}           beyond the specification
//   }
//
// Of live entries alone: superseded versions, damaged and torn lines are left out. Keys ascend by
// their bytes, ids stand in the order of the logs. Equal logs give equal text but for generated_at.

struct ReadableIndex {
  std::string text;
  std::uint64_t entries = 0;
  std::uint64_t terms = 0;  ///< Words of the inverted index.
};

/// That of `session`, which is refreshed and locked. Lines are read for ids that the engine has not
/// made. `language` is a Snowball name. Errors: as IndexedSession::line().
Result<ReadableIndex> make_readable_index(SessionIndex& session, const Clock& clock,
                                          std::string_view language);

Result<std::vector<IndexReport>> rebuild_indexes(Store& store, std::span<const std::string> wanted,
                                                 const MemoryManager::Progress& on_progress);
/// Makes the index cover the logs again after a rewrite. What fails here fails nothing.
void refresh_index(Store& store, const std::string& session_id);
/// The same of many, which costs less than one after another.
void refresh_indexes(Store& store, std::span<const std::string> session_ids);

/// As MemoryManager::encode().
Result<EncodeReport> encode_entries(const Store& store, const EncodeOptions& options,
                                    const MemoryManager::Progress& on_progress);

struct EncodedCount {
  std::uint64_t entries = 0;
  std::uint64_t waiting = 0;  ///< For their vector of that encoder.
};

/// As questions see it: also what no segment covers waits. Errors: as IndexedSession::vectors().
Result<EncodedCount> count_encoded(const Store& store, const VectorsOf& of);

/// How long a process encodes that has answered and is about to end.
inline constexpr std::chrono::milliseconds kEncodeAtTheEnd{200};

/// Takes what is new into the index of the memory where that is worth it, and encodes entries for
/// at most `time_max`. Whether more of them wait. What fails here fails nothing. With
/// Store::indexes_at_the_end it is noted, and done once, when the store is closed; whether it will.
/// `when`: where there is an encoder; else what is new has to be much.
bool maintain_index(const Store& store, std::chrono::milliseconds time_max,
                    FlushWhen when = FlushWhen::kSome, OtherVectors others = OtherVectors::kKeep);

/// As MemoryManager::index_age().
Result<IndexAge> index_age(const Store& store);

/// What people read of the index of a session. It is refreshed. Errors: as make_readable_index().
Result<ReadableIndex> readable_index(const Store& store, SessionIndex& index);
/// Writes index.json where the session has entries, and others than it says, as when an agent was
/// killed. Whether it did. Takes the session's lock.
bool renew_readable_index(Store& store, const std::string& session_id);
/// Writes it to index.json. The caller holds the session's lock.
Result<IndexReport> write_readable_index(const Store& store, SessionIndex& index);

}  // namespace bmad_mem
