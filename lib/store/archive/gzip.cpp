// gzip.cpp - packs and unpacks gzip members in memory, with zlib, within limits.
#include "store/gzip.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include <fmt/format.h>
#include <zlib.h>

#include "base/little_endian.hpp"

namespace bmad_mem {
namespace {

/// Measured on 10 MB of a session, in ms and MB: level 1 103 and 3.43, 3 146 and 3.24, 4 164
/// and 3.13, 5 234 and 3.05, 6 383 and 3.02, 9 433 and 2.99. Unpacking takes 40 ms whatever the
/// level.
constexpr int kLevel = 4;
/// 15 bits of window, and 16 for gzip's header instead of zlib's.
constexpr int kWindowBits = 15 + 16;
constexpr int kMemoryLevel = 8;  // zlib's default.

/// What zlib is handed at once: its counts have 32 bits.
constexpr std::size_t kPieceMax = std::numeric_limits<uInt>::max();

/// Deflate gets no tighter than 1032:1 (zlib's own documentation), so less room need never be
/// there.
constexpr std::uint64_t kDeflateRatioMax = 1032;

/// What a sized member begins with, but for its size: gzip's header with an extra field, and the
/// head of that field. Byte 8 tells how hard it was packed, and byte 9 where.
constexpr std::string_view kSizedStart("\x1F\x8B\x08\x04\0\0\0\0", 8);
constexpr std::string_view kSizedField("\x08\0BM\x04\0", 6);
constexpr std::size_t kSizedFieldAt = 10;
constexpr std::size_t kSizedSizeAt = kSizedFieldAt + kSizedField.size();
static_assert(kSizedSizeAt + 4 == kSizedHeaderSize);

/// The last field of a member: how much is in it. 0 in an empty member only, and in an unwritten
/// one.
constexpr std::size_t kSizeFieldSize = 4;

uInt piece_size(std::size_t size) { return static_cast<uInt>(std::min(size, kPieceMax)); }

/// zlib reads this, although it asks for bytes that it could change.
Bytef* input_of(std::string_view bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast,cppcoreguidelines-pro-type-const-cast)
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.begin()));
}

Bytef* output_to(char* bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): text and bytes are the same here.
  return reinterpret_cast<Bytef*>(bytes);
}

Error corrupt(std::string message) {
  return {.code = ErrorCode::E_STORAGE_CORRUPT, .message = std::move(message)};
}

/// Output that grows by doubling, up to a limit that it never passes.
class BoundedText {
 public:
  explicit BoundedText(std::uint64_t size_max) : size_max_(size_max) {}

  /// Room for at least one more byte; false at the limit.
  bool make_room(std::uint64_t wanted) {
    assert(used_ <= text_.size());
    if (used_ < text_.size()) {
      return true;
    }
    const std::uint64_t size =
        std::min(size_max_, std::max<std::uint64_t>(wanted, 2 * std::uint64_t{text_.size()}));
    if (size <= text_.size()) {
      return false;
    }
    // A fresh string reserves what it is told; an old one takes twice what it has.
    std::string larger;
    larger.reserve(size);
    larger.append(text_, 0, used_);
    larger.resize(size);
    text_.swap(larger);
    assert(text_.size() <= size_max_);
    return true;
  }
  [[nodiscard]] char* end() { return text_.data() + used_; }
  [[nodiscard]] std::size_t room() const { return text_.size() - used_; }
  [[nodiscard]] std::size_t used() const { return used_; }
  void advance(std::size_t size) { used_ += size; }
  void cut(std::size_t size) { used_ = size; }
  std::string take() {
    assert(used_ <= text_.size());
    text_.resize(used_);
    return std::move(text_);
  }

 private:
  std::uint64_t size_max_;
  std::string text_;
  std::size_t used_ = 0;
};

enum class MemberEnd : std::uint8_t { kWhole, kTorn, kDamaged, kTooLarge };

/// Unpacks the members of a text one after the other.
class Unpacker {
 public:
  Unpacker(std::string_view bytes, std::uint64_t size_max) : rest_(bytes), out_(size_max) {
    if (inflateInit2(&stream_, kWindowBits) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  ~Unpacker() { inflateEnd(&stream_); }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::size_t rest_size() const { return rest_.size(); }
  [[nodiscard]] std::string_view damage() const { return damage_; }

  /// Unpacks the next member; unless it is whole, as if it had not been tried.
  MemberEnd next() {
    const std::string_view before = rest_;
    const std::size_t used = out_.used();
    inflateReset(&stream_);
    MemberEnd end = inflate_member();
    const std::optional<std::uint32_t> size = sized_member(before);
    if (end == MemberEnd::kWhole && size && *size != before.size() - rest_.size()) {
      damage_ = "it is not as long as it says";
      end = MemberEnd::kDamaged;
    }
    if (end != MemberEnd::kWhole) {
      rest_ = before;
      out_.cut(used);
    }
    return end;
  }
  std::string take() { return out_.take(); }

 private:
  MemberEnd inflate_member() {
    while (true) {
      const std::uint64_t likely = std::max<std::uint64_t>(4 * std::uint64_t{rest_.size()}, 256);
      const bool has_room = out_.make_room(likely);
      // At the limit, one byte tells whether the member ends here.
      char overflow = 0;
      const uInt room = has_room ? piece_size(out_.room()) : 1U;
      stream_.next_out = output_to(has_room ? out_.end() : &overflow);
      stream_.avail_out = room;
      const uInt given = piece_size(rest_.size());
      stream_.next_in = input_of(rest_);
      stream_.avail_in = given;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      rest_.remove_prefix(given - stream_.avail_in);
      const uInt made = room - stream_.avail_out;
      if (!has_room && made > 0) {
        return MemberEnd::kTooLarge;
      }
      out_.advance(has_room ? made : 0);
      if (status == Z_STREAM_END) {
        return MemberEnd::kWhole;
      }
      if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      }
      if (status != Z_OK && status != Z_BUF_ERROR) {
        damage_ = stream_.msg != nullptr ? stream_.msg : "no gzip";
        return MemberEnd::kDamaged;
      }
      if (rest_.empty() && stream_.avail_out > 0) {
        return MemberEnd::kTorn;
      }
    }
  }

  z_stream stream_{};
  std::string_view rest_;
  BoundedText out_;
  std::string damage_;
};

Error too_large(std::uint64_t size_max) {
  return {.code = ErrorCode::E_SIZE_LIMIT,
          .message =
              fmt::format("unpacks to more than {} bytes, the most that is read of it", size_max)};
}

/// No input unpacks to more than this, so there is no point in a higher limit.
std::uint64_t sensible_limit(std::string_view bytes, std::uint64_t size_max) {
  return std::min(size_max, bytes.size() * kDeflateRatioMax + 1);
}

Error damaged(const Unpacker& unpacker, std::string_view bytes) {
  return corrupt(fmt::format("is damaged in the gzip member that starts at byte {}: {}",
                             bytes.size() - unpacker.rest_size(), unpacker.damage()));
}

Result<std::string> pack(std::string_view bytes, gz_header* header) {
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<z_stream, decltype(&deflateEnd)> owner(&stream, deflateEnd);
  if (header != nullptr) {
    deflateSetHeader(&stream, header);
  }
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  std::size_t used = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const uInt given = piece_size(bytes.size());
    const uInt room = piece_size(out.size() - used);
    stream.next_in = input_of(bytes);
    stream.avail_in = given;
    stream.next_out = output_to(out.data() + used);
    stream.avail_out = room;
    status = deflate(&stream, given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    bytes.remove_prefix(given - stream.avail_in);
    used += room - stream.avail_out;
  }
  if (status != Z_STREAM_END) {  // The room always suffices: deflateBound() says so.
    return corrupt(fmt::format("cannot be packed: zlib says {}", status));
  }
  out.resize(used);
  return out;
}

}  // namespace

Result<std::string> gzip(std::string_view bytes) { return pack(bytes, nullptr); }

Result<std::string> gzip_sized(std::string_view bytes) {
  constexpr int kUnix = 3;  // As zlib says without a header of ours.
  std::array<Bytef, kSizedHeaderSize - kSizedFieldAt - 2> field{};
  std::ranges::copy(kSizedField.substr(2), field.begin());
  gz_header header{};
  header.os = kUnix;
  header.extra = field.data();
  header.extra_len = static_cast<uInt>(field.size());
  BMAD_TRY_ASSIGN(std::string out, pack(bytes, &header));
  std::uint64_t rest = out.size();
  for (std::size_t at = kSizedSizeAt; at < kSizedHeaderSize; ++at, rest >>= 8U) {
    out[at] = static_cast<char>(rest & 0xFFU);
  }
  if (rest != 0) {
    return corrupt("cannot be packed: it is too long for one member");
  }
  assert(sized_member(out) == static_cast<std::uint32_t>(out.size()));
  return out;
}

std::optional<std::uint32_t> sized_member(std::string_view bytes) {
  if (bytes.size() < kSizedHeaderSize || !bytes.starts_with(kSizedStart) ||
      bytes.substr(kSizedFieldAt, kSizedField.size()) != kSizedField) {
    return std::nullopt;
  }
  return little_at<std::uint32_t>(bytes.data() + kSizedSizeAt);
}

std::uint32_t member_text_size(std::string_view bytes) {
  return bytes.size() < kSizeFieldSize ? 0 : little_at<std::uint32_t>(bytes.end() - kSizeFieldSize);
}

std::uint64_t said_text_size(std::string_view bytes) {
  std::uint64_t sum = 0;
  std::uint32_t size = 0;
  while ((size = sized_member(bytes).value_or(0)) > kSizedHeaderSize && size < bytes.size()) {
    sum += member_text_size(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return sum + member_text_size(bytes);
}

bool says_too_large(std::string_view bytes, std::uint64_t size_max) {
  const std::uint64_t size = member_text_size(bytes);
  return size > size_max && size <= bytes.size() * kDeflateRatioMax && !sized_member(bytes);
}

Result<std::string> gunzip_member(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  z_stream stream{};
  if (inflateInit2(&stream, kWindowBits) != Z_OK) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> owner(&stream, inflateEnd);
  assert(size <= kPieceMax && "zlib writes it in one piece");
  std::string text(static_cast<std::size_t>(size), '\0');
  stream.next_in = input_of(bytes);
  stream.avail_in = piece_size(bytes.size());
  stream.next_out = output_to(text.data());
  stream.avail_out = piece_size(text.size());
  const int status = inflate(&stream, Z_FINISH);  // All at once: it needs no window then.
  if (status == Z_MEM_ERROR) {
    throw std::bad_alloc();
  }
  if (status == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0) {
    return text;
  }
  const bool has_reason = status == Z_DATA_ERROR && stream.msg != nullptr;
  return corrupt(fmt::format("is damaged in the gzip member that starts at byte {}: {}", at,
                             has_reason ? stream.msg : "it is not as long as it says"));
}

Result<std::string> gunzip(std::string_view bytes, std::uint64_t size_max) {
  if (says_too_large(bytes, size_max)) {
    return Error{.code = ErrorCode::E_SIZE_LIMIT,
                 .message = fmt::format("says that it unpacks to {} bytes, more than the {} that "
                                        "are read of it, or is cut short",
                                        member_text_size(bytes), size_max)};
  }
  Unpacker unpacker(bytes, sensible_limit(bytes, size_max));
  do {
    switch (unpacker.next()) {
      case MemberEnd::kWhole:
        break;
      case MemberEnd::kTorn:
        return corrupt(fmt::format("ends in the middle of the gzip member that starts at byte {}",
                                   bytes.size() - unpacker.rest_size()));
      case MemberEnd::kDamaged:
        return damaged(unpacker, bytes);
      case MemberEnd::kTooLarge:
        return too_large(size_max);
    }
  } while (!unpacker.at_end());
  return unpacker.take();
}

Result<WholeMembers> gunzip_whole(std::string_view bytes, std::uint64_t size_max) {
  constexpr std::array<char, kSizeFieldSize> kNeverWritten{};
  const bool ends_unwritten = bytes.ends_with({kNeverWritten.data(), kNeverWritten.size()});
  Unpacker unpacker(bytes, sensible_limit(bytes, size_max));
  MemberEnd end = MemberEnd::kWhole;
  while (!unpacker.at_end() && end == MemberEnd::kWhole) {
    end = unpacker.next();
  }
  if (end == MemberEnd::kTooLarge) {
    return too_large(size_max);
  }
  if (end == MemberEnd::kDamaged && !ends_unwritten) {
    return damaged(unpacker, bytes);
  }
  const std::uint64_t whole_size = bytes.size() - unpacker.rest_size();
  return WholeMembers{.bytes = unpacker.take(), .whole_size = whole_size};
}

}  // namespace bmad_mem
