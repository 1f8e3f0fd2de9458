// segment_sinks.hpp - a segment as it is written: the file, blocks of columns, and the dictionary
// of a kind of key. segment_format.hpp draws what they write.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "base/hash.hpp"
#include "search/segment_format.hpp"
#include "store/atomic_file.hpp"

namespace bmad_mem {

/// The file as it grows.
class SegmentSink {
 public:
  explicit SegmentSink(File& file) : file_(file) {}

  Status add(std::string_view bytes) {
    buffer_ += bytes;
    size_ += bytes.size();
    return buffer_.size() < kBufferSize ? Status() : flush();
  }
  Status flush() {
    Status done = write_all(file_, buffer_);
    hash_.add(buffer_);
    buffer_.clear();
    return done;
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Of all that was flushed.
  [[nodiscard]] std::uint64_t hash() const { return hash_.value(); }

 private:
  static constexpr std::size_t kBufferSize = 256U << 10U;
  File& file_;
  std::string buffer_;
  Xxh3Stream hash_;
  std::uint64_t size_ = 0;
};

/// Gathers what a block holds, and writes it with its hash when it is full.
class BlockSink {
 public:
  BlockSink(SegmentSink& sink, std::uint32_t slots, std::uint64_t salt)
      : sink_(sink), slots_(slots), salt_(salt) {}

  /// One slot: its value in each of the columns of the block.
  template <typename... Numbers>
  Status add(Numbers... numbers) {
    std::size_t column = 0;
    (put_little(numbers, columns_[column++]), ...);
    used_ = column;
    return ++count_ == slots_ ? end() : Status();
  }
  Status end() {
    if (count_ == 0) {
      return {};
    }
    std::string block;
    for (std::size_t i = 0; i < used_; ++i) {
      block += columns_[i];
      columns_[i].clear();
    }
    count_ = 0;
    put_little(xxh3(block) ^ salt_, block);
    return sink_.add(block);
  }

 private:
  SegmentSink& sink_;
  std::uint32_t slots_;
  std::uint64_t salt_;
  std::array<std::string, 3> columns_;
  std::size_t used_ = 0;
  std::uint32_t count_ = 0;
};

/// The keys of a kind as they come, ascending.
class Dictionary {
 public:
  explicit Dictionary(std::uint64_t salt) : salt_(salt) {}

  /// `list`: offset of what is at hand in the lists; empty text for one entry.
  void add(std::string_view key, std::uint64_t list_offset, std::string_view value) {
    if (count_ % kKeyBlock == 0) {
      end_block();
      put_little(static_cast<std::uint64_t>(blocks_.size()), top_);
      put_little(list_offset, top_);
      put_little(static_cast<std::uint64_t>(firsts_.size()), top_);
      put_little(static_cast<std::uint64_t>(key.size()), top_);
      firsts_ += key;
      last_.clear();
    }
    const auto same = static_cast<std::size_t>(std::ranges::mismatch(key, last_).in1 - key.begin());
    put_varint(same, block_);
    put_varint(key.size() - same, block_);
    block_ += key.substr(same);
    block_ += value;
    last_ = key;
    ++count_;
  }
  void end_block() {
    if (!block_.empty()) {
      put_little(xxh3(block_) ^ salt_, block_);
      blocks_ += block_;
      block_.clear();
    }
  }
  [[nodiscard]] std::string_view blocks() const { return blocks_; }
  [[nodiscard]] std::string top() const {
    std::string top;
    put_little(static_cast<std::uint64_t>(top_.size() / kTopSize), top);
    return top + top_ + firsts_;
  }

 private:
  std::uint64_t salt_;
  std::string blocks_;
  std::string block_;
  std::string top_;
  std::string firsts_;
  std::string last_;
  std::uint64_t count_ = 0;
};

}  // namespace bmad_mem
