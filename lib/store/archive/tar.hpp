// tar.hpp - tar files: what libarchive does for the archive of a session.
//
// Written: ustar, and a pax header only for a name that ustar has no room for; owner 0, mode 0600.
// Read: every kind of tar that libarchive knows. What a member is allowed to be is not decided
// here.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// A file to be packed.
struct TarFile {
  std::string name;
  std::string_view bytes;
  std::int64_t mtime_s = 0;
};

/// A tar of `members` in their order. Equal members give equal bytes.
Result<std::string> make_tar(std::span<const TarFile> members);

/// A member, and where its bytes are.
struct TarPlace {
  std::string name;
  /// "a file", "a folder", "a symbolic link", …: for decisions and for messages.
  std::string_view kind;
  std::int64_t mtime_s = 0;
  std::uint64_t offset = 0;  ///< In the tar.
  std::uint64_t size = 0;    ///< 0 unless `kind` is kTarFile.
};

inline constexpr std::string_view kTarFile = "a file";
inline constexpr std::string_view kTarFolder = "a folder";

/// The bytes of a tar from an offset below its size on: as many as are at hand, one at least. They
/// stay until it is called again.
using TarBytes = std::function<Result<std::string_view>(std::uint64_t offset)>;

/// Hands over the members of a tar of `size` bytes one by one until `take` returns an error, which
/// is returned. Of the files' own bytes it asks for no more than follow a header at hand.
/// Errors: E_STORAGE_CORRUPT when it is no tar, damaged, or has no end mark or anything behind it;
/// those of `bytes`.
Status list_tar(std::uint64_t size, const TarBytes& bytes,
                const std::function<Status(TarPlace)>& take);

}  // namespace bmad_mem
