// mirror_state.hpp - what a root knows of its hub: hub/state.json, and hub/sessions/{id}.json.
//
//   state.json     {"version":1,"service":"team","project":"shop","replica":"5e0c…",
//                   "cursor":812,"pushed":40,"mark":[812,"31f0…"],"rules":"03fe…",
//                   "seen":{"s1":"77ab…"}}
//   s1.json        {"version":1,"seq":812,"behind":false,"manifest":"{…}",
//                   "logs":{"facts.jsonl":{"seqs":[[1,3],[7,1]],"hashes":"9c0d…"}},
//                   "out":[[4,"facts.jsonl","77ab…",true]]}
//
// Local, and not in git: each file is replaced as a whole, durably. A line of the feed that was
// applied is known by its seq and XXH3 of its bytes; where it is in the log, comparing tells. So a
// log may be rewritten by whatever operation, and nothing here has to follow.
//
// A session's file is written behind its logs, and state.json behind both. A process that was
// killed applies the last rows again: the lines that are there by then are taken as applied.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// The row of the feed that was applied last, and XXH3 of who pushed it and what it is about.
struct FeedMark {
  std::uint64_t seq = 0;  ///< 0: none is known.
  std::uint64_t hash = 0;

  bool operator==(const FeedMark&) const = default;
};

/// Which hub a root mirrors, and how far it is.
struct MirrorState {
  std::string service;
  std::string project;
  std::string replica;
  std::uint64_t cursor = 0;  ///< All rows up to this seq are applied.
  std::uint64_t pushed = 0;  ///< Rows that this replica has pushed, as far as it knows.
  FeedMark mark;             ///< At the cursor, or before it where seqs have no row.
  std::uint64_t rules = 0;   ///< How the rules looked that `seen` is of.
  /// By session: how its files looked when all that is new in them was at the hub, or had to stay.
  std::map<std::string, std::uint64_t, std::less<>> seen;
};

/// Nothing when the root has not joined a hub. Errors: E_STORAGE_CORRUPT, E_NEWER_VERSION.
Result<std::optional<MirrorState>> load_mirror_state(FileSystem& files);
/// Makes the folders it needs. Durable.
Status save_mirror_state(FileSystem& files, const MirrorState& state);

/// A line of the feed that the hub has in this log.
struct FeedLine {
  std::uint64_t seq = 0;
  std::uint64_t hash = 0;  ///< XXH3 of the line without its '\n'.

  bool operator==(const FeedLine&) const = default;
};

/// One that was deleted or evicted: it left the logs of all mirrors, and the hub still has it.
struct OutLine {
  EntryType log = EntryType::kConversation;
  std::uint64_t hash = 0;
  bool is_deleted = false;  ///< Else evicted, which a deletion may follow.

  bool operator==(const OutLine&) const = default;
};

/// A session, as the hub has it up to `seq`.
struct SessionMirror {
  std::string session_id;
  std::uint64_t seq = 0;
  /// Rows up to the cursor may be missing: who was to apply all of them again was killed.
  bool is_behind = false;
  std::string manifest;  ///< As in the last row; empty: none came yet.
  std::array<std::vector<FeedLine>, kEntryTypeCount> logs;  ///< By type, by seq.
  std::map<std::uint64_t, OutLine> out;                     ///< By seq.

  /// Takes the line `of` out of the logs; nothing when it is in none.
  std::optional<OutLine> take_out(std::uint64_t of);
  /// The same, and it has left all mirrors: by a deletion, or evicted. What is out already may be
  /// deleted then. Nothing when it is not known.
  const OutLine* put_out(std::uint64_t of, bool is_deleted);
  /// The session was deleted as a whole: the hub has its lines until they are purged.
  void leave();
};

/// An empty one when there is none. Errors: as load_mirror_state().
Result<SessionMirror> load_session_mirror(FileSystem& files, const std::string& session_id);
Status save_session_mirror(FileSystem& files, const SessionMirror& mirror);
/// The sessions of which the hub has anything, sorted.
Result<std::vector<std::string>> mirrored_sessions(FileSystem& files);

}  // namespace bmad_mem
