// gzip.hpp - RFC 1952 in memory: one call there, one back, and no way for a small file to become
// gigabytes.
//
//   | member: header, deflate, CRC-32, size | member | member …
//   | header with field BM, deflate …       |          a sized member
//
// Members that follow each other unpack to their contents one after the other, so a file can grow
// by a member at its end. A member whose end was never written is a torn one, as the end of a log
// is.
//
// A sized member says in its header how long it is, packed: two bytes "BM" and 4, and the size in 4
// bytes, lowest first (an extra field of RFC 1952). With the size of its text at its end, a reader
// hops from one to the next and unpacks none but those that it needs. To any other program it is
// gzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// `bytes` as one member. Equal bytes give equal members: it holds neither time nor name.
/// Cost: 16 ms a megabyte of JSON lines, which shrinks to a third.
Result<std::string> gzip(std::string_view bytes);

/// As gzip(), a sized member. Errors: E_STORAGE_CORRUPT when it would have 4 GiB.
Result<std::string> gzip_sized(std::string_view bytes);

/// The header of a sized member, all of it.
inline constexpr std::size_t kSizedHeaderSize = 20;

/// How long the member that `bytes` begin with says it is; nothing unless it is a sized one. Nobody
/// has checked it.
std::optional<std::uint32_t> sized_member(std::string_view bytes);

/// How much text the member says it has that `bytes` end with; 0 where it is cut short.
std::uint32_t member_text_size(std::string_view bytes);

/// How much text `bytes` say they have: the sized members that they begin with, and the last one.
/// Nobody has checked it, and of other members in between it says nothing.
std::uint64_t said_text_size(std::string_view bytes);

/// Whether the last member of `bytes`, of another program, says that it has more than `size_max`
/// bytes, and may be right.
bool says_too_large(std::string_view bytes, std::uint64_t size_max);

/// The text of the one member that `bytes` are, which is to have `size` bytes. `at` is where it
/// starts in its file, for the message. Errors: E_STORAGE_CORRUPT when it is damaged or of another
/// size: no more than `size` bytes are unpacked.
Result<std::string> gunzip_member(std::string_view bytes, std::uint64_t at, std::uint64_t size);

/// The contents of all members of `bytes`, of which there must be one at least.
/// Errors: E_STORAGE_CORRUPT when anything is damaged, cut short, not gzip, or a sized member of
/// another size;
/// E_SIZE_LIMIT when there are more than `size_max` bytes in it: no more than those are unpacked,
/// and nothing where the last member says that it has more.
Result<std::string> gunzip(std::string_view bytes, std::uint64_t size_max);

/// What can be had of a file whose last member may be torn.
struct WholeMembers {
  std::string bytes;             ///< Of all members that are whole.
  std::uint64_t whole_size = 0;  ///< Where the last of them ends in the packed bytes.

  [[nodiscard]] std::size_t size() const { return bytes.size(); }
};

/// As gunzip(), but a last member that a crash has torn is left out, and no members are fine. Torn
/// means: cut short, or not filled to its end, so that the file ends in 4 NUL bytes; a whole member
/// does so only when it is empty. Other damage is an error, since whole members may follow it.
Result<WholeMembers> gunzip_whole(std::string_view bytes, std::uint64_t size_max);

}  // namespace bmad_mem
