// archive_members.hpp - the gzip members of an archive, and reading some of them.
//
//   archive/{id}.tar.gz   | member | member | member |        found by their headers, see gzip.hpp
//   its tar               | 9 KB   | 64 KiB | 12 KB  |        no member has more than 64 KiB of it
//                           |header of a file|
//
// What version 0.1 wrote, or another program, is one member or says nothing of sizes: that is
// unpacked as a whole, by read_session_archive(), which also judges what looks wrong here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "store/session_archive.hpp"

namespace bmad_mem {

/// The most of a tar that a member holds.
inline constexpr std::uint64_t kArchiveTextMax = 64U << 10U;

/// Where a file of a session is in the tar of its archive.
struct PlacedFile {
  std::string name;  ///< As in ArchivedFile.
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_s = 0;
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
