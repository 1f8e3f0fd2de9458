// small_file.hpp - reading and writing the files that git hands over, and its settings.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

/// The whole regular file at `path`, also through a link. Errors: E_STORAGE_IO with the path;
/// E_SIZE_LIMIT above 1 GiB.
Result<std::string> read_regular_file(const std::string& path);

/// Puts `text` in the place of the file at `path`, durable; a link is followed. What fails before
/// that leaves the file as it was. Errors: as FileReplacement.
Status replace_file(const std::string& path, std::string_view text);

/// Whether there is anything at `path`.
bool is_there(const std::string& path);

}  // namespace bmad_mem::cli
