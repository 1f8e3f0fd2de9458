// segment_vectors.cpp - reads and writes the file of vectors beside a segment, block by block.
#include "search/segment_vectors.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "base/hash.hpp"
#include "base/little_endian.hpp"
#include "encoder/packed_vectors.hpp"
#include "encoder/text_encoder.hpp"
#include "search/segment.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kMagic = "bmad-mem vectors";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderSize = 64;
constexpr std::size_t kHashSize = 8;
constexpr std::size_t kSensitivePlace = 44;

std::string header_bytes(const Segment& segment, const VectorsOf& of, bool is_whole) {
  std::string header(kMagic);
  put_little(kVersion, header);
  put_little(of.dimension, header);
  put_little(of.encoder, header);
  put_little(segment.hash, header);
  put_little(segment.entries, header);
  put_little(std::uint32_t{of.sensitive}, header);
  put_little(xxh3(header), header);
  if (is_whole) {
    put_little(xxh3(header), header);
  }
  assert(header.size() <= kHeaderSize);
  header.resize(kHeaderSize);
  return header;
}

Status write_whole(File& file, std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    BMAD_TRY_ASSIGN(const std::size_t written, file.write_at(offset, bytes));
    if (written == 0) {
      return Error{.code = ErrorCode::E_STORAGE_FULL, .message = "no room for vectors"};
    }
    bytes.remove_prefix(written);
    offset += written;
  }
  return {};
}

}  // namespace

VectorsOf vectors_of(const TextEncoder& encoder, bool sensitive) {
  return {.encoder = encoder.id(), .dimension = encoder.dimension(), .sensitive = sensitive};
}

std::shared_ptr<SegmentVectors> Segment::vectors() {
  const Result<FileInfo> info = files->info(vectors_path(path));
  const std::lock_guard guard(mutex);
  if (!info || info->kind != FileKind::kRegular) {
    known_vectors = nullptr;
  } else if (known_vectors == nullptr || !known_vectors->is_as(*info)) {
    known_vectors = SegmentVectors::open(*this).value_or(nullptr);
  }
  return known_vectors;
}

std::string vectors_path(std::string_view segment_path) {
  return std::string(segment_path.substr(0, segment_path.rfind('.'))) + ".vec";
}

SegmentVectors::SegmentVectors(std::unique_ptr<File> file, const Segment& segment, VectorsOf of)
    : file_(std::move(file)),
      of_(of),
      row_size_(packed_size(of.dimension)),
      entries_(segment.entries),
      salt_(segment.salt),
      has_block_((entries_ + kVectorBlock - 1) / kVectorBlock) {}

std::uint64_t SegmentVectors::block_place(std::uint32_t block) const {
  return kHeaderSize + std::uint64_t{block} * (kVectorBlock * row_size_ + kHashSize);
}

std::uint64_t SegmentVectors::file_size() const {
  return block_place(static_cast<std::uint32_t>(has_block_.size()));
}

Result<std::shared_ptr<SegmentVectors>> SegmentVectors::open(const Segment& segment,
                                                             OpenMode mode) {
  const std::string path = vectors_path(segment.path);
  BMAD_TRY_ASSIGN(auto file, if_there(segment.files->open(path, mode)));
  if (!file) {
    return std::shared_ptr<SegmentVectors>();
  }
  std::string header(kHeaderSize, '\0');
  BMAD_TRY_ASSIGN(const std::size_t got, (*file)->read_at(0, header));
  const VectorsOf of{.encoder = little_at<std::uint64_t>(header.data() + kMagic.size() + 8),
                     .dimension = little_at<std::uint32_t>(header.data() + kMagic.size() + 4),
                     .sensitive = header[kSensitivePlace] != 0};
  const bool is_whole = header == header_bytes(segment, of, true);
  if (got != kHeaderSize || of.dimension == 0 || of.dimension > kDimensionMax ||
      (!is_whole && header != header_bytes(segment, of, false))) {
    return std::shared_ptr<SegmentVectors>();
  }
  std::shared_ptr<SegmentVectors> vectors(new SegmentVectors(*std::move(file), segment, of));
  vectors->is_whole_ = is_whole;
  BMAD_TRY_ASSIGN(vectors->info_, vectors->file_->info());
  return vectors->info_.size == vectors->file_size() ? vectors : nullptr;
}

Result<std::shared_ptr<SegmentVectors>> SegmentVectors::create(const Segment& segment,
                                                               VectorsOf of) {
  const std::string path = vectors_path(segment.path);
  BMAD_TRY(if_there(segment.files->remove(path)));  // A reader may have the old one open.
  BMAD_TRY_ASSIGN(std::unique_ptr<File> file, segment.files->open(path, OpenMode::kUpdate));
  std::shared_ptr<SegmentVectors> vectors(new SegmentVectors(std::move(file), segment, of));
  // The size comes first: a header without blocks behind it would be taken for damage.
  BMAD_TRY(vectors->file_->truncate(vectors->file_size()));
  BMAD_TRY(write_whole(*vectors->file_, 0, header_bytes(segment, of, false)));
  BMAD_TRY_ASSIGN(vectors->info_, vectors->file_->info());
  return vectors;
}

const std::uint8_t* SegmentVectors::rows(std::uint32_t begin, std::uint32_t end) {
  assert(begin <= end && end <= entries_);
  const std::lock_guard guard(mutex_);
  if (rows_ == nullptr) {
    const std::size_t size = has_block_.size() * kVectorBlock * row_size_;
    rows_ = std::make_unique_for_overwrite<std::uint8_t[]>(size);
  }
  const auto last =
      static_cast<std::uint32_t>((std::uint64_t{end} + kVectorBlock - 1) / kVectorBlock);
  for (std::uint32_t block = begin / kVectorBlock; block < last;) {
    std::uint32_t stop = block;
    while (stop < last && !has_block_[stop]) {
      ++stop;
    }
    if (stop > block) {
      read_blocks(block, stop);
    }
    block = stop + 1;
  }
  return rows_.get() + begin * row_size_;
}

void SegmentVectors::expect(std::uint64_t count) {
  if (2 * count >= entries_) {
    rows(0, entries_);
  }
}

/// 128 KB at a time, which stay in the cache. The caller holds the mutex.
void SegmentVectors::read_blocks(std::uint32_t first, std::uint32_t last) {
  assert(first < last && last <= has_block_.size() && rows_ != nullptr);
  const std::size_t size = kVectorBlock * row_size_;
  const auto at_once = static_cast<std::uint32_t>((std::size_t{1} << 17U) / size + 1);
  std::string bytes;
  take_memory_now(
      std::as_writable_bytes(std::span(rows_.get() + first * size, (last - first) * size)));
  for (std::uint32_t block = first; block < last; block += at_once) {
    const std::uint32_t stop = std::min(last, block + at_once);
    bytes.assign((stop - block) * (size + kHashSize), '\0');
    static_cast<void>(file_->read_at(block_place(block), bytes));
    for (std::uint32_t i = block; i < stop; ++i) {
      const std::string_view its =
          std::string_view(bytes).substr((i - block) * (size + kHashSize), size);
      const bool holds = (xxh3(its) ^ (salt_ + i)) == little_at<std::uint64_t>(its.data() + size);
      std::uint8_t* const to = rows_.get() + i * size;
      if (holds) {
        std::memcpy(to, its.data(), size);
      } else {
        std::memset(to, 0, size);
      }
      has_block_[i] = true;
    }
  }
}

Status SegmentVectors::write_block(std::uint32_t block, std::span<const std::uint8_t> rows) {
  const std::size_t size = kVectorBlock * row_size_;
  assert(block < has_block_.size() && rows.size() <= size);
  std::string bytes(reinterpret_cast<const char*>(rows.data()), std::min(rows.size(), size));
  bytes.resize(size);
  put_little(xxh3(bytes) ^ (salt_ + block), bytes);
  BMAD_TRY(write_whole(*file_, block_place(block), bytes));
  BMAD_TRY(renew_time());
  const std::lock_guard guard(mutex_);
  if (rows_ != nullptr && has_block_[block]) {
    std::memcpy(rows_.get() + block * size, bytes.data(), size);
  }
  return {};
}

Status SegmentVectors::mark_whole(const Segment& segment) {
  assert(segment.entries == entries_ && segment.salt == salt_ && "it is of this segment");
  BMAD_TRY(write_whole(*file_, 0, header_bytes(segment, of_, true)));
  is_whole_ = true;
  return renew_time();
}

/// Readers see by it that they are behind.
Status SegmentVectors::renew_time() {
  BMAD_TRY_ASSIGN(const FileInfo written, file_->info());
  // Clocks of file systems tick more slowly than blocks are written.
  info_.mtime_ns = std::max(written.mtime_ns, info_.mtime_ns + 1);
  static_cast<void>(file_->set_mtime(info_.mtime_ns));
  return {};
}

}  // namespace bmad_mem
