// archive_reader.hpp - what is in the archive of a session, or what compaction moved out of one,
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

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/file_system.hpp"
#include "search/session_index.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"
#include "store/unpacked_files.hpp"

namespace bmad_mem {

class RangedFiles;

/// Which packed file of a session: its archive where the session is no folder.
struct ArchivePlace {
  /// Of what was evicted, from 1 on: without older versions of an entry, and what was deleted.
  std::uint32_t part = 0;
  bool kept = false;  ///< What is left of a session whose archive is damaged.

  [[nodiscard]] bool is_evicted() const { return part != 0; }
  [[nodiscard]] bool is_archive() const { return part == 0 && !kept; }
};

/// A packed file as it is now.
struct ArchiveOrigin {
  FileInfo file = {};
  std::uint64_t package = 0;  ///< Tells it, and what else decides what it holds, from any other.
};

/// The packed file as the folder of a session: its logs have the names that they have there, and
/// are read only. Nothing is unpacked before a log is opened, and errors come then. Threads: safe.
class ArchiveReader final : public ReadOnlyFiles {
 public:
  /// `is_new`: Store::new_budget is for it.
  ArchiveReader(const Store& store, const std::string& session_id, const ArchivePlace& place,
                const ArchiveOrigin& origin, bool is_new);
  ~ArchiveReader() override { forget(); }

  [[nodiscard]] const std::string& session_id() const { return session_id_; }
  [[nodiscard]] const ArchivePlace& place() const { return place_; }
  [[nodiscard]] std::uint64_t package() const { return origin_.package; }
  /// refresh() it before use.
  [[nodiscard]] SessionIndex& index() { return index_; }
  /// Its logs, of which no more is unpacked than is read, if it can be read in ranges.
  /// Errors, of its files too: as read_session_archive(), read_evicted() and read_retained(); one
  /// that is_not_found() when the packed file is another one by now.
  Result<std::shared_ptr<FileSystem>> files();
  /// The logs of preferences and facts alone, which stand unpacked beside the archive since every
  /// prompt asks for them. Null without any. Errors: as files().
  Result<std::shared_ptr<FileSystem>> knowledge();
  /// Errors: one that is_not_found() when the packed file is another one than was read.
  [[nodiscard]] Status check_still_there() const;
  /// Whether its knowledge() was asked for and doesn't stand beside it.
  [[nodiscard]] bool wants_known() const { return wants_known_; }
  /// Puts it there. The caller holds the root's lock.
  Status write_known();
  /// Frees what was unpacked.
  void forget() { store_.unpacked.forget(owner_); }

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<FileInfo> info(const std::string& path) override;
  [[nodiscard]] std::string display_path(const std::string& path) const override;

 private:
  Result<std::shared_ptr<UnpackedFiles>> unpack_once();
  template <typename T>
  [[nodiscard]] Status check_read(const Result<T>& read) const;

  const Store& store_;
  std::string session_id_;
  ArchivePlace place_;
  ArchiveOrigin origin_;
  bool is_new_;
  std::uint64_t owner_;  ///< In the cache of what is unpacked.
  std::atomic<bool> wants_known_{false};
  std::mutex mutex_;  // Guards what follows, but for the index.
  std::shared_ptr<RangedFiles> ranged_;
  bool is_one_piece_ = false;
  bool is_taken_ = false;  ///< Of Store::new_budget.
  SessionIndex index_;
};

using ArchiveReaderPtr = std::shared_ptr<ArchiveReader>;

/// The packed session as searches see it, the same one as long as its file is the same. Null when
/// it is damaged, noted as such, and nothing was kept of it; `place` is not what was kept.
/// Errors: one that is_not_found() when it has gone; as the file system's.
Result<ArchiveReaderPtr> archive_reader(const Store& store, const std::string& session_id,
                                        const ArchivePlace& place = {});

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
std::shared_ptr<SessionIndex> index_of(const ArchiveReaderPtr& packed);

/// What indexes of sessions in `store` have in common.
SessionIndex::Options index_options(const Store& store, const std::string& session_id);
/// The same of one that begins in a segment, if that knows the session; as
/// RootIndex::base_of() has the last two.
SessionIndex::Options based_options(const Store& store, const std::string& session_id,
                                    std::uint32_t evicted = 0, std::uint64_t package = 0);
/// An index of `files`, which it keeps.
std::shared_ptr<SessionIndex> index_of_files(const Store& store,
                                             const std::shared_ptr<FileSystem>& files,
                                             SessionIndex::Options options);

}  // namespace bmad_mem
