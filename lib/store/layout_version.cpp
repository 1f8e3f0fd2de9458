#include "store/layout_version.hpp"

#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kLayoutFileSizeMax = 64U << 10U;

class ReadOnlyFileSystem final : public FileSystem {
 public:
  ReadOnlyFileSystem(std::unique_ptr<FileSystem> files, Error why)
      : files_(std::move(files)), why_(std::move(why)) {}

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    return mode == OpenMode::kRead ? files_->open(path, mode) : why_;
  }
  Result<FileInfo> info(const std::string& path) override { return files_->info(path); }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return files_->list(path);
  }
  Status make_directory(const std::string& /*path*/) override { return why_; }
  Status rename(const std::string& /*from*/, const std::string& /*to*/) override { return why_; }
  Status remove(const std::string& /*path*/) override { return why_; }
  Status remove_directory(const std::string& /*path*/) override { return why_; }
  Status sync_directory(const std::string& /*path*/) override { return why_; }
  Status follow_root() override { return files_->follow_root(); }
  [[nodiscard]] std::string display_path(const std::string& path) const override {
    return files_->display_path(path);
  }

 private:
  std::unique_ptr<FileSystem> files_;
  Error why_;
};

Error refused_layout(const FileSystem& files, std::string message) {
  return {.code = ErrorCode::E_NEWER_VERSION,
          .message = std::move(message),
          .path = files.display_path(kLayoutFile),
          .field = "layout_version"};
}

}  // namespace

Result<std::optional<Error>> newer_layout(FileSystem& files) {
  const Result<std::string> text = read_file(files, kLayoutFile, kLayoutFileSizeMax);
  if (!text && is_not_found(text.error())) {
    return std::optional<Error>();
  }
  BMAD_TRY(text);
  JsonParser parser;
  const Result<JsonValue> root = parser.parse(*text);
  const std::int64_t version = root ? (*root)["layout_version"].integer() : 0;
  if (version >= 1 && version <= kLayoutVersion) {
    return std::optional<Error>();
  }
  return std::optional(refused_layout(
      files, version > kLayoutVersion
                 ? fmt::format("is {}, and this bmad-mem writes {}; install a newer bmad-mem",
                               version, kLayoutVersion)
                 : "can't be read, so nothing is written; bring the file back from git"));
}

std::unique_ptr<FileSystem> read_only_files(std::unique_ptr<FileSystem> files, Error why) {
  return std::make_unique<ReadOnlyFileSystem>(std::move(files), std::move(why));
}

}  // namespace bmad_mem
