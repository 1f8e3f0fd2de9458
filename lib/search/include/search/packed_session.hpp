// packed_session.hpp - what is in the archive of a session, or what compaction moved out of one,
// read and searched as if it were a session's folder.
//
//   archive/s.tar.gz           s.known.jsonl   preferences and facts, as in their logs: every
//   prompt
//                                              asks all archives for them
//                              s.index.json    what it holds, for people; see indexing.hpp
//   archive/t.evicted.jsonl.gz, t.evicted.2.jsonl.gz …   each a package of its own
//
// Of an archive those members are unpacked that hold the lines of a hit, or a log that is read; one
// of version 0.1, and what was evicted, is unpacked as a whole. Either stays in memory for a while.
//
//   s.known.jsonl   {"session_id":"s","package":4711,"preferences":120,"facts":410,"xxh3":"…"}\n
//                   120 bytes of preferences.jsonl, 410 bytes of facts.jsonl; the hash is theirs
//
// What is beside is derived: written when the session is archived or, where s.known.jsonl is
// missing or of another file, after a question. It holds as long as the packed file is the very one
// that it was made of (inode, size and mtime: packed files are replaced, never changed).
//
// An archive that can't be read is noted (see Store::note_damage()) and left out from then on; what
// version 0.1 kept of the session beside it (shared/kept/) answers instead.
#pragma once

#include <memory>
#include <string>

#include "search/session_index.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {

enum class PackedKind : std::uint8_t {
  kArchive,  ///< A session that is no folder.
  kEvicted,  ///< Of any session. Without older versions of an entry, and what was deleted.
  kKept,     ///< What is left of a session whose archive is damaged.
};

/// Threads: safe.
class PackedSession {
 public:
  virtual ~PackedSession() = default;
  [[nodiscard]] virtual const std::string& session_id() const = 0;
  [[nodiscard]] virtual PackedKind kind() const = 0;
  /// Of kEvicted, from 1 on; else 0.
  [[nodiscard]] virtual std::uint32_t evicted_part() const = 0;
  /// refresh() it before use.
  [[nodiscard]] virtual SessionIndex& index() = 0;
  /// Its logs, under the names that they have in the folder of a session; read only.
  /// Errors, of its files too: as read_session_archive(), read_evicted() and read_kept(); one that
  /// is_not_found() when the packed file is another one by now.
  virtual Result<std::shared_ptr<FileSystem>> files() = 0;
  /// The same for who reads lines one by one: nothing is unpacked before, and errors come then.
  [[nodiscard]] virtual FileSystem& lines() = 0;
  /// The logs of preferences and facts alone, which stand unpacked beside the archive since every
  /// prompt asks for them. Null without any. Errors: as files().
  virtual Result<std::shared_ptr<FileSystem>> knowledge() = 0;
  /// Errors: one that is_not_found() when the packed file is another one than was read.
  [[nodiscard]] virtual Status check_still_there() const = 0;
  /// Whether its knowledge() was asked for and doesn't stand beside it.
  [[nodiscard]] virtual bool wants_known() const = 0;
  /// Puts it there. The caller holds the root's lock.
  virtual Status write_known() = 0;
};

using Packed = std::shared_ptr<PackedSession>;

/// The packed session as searches see it, the same one as long as its file is the same. Null when
/// it is damaged, noted as such, and nothing was kept of it; `kind` is kArchive or kEvicted, with
/// the part of that.
/// Errors: one that is_not_found() when it has gone; as the file system's.
Result<Packed> packed_session(const Store& store, const std::string& session_id, PackedKind kind,
                              std::uint32_t evicted_part = 0);

/// The files of an archive. Errors: as read_session_archive().
Result<std::shared_ptr<FileSystem>> archive_files(const Store& store,
                                                  const std::string& session_id);

/// The logs in an archive, for who reads some lines of them: what is read is unpacked, and no more.
/// Errors: as the file system's.
Result<std::shared_ptr<FileSystem>> archive_lines(const Store& store,
                                                  const std::string& session_id);

/// Makes what stands beside an archive that was just written, and takes it into the index of the
/// memory. The caller holds the root's lock. What fails here fails nothing.
void index_archive(const Store& store, const std::string& session_id);

/// Tells the archive of `session_id` from any other, as SessionIndex::Options::package has it.
/// Errors: as the file system's.
Result<std::uint64_t> package_of_archive(const Store& store, const std::string& session_id);

/// The index of a packed session, which it keeps alive.
std::shared_ptr<SessionIndex> index_of(const Packed& packed);

}  // namespace bmad_mem
