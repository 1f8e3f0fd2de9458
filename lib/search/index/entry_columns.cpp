// entry_columns.cpp - the hashes of ids and lines, and the memory of columns.
#include "search/entry_columns.hpp"

#include <string>

#include "base/hash.hpp"
#include "model/entry.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {
namespace {

std::uint32_t low_30_bits(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash & ((1U << 30U) - 1));
}

}  // namespace

void EntryColumns::reserve(std::size_t count) {
  reserve_now(lengths, count);
  reserve_now(flags, count);
  reserve_now(previous, count);
}

void EntryColumns::shrink() {
  lengths.shrink_to_fit();
  flags.shrink_to_fit();
  previous.shrink_to_fit();
  timestamps.shrink_to_fit();
  id_hashes.shrink_to_fit();
  ids.shrink_to_fit();
  rows.shrink_to_fit();
}

std::string IndexRow::id_of(EntryType type) const {
  return id.is_there() ? unpack_id(entry_type_info(type).id_prefix, id) : std::string();
}

std::uint32_t entry_id_hash(EntryType type, std::string_view id) {
  // Types are few, so one character in front tells equal ids of two types apart.
  std::string key(1, static_cast<char>('a' + static_cast<int>(type)));
  key += id;
  return low_30_bits(xxh3(key));
}

double flag_importance(std::uint32_t flags) {
  return importance_of(flag_type(flags), (flags & kFlagSevere) != 0, (flags & kFlagApproved) != 0);
}

std::uint32_t entry_line_hash(std::string_view line) { return low_30_bits(xxh3(line)); }

}  // namespace bmad_mem
