// checkpoint_reader_impl.hpp - what a CheckpointReader holds, for its two source files.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_value.hpp"
#include "checkpoint_format.hpp"
#include "index/checkpoint_reader.hpp"
#include "storage/posix_file_system.hpp"

namespace bmad_mem {

struct SectionPlace {
  std::uint64_t offset = 0;  // From the end of the head.
  std::uint64_t size = 0;
  std::optional<std::uint64_t> hash;  // None: its blocks or rows have hashes of their own.
};

struct CheckpointReader::Impl {
  FileSystem* files = nullptr;
  std::string path;
  std::unique_ptr<File> file;  // Null beyond open_files_max(): then it is opened for each read.
  FileInfo identity;
  std::string start;              // The first bytes of the file: head, and as much of the sections.
  std::size_t start_counted = 0;  // Bytes of it that are among started_bytes.
  std::uint64_t head_size = 0;
  std::uint64_t size = 0;
  Ordinal entries = 0;
  std::uint32_t tombstones = 0;
  std::unique_ptr<LogCovers> covers = std::make_unique<LogCovers>();
  SessionFacts facts;
  std::array<SectionPlace, kSectionCount> sections;
  std::array<std::string, kPostingKindCount> directories;

  [[nodiscard]] Error corrupt(std::string_view what) const {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = fmt::format("the index can't be used ({}); it is derived and will be "
                                        "built anew",
                                        what),
                 .path = files->display_path(path)};
  }

  [[nodiscard]] const SectionPlace& place(Section section) const {
    return sections[static_cast<std::size_t>(section)];
  }

  /// Of all sessions together: a process may have a thousand files open, or fewer, and other uses
  /// for them.
  static int open_files_max() {
    constexpr std::size_t kMost = 256;
    return static_cast<int>(std::min(kMost, descriptor_limit() / 8));
  }
  static inline std::atomic<int> open_files{0};

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    open_files -= file == nullptr ? 0 : 1;
    started_bytes -= start_counted;
  }

  /// Keeps the start of the file for the next reads, if the others leave room for it.
  void keep_start();
  /// How much of their starts all readers hold: of ten thousand sessions it would be 100 MB.
  static constexpr std::size_t kStartedBytesMax = std::size_t{8} << 20U;
  static inline std::atomic<std::size_t> started_bytes{0};

  /// Fills `out` from offset `from` of the file. Returns how many bytes.
  Result<std::size_t> read_file_at(std::uint64_t from, std::span<char> out) const;
  Status read_start();
  Status read_head(const std::string& session_id, std::string_view language);
  Result<std::optional<std::uint64_t>> read_hash(std::string_view hex) const;
  Status read_covers(JsonValue covers);
  Status read_sections(JsonValue places);
  Result<std::string> read_section(Section section) const;
  Result<std::vector<std::uint32_t>> column(Section section, std::size_t digits) const;
  Status check_blocks(PostingKind kind, std::string_view lines) const;
  Status read(std::uint64_t offset, std::size_t wanted, std::string& out) const;
  Result<std::string> block_of(PostingKind kind, std::string_view line,
                               std::string_view next_line) const;
};

}  // namespace bmad_mem
