// The dictionary of a segment, and the lists it names.
#include <algorithm>

#include "core/hash.hpp"
#include "segment_impl.hpp"

namespace bmad_mem {

Result<std::string_view> Segment::Impl::top(std::size_t kind) {
  if (!has_top[kind].load(std::memory_order_acquire)) {
    const std::lock_guard guard(mutex);
    if (!has_top[kind].load(std::memory_order_acquire)) {
      BMAD_TRY_ASSIGN(std::string bytes, read_hashed(place(kind, 2)));
      if (bytes.size() < 8 ||
          little_at<std::uint64_t>(bytes.data()) > (bytes.size() - 8) / kTopSize) {
        return corrupt("its directory is none");
      }
      tops[kind] = std::move(bytes);
      has_top[kind].store(true, std::memory_order_release);
    }
  }
  return std::string_view(tops[kind]);
}

std::uint64_t Segment::Impl::block_count(std::string_view top) const {
  return little_at<std::uint64_t>(top.data());
}

namespace {

/// A line of the top: where the block and its lists begin, and its first key.
struct TopLine {
  std::uint64_t block = 0;
  std::uint64_t lists = 0;
  std::string_view first;
};

std::optional<TopLine> top_line(std::string_view top, std::uint64_t number) {
  const std::uint64_t count = little_at<std::uint64_t>(top.data());
  BytesReader reader(top.substr(8 + static_cast<std::size_t>(number) * kTopSize, kTopSize));
  TopLine line{.block = reader.number<std::uint64_t>(), .lists = reader.number<std::uint64_t>()};
  const auto begin = reader.number<std::uint64_t>();
  const auto size = reader.number<std::uint64_t>();
  const std::string_view firsts = top.substr(8 + static_cast<std::size_t>(count) * kTopSize);
  if (!reader.good() || begin > firsts.size() || size > firsts.size() - begin) {
    return std::nullopt;
  }
  line.first = firsts.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(size));
  return line;
}

}  // namespace

Result<std::uint64_t> Segment::Impl::block_of(std::size_t kind, std::string_view key) {
  BMAD_TRY_ASSIGN(const std::string_view lines, top(kind));
  std::uint64_t low = 0;
  std::uint64_t high = block_count(lines);
  while (low < high) {  // The first that begins above the key.
    const std::uint64_t middle = low + (high - low) / 2;
    const std::optional<TopLine> line = top_line(lines, middle);
    if (!line) {
      return corrupt("its directory is none");
    }
    if (line->first <= key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : low - 1;
}

Result<std::vector<SegmentKey>> Segment::Impl::keys_of_block(std::size_t kind,
                                                             std::uint64_t block) {
  std::vector<SegmentKey> keys;
  BMAD_TRY_ASSIGN(const std::string_view lines, top(kind));
  const std::uint64_t blocks = block_count(lines);
  if (block >= blocks) {
    return keys;
  }
  const std::optional<TopLine> line = top_line(lines, block);
  const std::optional<TopLine> next = block + 1 < blocks
                                          ? top_line(lines, block + 1)
                                          : std::optional(TopLine{.block = place(kind, 1).size});
  if (!line || !next || next->block < line->block + kBlockHash) {
    return corrupt("its directory is none");
  }
  BMAD_TRY_ASSIGN(const std::string bytes,
                  read_block(place(kind, 1), line->block, next->block - line->block - kBlockHash));
  BytesReader reader(bytes);
  std::uint64_t offset = line->lists;
  keys.reserve(kKeyBlock);
  while (!reader.at_end()) {
    const std::uint64_t same = reader.varint();
    const std::string_view rest = reader.bytes(reader.varint());
    if (!reader.good() || same > (keys.empty() ? 0 : keys.back().key.size())) {
      return corrupt("a key is none");
    }
    SegmentKey key;
    key.key =
        keys.empty() ? std::string() : keys.back().key.substr(0, static_cast<std::size_t>(same));
    key.key += rest;
    key.count = reader.varint();
    if (key.count == 1) {
      key.only.slot = static_cast<std::uint32_t>(reader.varint());
      key.only.frequency = static_cast<std::uint32_t>(reader.varint());
    } else {
      key.offset = offset;
      key.size = reader.varint();
      offset += key.size;
      if (kind == static_cast<std::size_t>(PostingKind::kTerm)) {
        reader.varint();  // In how many windows it is.
      }
    }
    if (!reader.good() || key.count == 0 || key.count > entries ||
        (key.count == 1 && (key.only.slot >= entries || key.only.frequency == 0))) {
      return corrupt("a key is none");
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

Result<std::optional<SegmentKey>> Segment::Impl::find(std::size_t kind, std::string_view key) {
  BMAD_TRY_ASSIGN(const std::uint64_t block, block_of(kind, key));
  BMAD_TRY_ASSIGN(std::vector<SegmentKey> keys, keys_of_block(kind, block));
  const auto found = std::ranges::lower_bound(keys, key, {}, &SegmentKey::key);
  return found != keys.end() && found->key == key ? std::optional(std::move(*found)) : std::nullopt;
}

Status Segment::Impl::decode(std::size_t kind, const SegmentKey& key,
                             std::vector<SlotPosting>& out) const {
  if (key.count == 1) {
    out.push_back(key.only);
    return {};
  }
  if (key.size < kListHash) {
    return corrupt("a list is none");
  }
  BMAD_TRY_ASSIGN(const std::string bytes, read(place(kind, 0), key.offset, key.size));
  const std::string_view list = std::string_view(bytes).substr(0, bytes.size() - kListHash);
  if (static_cast<std::uint32_t>(xxh3(list) ^ salt) !=
      little_at<std::uint32_t>(bytes.data() + list.size())) {
    return corrupt("a list has changed");
  }
  BytesReader reader(list);
  const std::size_t begin = out.size();
  out.reserve(begin + static_cast<std::size_t>(key.count));
  std::uint64_t next = 0;  // The slot that a gap of 1 names.
  while (!reader.at_end()) {
    const std::uint64_t gap = reader.varint();
    const std::uint64_t frequency = (gap & 1U) != 0 ? reader.varint() : 1;
    next += gap / 2;
    if (!reader.good() || gap < 2 || gap / 2 > entries || next > entries || frequency == 0 ||
        frequency > ~std::uint32_t{0}) {
      return corrupt("a list is none");
    }
    out.push_back({.slot = static_cast<std::uint32_t>(next - 1),
                   .frequency = static_cast<std::uint32_t>(frequency)});
  }
  return out.size() - begin == key.count ? Status() : corrupt("a list is none");
}

}  // namespace bmad_mem
