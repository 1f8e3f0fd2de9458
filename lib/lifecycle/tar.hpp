// tar.hpp - tar files in memory: what libarchive does for the archive of a session.
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

/// A member that was read.
struct TarMember {
  std::string name;
  /// "a file", "a folder", "a symbolic link", …: for decisions and for messages.
  std::string_view kind;
  std::int64_t mtime_s = 0;
  std::string bytes;  ///< Empty unless `kind` is kTarFile.
};

inline constexpr std::string_view kTarFile = "a file";
inline constexpr std::string_view kTarFolder = "a folder";

/// Hands over the members of `tar` one by one until `take` returns an error, which is returned.
/// Errors: E_STORAGE_CORRUPT when it is no tar, damaged, or has no end mark or anything behind it.
Status read_tar(std::string_view tar, const std::function<Status(TarMember)>& take);

}  // namespace bmad_mem
