// segment_format.hpp - how a segment lies on the disk, for who writes and who reads it.
//
//   scores     blocks of 128 slots: lengths u16, flags u16, reach u8: before | after << 2
//                                                                     each block and its XXH3
//   times      blocks of 128 slots: milliseconds since 1970 i64       each block and its XXH3
//   rows       34 bytes a slot: where its line lies, and its id       each row and three bytes of
//                                                                     XXH3
//   odd        40 bytes each, ascending by slot
//   sums       see segment_sums.cpp
//   sessions   64 bytes each, then participants and names
//   statements how many of each session (u32), then 80 bytes for each line of a preference or a
//              fact, superseded ones too
//   for each kind of key:
//     lists    of the keys that two entries hold or more, and four bytes of XXH3
//     keys     blocks of 64 keys, front coded                         each block and its XXH3
//     top      what each block begins with, and where it lies
//   footer     XXH3 of all of this, a salt, where these are, and the XXH3 of those that have none
//              inside
//   trailer    size and XXH3 of the footer, and the magic
//
// The XXH3 of blocks, rows and lists are mixed with the salt, which tells the segment from others:
// what is read later is of the file that was opened, even if another was copied over it.
//
// All numbers are little-endian; varints are LEB128. The slots of a session stand side by side, in
// the order of slot_table.hpp, live entries only.
//
//   key        shared with the one before, rest: varint, varint, bytes
//              how many entries: varint; for one: its slot, and the numbers of a posting alone;
//              else the bytes of the list: varint
//   list       a run for each session that has the key:
//     several    gap from the session before (the first from -1) * 2 + 1, entries, mentions beyond
//                one each, [windows], bytes of what follows: varints; then for each entry the gap
//                from the slot before (the first from -1) * 2 + 1 if a frequency follows; then
//                [the impacts]
//     one        gap * 2, slot in the session: varints, and the numbers of a posting alone
//   alone      [(windows - 1) * 2] + 1 if a frequency follows, that, [impact]
//
// Fields in [] are there for terms only: in how many windows they are, and the impact of each
// entry, u16 (impact.hpp).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/little_endian.hpp"
#include "bmad_mem/clock.hpp"
#include "search/memtable.hpp"

namespace bmad_mem {

inline constexpr std::string_view kSegmentMagic = "bmad-mem segment";
inline constexpr std::uint32_t kSegmentVersion = 10;
inline constexpr std::size_t kTrailerSize = 8 + 8 + 16;

/// The kinds of postings, and the ids: four bytes of entry_id_hash(), the highest first.
inline constexpr std::size_t kIdKind = kPostingKindCount;
inline constexpr std::size_t kSegmentKindCount = kPostingKindCount + 1;
constexpr bool is_term(std::size_t kind) {
  return kind == static_cast<std::size_t>(PostingKind::kTerm);
}

inline constexpr std::uint32_t kSlotBlock = 128;
inline constexpr std::uint32_t kKeyBlock = 64;
inline constexpr std::size_t kRowSize = 34;
inline constexpr std::size_t kSessionSize = 64;
inline constexpr std::size_t kStatementSize = 80;
/// Of a statement's hash of its line, which has 30 bits: StatementOutline::superseded.
inline constexpr std::uint32_t kSupersededBit = 1U << 31U;
inline constexpr std::size_t kTopSize = 32;
inline constexpr std::size_t kBlockHash = 8;
inline constexpr std::size_t kListHash = 4;

enum class SegmentPlace : std::uint8_t {
  kScores,
  kTimes,
  kRows,
  kOdd,
  kSums,
  kSessions,
  kStatements,
  kLists
};
/// Behind those: lists, keys and top of each kind.
inline constexpr std::size_t kPlaceCount =
    static_cast<std::size_t>(SegmentPlace::kLists) + 3 * kSegmentKindCount;

/// A stretch of the file.
struct Stretch {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t hash = 0;  ///< 0 where the parts have their own.
};

inline void put_varint(std::uint64_t number, std::string& out) {
  while (number >= 0x80) {
    out += static_cast<char>(number | 0x80U);
    number >>= 7U;
  }
  out += static_cast<char>(number);
}

/// A statement's StatementOutline::expires_at in 48 bits: milliseconds since 1970.
inline constexpr std::uint64_t kNeverExpires = (std::uint64_t{1} << 48U) - 1;
inline std::uint64_t statement_expiry(Timestamp expires_at) {
  const std::int64_t count = expires_at.time_since_epoch().count();
  return count < 0 ? 0 : std::min(static_cast<std::uint64_t>(count), kNeverExpires);
}
inline Timestamp statement_expiry(std::uint64_t stored) {
  return stored == kNeverExpires
             ? Timestamp::max()
             : Timestamp(std::chrono::milliseconds(static_cast<std::int64_t>(stored)));
}

/// Reads from a stretch of memory; good() says whether all was there.
class BytesReader {
 public:
  explicit BytesReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  std::uint64_t varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      number |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) {
        return number;
      }
    }
    good_ = false;
    return 0;
  }
  std::string_view bytes(std::uint64_t count) {
    if (count > static_cast<std::uint64_t>(end_ - at_)) {
      good_ = false;
      return {};
    }
    const std::string_view found(at_, static_cast<std::size_t>(count));
    at_ += count;
    return found;
  }
  template <typename Number>
  Number number() {
    const std::string_view found = bytes(sizeof(Number));
    return good_ ? little_at<Number>(found.data()) : Number{};
  }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] bool good() const { return good_; }

 private:
  const char* at_;
  const char* end_;
  bool good_ = true;
};

/// What entry_id_hash() gives, as a key.
inline std::string id_key(std::uint32_t hash) {
  std::string key(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) {
    key[i] = static_cast<char>(hash >> (24 - 8 * i));
  }
  return key;
}

}  // namespace bmad_mem
