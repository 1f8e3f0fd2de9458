#include "refused_files.hpp"

#include <ranges>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {

std::string refused_key(const std::string& path, const FileInfo& file, PackedNote note) {
  return hash_hex(xxh3(fmt::format("{} {} {} {} {} {}", static_cast<int>(note), path, file.device,
                                   file.inode, file.size, file.mtime_ns)));
}

RefusedFiles read_refused(FileSystem& files) {
  RefusedFiles refused;
  const std::string text = read_file(files, kRefusedFile, kRefusedSizeMax).value_or("");
  JsonParser parser;
  for (const auto& line : text | std::views::split('\n')) {
    if (const Result<JsonValue> value = parser.parse(std::string_view(line))) {
      const bool is_size = (*value)["code"].string() == error_code_name(ErrorCode::E_SIZE_LIMIT);
      refused.insert_or_assign(
          std::string((*value)["key"].string()),
          Error{.code = is_size ? ErrorCode::E_SIZE_LIMIT : ErrorCode::E_STORAGE_CORRUPT,
                .message = std::string((*value)["message"].string())});
    }
  }
  return refused;
}

void remember_packed(FileSystem& files, const std::string& path, const Result<FileInfo>& file,
                     PackedNote note, const Error& error) {
  constexpr std::uint64_t kQuickAnyway = UnpackBudget::kQuickMax / 8;  // Text shrinks to a sixth.
  if (!file || (note == PackedNote::kOurs && file->size <= kQuickAnyway)) {
    return;
  }
  JsonWriter line;
  line.begin_object().member("key", refused_key(path, *file, note)).member("file", path);
  line.member("code", error_code_name(error.code)).member("message", error.message).end_object();
  const Result<FileInfo> before = files.info(kRefusedFile);
  if (before && before->size > kRefusedSizeMax / 2) {
    static_cast<void>(files.remove(kRefusedFile));
  }
  if (const auto log = files.open(kRefusedFile, OpenMode::kAppend)) {
    static_cast<void>(write_all(**log, line.take() + '\n'));
  }
}

}  // namespace bmad_mem
