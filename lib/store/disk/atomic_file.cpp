#include "store/atomic_file.hpp"

#include <cerrno>

#include "posix_error.hpp"

namespace bmad_mem {

std::string temporary_path(const std::string& path) { return path + ".tmp"; }

std::string parent_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

Status write_all(File& file, std::string_view bytes) {
  while (!bytes.empty()) {
    BMAD_TRY_ASSIGN(const std::size_t size, file.write(bytes));
    if (size == 0) {
      return posix_error(ENOSPC, "write", "");
    }
    bytes.remove_prefix(size);
  }
  return {};
}

namespace {

/// Puts a new file in the place of `path`; synced before that if `sync` says so.
Status put_in_place(FileSystem& files, const std::string& path,
                    const std::function<Status(File&)>& fill, bool sync) {
  const std::string temporary = temporary_path(path);
  const auto prepare = [&]() -> Status {
    BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(temporary, OpenMode::kCreate));
    BMAD_TRY(fill(*file));
    if (sync) {
      BMAD_TRY(file->sync_all());
    }
    return files.rename(temporary, path);
  };
  Status prepared = prepare();
  if (!prepared) {
    // The cause is worth more than the outcome of tidying up.
    static_cast<void>(files.remove(temporary));
  }
  return prepared;
}

}  // namespace

Status replace_file(FileSystem& files, const std::string& path, std::string_view bytes) {
  return replace_file_with(files, path, [&](File& file) { return write_all(file, bytes); });
}

Status replace_file_with(FileSystem& files, const std::string& path,
                         const std::function<Status(File&)>& fill) {
  BMAD_TRY(rename_into_place(files, path, fill));
  return files.sync_directory(parent_folder(path));
}

Status rename_into_place(FileSystem& files, const std::string& path,
                         const std::function<Status(File&)>& fill) {
  return put_in_place(files, path, fill, true);
}

Status replace_derived_file(FileSystem& files, const std::string& path, std::string_view bytes) {
  return put_in_place(files, path, [&](File& file) { return write_all(file, bytes); }, false);
}

}  // namespace bmad_mem
