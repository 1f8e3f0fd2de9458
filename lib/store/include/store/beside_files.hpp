// beside_files.hpp - the files of a root that belong to no session and are nobody's settings.
//
//   memories/notes.md        what an agent keeps with the memory tool
//   README.md                what a person put there
//   config.json.tmp          what a process that died left at the root
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"

namespace bmad_mem {

/// Larger ones are no notes, and are left alone.
inline constexpr std::uint64_t kBesideFileSizeMax = 64U << 20U;

/// Their paths, sorted. Links and what else is no file are passed over.
Result<std::vector<std::string>> files_beside_sessions(FileSystem& files);

/// Whether `path`, one of these, was left by a process that died.
bool is_root_leftover(std::string_view path);

/// Whether `bytes` are a text: lines can be taken out of it.
bool is_text_file(std::string_view bytes);

}  // namespace bmad_mem
