// session_archive.hpp - a session as one compressed file: archive/{session-id}.tar.gz, and
// its manifest beside it.
//
//   sessions/{id}/manifest.json  ->  {id}/manifest.json     one file each: manifest, logs,
//                 facts.jsonl        {id}/facts.jsonl       summary.md, access.jsonl,
//                 artifacts/a.md     {id}/artifacts/a.md    audit.jsonl, quarantine.jsonl,
//                 index.json         (derived: left out)    artifacts/*.md; in that order
//
// The tar is packed in sized gzip members (see gzip.hpp) of 64 KiB of it at most, which
// session_archive.hpp reads one by one; version 0.1 wrote a single one.
//
// Two promises. An archive that is written has been read back, every byte compared, before it got
// its name: the session's folder may go. An archive that is read may come from anywhere: its
// members have names of our own list or it is refused, nothing is followed, and no more is unpacked
// than the limits allow.
//
// Equal files give equal bytes, on every machine and day: members have the time of the newest
// entry.
//
// Everything happens in memory: at most four times what the session's files have together. So what
// reads any archive that it meets keeps to kReadLimits; a session that has more is read
// in ranges (unpacked_files.hpp), and as a whole by the command that restores it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "store/manifest.hpp"

namespace bmad_mem {

class UnpackBudget;
struct Store;

/// A file of a session.
struct ArchivedFile {
  std::string name;          ///< In the session's folder: "facts.jsonl", "artifacts/art-1.md".
  std::string bytes = {};    ///< All of it.
  std::int64_t mtime_s = 0;  ///< Seconds since 1970; 0 to 2^33-1.

  bool operator==(const ArchivedFile&) const = default;
};

/// What an archive's manifest says of a file in it.
struct ArchivedHash {
  std::string name;
  std::uint64_t size = 0;
  std::string xxh3;  ///< In hex.

  bool operator==(const ArchivedHash&) const = default;
};

struct ArchiveSize {
  std::uint64_t files = 0;
  std::uint64_t original_bytes = 0;    ///< Of the files.
  std::uint64_t compressed_bytes = 0;  ///< Of the archive.
  std::vector<ArchivedHash> hashes;    ///< One a file, in the order of the archive.
  DerivedTitle title;                  ///< From its files; see manifest.hpp.
  std::optional<Timestamp> newest;     ///< Of its entries: when the latest was written.

  bool operator==(const ArchiveSize&) const = default;
};

/// What an archive may hold. They guard against archives made to do harm, and are far above what a
/// session of ours is: what can't be read is not written either.
struct ArchiveLimits {
  std::uint64_t members = 10'000;
  std::uint64_t bytes = 256U << 20U;  ///< Of the tar inside.
  /// How many times its own size an archive may unpack to; messages do so 3 to 6 times. It does not
  /// count up to `ratio_free_bytes`, a session's default quota and more, since one that says the
  /// same all over again is still one of ours.
  std::uint64_t ratio = 200;
  std::uint64_t ratio_free_bytes = 16U << 20U;
  UnpackBudget* budget = nullptr;  ///< Shared with other files; null: its own limits are all.
};

/// For readers of any archive, without a session that the user named.
inline constexpr ArchiveLimits kReadLimits{.bytes = 48U << 20U, .ratio = 16};

/// The same, within the budget of the root; `is_new` as Store::new_budget has it.
ArchiveLimits question_limits(const Store& store, bool is_new = true);

/// Writes session `session_id`, whose lock the caller holds, into its archive, in place of one that
/// is there. Durable on success; else the old archive, if any, is as it was, unless the last sync
/// failed: then it is the old or the new. The session's folder is not changed. `for_git`: git may
/// track the archive, so what the root's .gitignore names, such as access.jsonl, goes into
/// archive/.lock.{session-id}.gz beside it, which git ignores; readers take both as one.
/// Errors: E_SESSION_NOT_FOUND; E_SESSION_CORRUPT without a manifest; E_STORAGE_CORRUPT when
/// something lies in the folder that would not be archived, naming it, or when the archive does not
/// read back; E_SIZE_LIMIT above `limits`; as the file system's.
Result<ArchiveSize> write_session_archive(FileSystem& files, std::string_view session_id,
                                          const ArchiveLimits& limits = {}, bool for_git = false);

/// Sizes, hashes and title of `members` of an archive of `compressed_bytes`.
ArchiveSize size_of_archive(std::span<const ArchivedFile> members, std::uint64_t compressed_bytes);

/// What write_session_archive would write; writes nothing and needs no lock. Errors: as it, but for
/// those of writing.
Result<ArchiveSize> measure_session_archive(FileSystem& files, std::string_view session_id);

/// As write_session_archive, with `members` instead of the folder's files; manifest.json must be
/// among them, and every name as read_session_archive() returns it (else E_STORAGE_CORRUPT). The
/// caller holds the lock that guards the archive. What is in an archive for git stays apart.
Result<ArchiveSize> rewrite_session_archive(FileSystem& files, std::string_view session_id,
                                            std::span<const ArchivedFile> members,
                                            const ArchiveLimits& limits = {}, bool for_git = false);

/// The files in the archive of `session_id`, in its order; each name is that of a file of a
/// session, no two are equal, and manifest.json is among them. Needs no lock. Errors:
/// E_SESSION_NOT_FOUND without an archive; E_STORAGE_CORRUPT when it is damaged or a member is
/// anything else, naming it; E_SIZE_LIMIT above `limits`.
Result<std::vector<ArchivedFile>> read_session_archive(FileSystem& files,
                                                       std::string_view session_id,
                                                       const ArchiveLimits& limits = kReadLimits);

/// Makes the folder of session `session_id` with `members`, by one rename: it is there whole or not
/// at all. The caller holds the root's lock. Durable on success; on error there is no session,
/// unless the last sync failed: then it may be there, whole. The files' times are now. Errors:
/// E_CONCURRENT_MOD when the session is there; E_STORAGE_CORRUPT for a name that is no session's
/// file; as the file system's.
Status unpack_session_archive(FileSystem& files, std::string_view session_id,
                              std::span<const ArchivedFile> members);

/// The sessions that have an archive, sorted; none when nothing was ever archived.
Result<std::vector<std::string>> archived_session_ids(FileSystem& files);

// What an archive is of, without unpacking it:
// archive/{session-id}.manifest.json.
//
//   {
//     "session_id": …,                         every member of the session's manifest, as it was
//     "archived_at": "2026-02-20T08:00:00Z",
//     "original_size_bytes": 245678,           of the session's files
//     "compressed_size_bytes": 61234,          of the .tar.gz
//     "derived_title": {"title": …, "first_request": …}        see manifest.hpp
//     "archived_files": {"facts.jsonl": {"size_bytes": 812, "xxh3": "…"}, …}
//   }

struct ArchiveManifest {
  std::string session_id;
  Timestamp created_at{};
  Timestamp archived_at{};
  std::uint64_t original_size_bytes = 0;
  std::uint64_t compressed_size_bytes = 0;
  std::optional<DerivedTitle> title;  ///< Nothing in what version 0.1 wrote.
  std::vector<ArchivedHash> hashes;   ///< Of its files; none in what version 0.1 wrote.
  std::string text;                   ///< The whole file.
};

/// Writes the manifest that goes with an archive, in place of one that is there. `manifest_text` is
/// the session's manifest. `archived_at` becomes the time of its newest entry, so that it is the
/// same on every machine. Durable on success. The caller holds the lock that guards the archive.
/// Errors: E_SESSION_CORRUPT when `manifest_text` is no session's manifest.
Status write_archive_manifest(FileSystem& files, std::string_view manifest_text,
                              const ArchiveSize& size);

/// To be called before the archive of `manifest` is replaced: until its new manifest is written, it
/// has no hashes that could be wrong.
Status forget_hashes(FileSystem& files, const ArchiveManifest& manifest);

/// Errors: E_SESSION_NOT_FOUND when there is none; E_NEWER_VERSION; E_SESSION_CORRUPT with field
/// and, where the text is no JSON, its line, when it is not one of `session_id`.
Result<ArchiveManifest> read_archive_manifest(FileSystem& files, std::string_view session_id);

/// Whether `name`, as in ArchivedFile, is that of a file that holds a session's memory:
/// manifest.json, a log, summary.md, access.jsonl, audit.jsonl, quarantine.jsonl or
/// artifacts/{entry-id}.md.
bool is_session_file(std::string_view name);

/// Of which log a file in a session's folder is a copy that a cloud drive made, since two machines
/// wrote: "facts (1).jsonl", "conversation 2.jsonl", "facts.sync-conflict-20260101-ABC.jsonl".
std::optional<EntryType> log_of_copy(std::string_view name);

// The gzip members of an archive, and reading some of them.
//
//   archive/{id}.tar.gz   | member | member | member |        found by their headers, see gzip.hpp
//   its tar               | 9 KB   | 64 KiB | 12 KB  |        no member has more than 64 KiB of it
//                           |header of a file|
//
// What version 0.1 wrote, or another program, is one member or says nothing of sizes: that is
// unpacked as a whole, by read_session_archive(), which also judges what looks wrong here.

/// The most of a tar that a member holds.
inline constexpr std::uint64_t kArchiveTextMax = 64U << 10U;

/// Where a member is in the tar of an archive.
struct PlacedFile {
  std::string name;  ///< As in the tar; of a file of a session, as in ArchivedFile.
  /// "a file", "a folder", "a symbolic link", …: for decisions and for messages.
  std::string_view kind;
  std::int64_t mtime_s = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  ///< 0 of what is no file.
};

/// Threads: safe, as it never changes.
class ArchiveMembers {
 public:
  /// Hops over the members of `archive` and unpacks none. Nothing when it is not made of sized
  /// members from its first byte to its last, or is beyond `limits`. Errors: as the file system's.
  static Result<std::optional<ArchiveMembers>> find(File& archive,
                                                    const ArchiveLimits& limits = {});

  [[nodiscard]] std::size_t count() const { return places_.size() - 1; }
  [[nodiscard]] std::uint64_t tar_size() const { return places_.back().tar; }
  /// The member that holds byte `offset` of the tar, which is below tar_size().
  [[nodiscard]] std::size_t holding(std::uint64_t offset) const;
  /// Where in the tar the text of member `member` begins.
  [[nodiscard]] std::uint64_t begin(std::size_t member) const { return places_[member].tar; }
  [[nodiscard]] std::uint64_t text_size(std::size_t member) const {
    return begin(member + 1) - begin(member);
  }
  [[nodiscard]] std::uint64_t packed_size(std::size_t member) const {
    return places_[member + 1].packed - places_[member].packed;
  }
  /// The text of member `member`, of the file that find() was given. Errors: E_STORAGE_CORRUPT when
  /// it is damaged, naming it; as the file system's.
  Result<std::string> read(File& archive, std::size_t member) const;

 private:
  struct Place {
    std::uint64_t packed = 0;  ///< Where it begins in the archive.
    std::uint64_t tar = 0;     ///< And its text in the tar.
  };
  std::vector<Place> places_;  ///< One more than there are: where they end.
};

/// The text of member `member`, from wherever it is at hand.
using MemberTexts = std::function<Result<std::shared_ptr<const std::string>>(std::size_t member)>;

/// The files of the archive of `session_id`; only the members with headers in them are read.
/// Errors: as read_session_archive(); those of `texts`.
Result<std::vector<PlacedFile>> list_archive(const ArchiveMembers& members,
                                             std::string_view session_id, const MemberTexts& texts,
                                             const ArchiveLimits& limits = {});

}  // namespace bmad_mem
