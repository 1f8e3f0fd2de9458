#include <cerrno>
#include <cstring>
#include <utility>

#include "store/posix_file_system.hpp"

namespace bmad_mem {
namespace {

std::string_view remedy(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "; free some space on the disk, then try again";
    case EDQUOT:
      return "; the disk quota is used up";
    case EFBIG:
      return "; the file would grow beyond the limit (ulimit -f)";
    case EACCES:
    case EPERM:
      return "; check who owns the file and its permissions";
    case EROFS:
      return "; the file system is mounted read-only";
    case EMFILE:
    case ENFILE:
      return "; raise the limit on open files (ulimit -n)";
    case ELOOP:
      return "; symbolic links are not followed inside a memory root, put the file itself there";
    case EIO:
      return "; the disk reported an error, check its health before you go on";
    default:
      return "";
  }
}

bool means_full(int error_number) {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

}  // namespace

Error posix_error(int error_number, std::string_view action, std::string path) {
  // Not formatted: most are of files that may be missing, and nobody reads them.
  std::string message = "cannot ";
  message.append(action).append(": ").append(std::strerror(error_number));
  message.append(remedy(error_number));
  return path_error(means_full(error_number) ? ErrorCode::E_STORAGE_FULL : ErrorCode::E_STORAGE_IO,
                    std::move(path), std::move(message), error_number);
}

}  // namespace bmad_mem
