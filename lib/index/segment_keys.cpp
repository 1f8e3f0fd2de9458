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

/// Of mentions in an entry: no line is longer, and five of these make no number overflow.
constexpr std::uint64_t kFrequencyMax = 64U << 20U;

bool is_term(std::size_t kind) { return kind == static_cast<std::size_t>(PostingKind::kTerm); }

/// What is said of an entry that is the only one of its session, but for its slot.
bool read_alone(std::size_t kind, BytesReader& reader, SegmentKey& out) {
  constexpr std::uint64_t kWindowsMax = 2 * kWindowReach + 1;
  const std::uint64_t number = reader.varint();
  const std::uint64_t frequency = (number & 1U) != 0 ? reader.varint() : 1;
  out.windows = is_term(kind) ? static_cast<std::uint32_t>(number / 2) + 1 : 0;
  out.impact = is_term(kind) ? reader.number<Impact>() : Impact{0};
  out.only.frequency = static_cast<std::uint32_t>(frequency);
  return reader.good() && frequency != 0 && frequency <= kFrequencyMax &&
         number / 2 < (is_term(kind) ? kWindowsMax : 1);
}

/// Reads `count` gaps and frequencies of slots below `slots`.
bool read_several(BytesReader& reader, std::uint64_t count, std::uint32_t slots,
                  HeldPostings& held) {
  std::uint64_t next = 0;  // The slot that a gap of 1 names.
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t gap = reader.varint();
    const std::uint64_t frequency = (gap & 1U) != 0 ? reader.varint() : 1;
    next += gap / 2;
    if (!reader.good() || gap < 2 || gap / 2 > slots || next > slots || frequency == 0 ||
        frequency > kFrequencyMax) {
      return false;
    }
    held.postings.push_back({.slot = static_cast<std::uint32_t>(next - 1),
                             .frequency = static_cast<std::uint32_t>(frequency)});
  }
  return true;
}

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
    if (keys.size() == kKeyBlock) {
      return corrupt("a block has too many keys");
    }
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
      const std::uint64_t slot = reader.varint();
      if (!reader.good() || slot >= entries || !read_alone(kind, reader, key)) {
        return corrupt("a key is none");
      }
      key.only.slot = static_cast<std::uint32_t>(slot);
    } else {
      key.offset = offset;
      key.size = reader.varint();
      offset += key.size;
    }
    if (!reader.good() || key.count == 0 || key.count > entries) {
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

Result<HeldPostings> Segment::Impl::decode(std::size_t kind, const SegmentKey& key,
                                           std::span<const std::uint32_t> numbers) const {
  HeldPostings held;
  std::vector<std::size_t> begins;
  const auto begin_run = [&](std::uint32_t here, std::uint64_t mentions, std::uint64_t reached) {
    begins.push_back(held.postings.size());
    held.sessions.push_back({.session = here, .frequency_sum = mentions, .window_count = reached});
  };
  const auto add_alone = [&](std::uint32_t here, std::uint32_t slot, const SegmentKey& alone) {
    begin_run(here, alone.only.frequency, alone.windows);
    held.postings.push_back({.slot = slot, .frequency = alone.only.frequency});
    if (is_term(kind)) {
      held.impacts.push_back(alone.impact);
    }
  };
  if (key.count == 1) {
    const std::uint32_t number = session_of(key.only.slot);
    if (numbers[number] != kNotHere) {
      add_alone(numbers[number], key.only.slot - sessions[number].begin, key);
    }
  } else {
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
    // A byte or more each.
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(key.count, key.size));
    held.postings.reserve(most);
    held.impacts.reserve(is_term(kind) ? most : 0);
    std::uint64_t next = 0;  // The session that a gap of 1 names.
    std::uint64_t count = 0;
    while (!reader.at_end()) {
      const std::uint64_t gap = reader.varint();
      next += gap / 2;
      if (!reader.good() || gap < 2 || gap / 2 > sessions.size() || next > sessions.size()) {
        return corrupt("a list is none");
      }
      const auto number = static_cast<std::size_t>(next - 1);
      const std::uint32_t here = numbers[number];
      const std::uint32_t slots = sessions[number].count;
      if ((gap & 1U) == 0) {
        const std::uint64_t slot = reader.varint();
        SegmentKey alone;
        if (!read_alone(kind, reader, alone) || slot >= slots) {
          return corrupt("a list is none");
        }
        ++count;
        if (here != kNotHere) {
          add_alone(here, static_cast<std::uint32_t>(slot), alone);
        }
        continue;
      }
      const std::uint64_t entry_count = reader.varint();
      const std::uint64_t further = reader.varint();
      const std::uint64_t reached = is_term(kind) ? reader.varint() : 0;
      const std::string_view run = reader.bytes(reader.varint());
      if (!reader.good() || entry_count < 2 || entry_count > slots || reached > slots) {
        return corrupt("a list is none");
      }
      count += entry_count;
      if (here == kNotHere) {
        continue;
      }
      begin_run(here, entry_count + further, reached);
      BytesReader postings(run);
      if (!read_several(postings, entry_count, slots, held)) {
        return corrupt("a list is none");
      }
      if (is_term(kind)) {
        const std::string_view impacts = postings.bytes(entry_count * sizeof(Impact));
        for (std::size_t i = 0; i < impacts.size(); i += sizeof(Impact)) {
          held.impacts.push_back(little_at<Impact>(impacts.data() + i));
        }
      }
      if (!postings.good() || !postings.at_end()) {
        return corrupt("a list is none");
      }
    }
    if (count != key.count) {
      return corrupt("a list is none");
    }
  }
  begins.push_back(held.postings.size());
  for (std::size_t i = 0; i < held.sessions.size(); ++i) {
    held.sessions[i].postings =
        std::span(held.postings).subspan(begins[i], begins[i + 1] - begins[i]);
    held.sessions[i].impacts = is_term(kind) ? held.impacts.data() + begins[i] : nullptr;
  }
  return held;
}

}  // namespace bmad_mem
