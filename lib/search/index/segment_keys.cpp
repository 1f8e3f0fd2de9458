// segment_keys.cpp - finds keys in the dictionary of a segment, and decodes their lists.
#include <algorithm>
#include <cassert>

#include "base/hash.hpp"
#include "search/segment.hpp"

namespace bmad_mem {

Result<std::string_view> Segment::top(std::size_t kind) {
  assert(kind < kSegmentKindCount);
  BMAD_TRY(load_once(has_top[kind], [&]() -> Status {
    BMAD_TRY_ASSIGN(std::string bytes, read_hashed(place(kind, 2)));
    if (bytes.size() < 8 ||
        little_at<std::uint64_t>(bytes.data()) > (bytes.size() - 8) / kTopSize) {
      return corrupt("its directory is none");
    }
    tops[kind] = std::move(bytes);
    return {};
  }));
  return std::string_view(tops[kind]);
}

std::uint64_t Segment::block_count(std::string_view top) const {
  assert(top.size() >= sizeof(std::uint64_t) && "top() checks it");
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
                  CachedPostings& held) {
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
  assert(number < count && "there are block_count() lines");
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

/// Gathers runs; their spans are set when all are there.
class RunGatherer {
 public:
  RunGatherer(std::size_t kind, std::size_t most) : is_term_(is_term(kind)) {
    reserve_now(held_.postings, most);
    reserve_now(held_.impacts, is_term_ ? most : 0);
  }

  void begin_run(std::uint32_t session, std::uint64_t mentions, std::uint64_t windows) {
    begins_.push_back(held_.postings.size());
    held_.sessions.push_back(
        {.session = session, .frequency_sum = mentions, .window_count = windows});
  }
  void add_alone(std::uint32_t session, std::uint32_t slot, const SegmentKey& alone) {
    begin_run(session, alone.only.frequency, alone.windows);
    held_.postings.push_back({.slot = slot, .frequency = alone.only.frequency});
    if (is_term_) {
      held_.impacts.push_back(alone.impact);
    }
  }
  /// The postings of the run that began last, of slots below `slots`. Whether `bytes` are these.
  bool add_several(std::string_view bytes, std::uint64_t count, std::uint32_t slots) {
    assert(!begins_.empty() && "begin_run() comes first");
    BytesReader reader(bytes);
    if (!read_several(reader, count, slots, held_)) {
      return false;
    }
    const std::string_view impacts = reader.bytes(is_term_ ? count * sizeof(Impact) : 0);
    for (std::size_t i = 0; i < impacts.size(); i += sizeof(Impact)) {
      held_.impacts.push_back(little_at<Impact>(impacts.data() + i));
    }
    return reader.good() && reader.at_end();
  }
  CachedPostings take() {
    assert(begins_.size() == held_.sessions.size());
    assert(!is_term_ || held_.impacts.size() == held_.postings.size());
    begins_.push_back(held_.postings.size());
    for (std::size_t i = 0; i < held_.sessions.size(); ++i) {
      SessionPostings& session = held_.sessions[i];
      session.postings = std::span(held_.postings).subspan(begins_[i], begins_[i + 1] - begins_[i]);
      session.impacts = is_term_ ? held_.impacts.data() + begins_[i] : nullptr;
    }
    return std::move(held_);
  }

 private:
  bool is_term_;
  CachedPostings held_;
  std::vector<std::size_t> begins_;  // Of each run.
};

/// Reads the runs of `list`, of sessions that hold `slots` each. How many postings they have in
/// all; nothing where they are none.
std::optional<std::uint64_t> read_runs(std::size_t kind, std::string_view list,
                                       std::span<const SegmentSession> sessions,
                                       std::span<const std::uint32_t> numbers,
                                       RunGatherer& gatherer) {
  BytesReader reader(list);
  std::uint64_t next = 0;  // The session that a gap of 1 names.
  std::uint64_t total = 0;
  while (!reader.at_end()) {
    const std::uint64_t gap = reader.varint();
    next += gap / 2;
    if (!reader.good() || gap < 2 || gap / 2 > sessions.size() || next > sessions.size()) {
      return std::nullopt;
    }
    const std::uint32_t here = numbers[static_cast<std::size_t>(next - 1)];
    const std::uint32_t slots = sessions[static_cast<std::size_t>(next - 1)].count;
    if ((gap & 1U) == 0) {
      const std::uint64_t slot = reader.varint();
      SegmentKey alone;
      if (!read_alone(kind, reader, alone) || slot >= slots) {
        return std::nullopt;
      }
      ++total;
      if (here != kNotHere) {
        gatherer.add_alone(here, static_cast<std::uint32_t>(slot), alone);
      }
      continue;
    }
    const std::uint64_t count = reader.varint();
    const std::uint64_t further = reader.varint();
    const std::uint64_t windows = is_term(kind) ? reader.varint() : 0;
    const std::string_view run = reader.bytes(reader.varint());
    if (!reader.good() || count < 2 || count > slots || windows > slots) {
      return std::nullopt;
    }
    total += count;
    if (here != kNotHere) {
      gatherer.begin_run(here, count + further, windows);
      if (!gatherer.add_several(run, count, slots)) {
        return std::nullopt;
      }
    }
  }
  return total;
}

}  // namespace

Result<std::uint64_t> Segment::block_of(std::size_t kind, std::string_view key) {
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

Result<std::vector<SegmentKey>> Segment::keys_of_block(std::size_t kind, std::uint64_t block) {
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

Result<std::optional<SegmentKey>> Segment::find(std::size_t kind, std::string_view key) {
  BMAD_TRY_ASSIGN(const std::uint64_t block, block_of(kind, key));
  BMAD_TRY_ASSIGN(std::vector<SegmentKey> keys, keys_of_block(kind, block));
  const auto found = std::ranges::lower_bound(keys, key, {}, &SegmentKey::key);
  return found != keys.end() && found->key == key ? std::optional(std::move(*found)) : std::nullopt;
}

Result<CachedPostings> Segment::decode(std::size_t kind, const SegmentKey& key,
                                       std::span<const std::uint32_t> numbers) const {
  assert(numbers.size() == sessions.size() && "a number for each session");
  // A posting takes a byte or more.
  RunGatherer gatherer(kind,
                       static_cast<std::size_t>(std::min<std::uint64_t>(key.count, key.size)));
  if (key.count == 1) {
    assert(key.only.slot < entries && "keys_of_block() checks it");
    const std::uint32_t number = session_of(key.only.slot);
    if (numbers[number] != kNotHere) {
      gatherer.add_alone(numbers[number], key.only.slot - sessions[number].begin, key);
    }
    return gatherer.take();
  }
  if (key.size < kListHash) {
    return corrupt("a list is none");
  }
  thread_local std::string bytes;  // There may be hundreds of kilobytes, for each term.
  BMAD_TRY(read_into(place(kind, 0), key.offset, key.size, bytes));
  assert(bytes.size() == key.size);
  const std::string_view list = std::string_view(bytes).substr(0, bytes.size() - kListHash);
  if (static_cast<std::uint32_t>(xxh3(list) ^ salt) !=
      little_at<std::uint32_t>(bytes.data() + list.size())) {
    return corrupt("a list has changed");
  }
  return read_runs(kind, list, sessions, numbers, gatherer) == key.count
             ? Result<CachedPostings>(gatherer.take())
             : corrupt("a list is none");
}

}  // namespace bmad_mem
