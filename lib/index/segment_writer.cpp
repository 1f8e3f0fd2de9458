#include "index/segment_writer.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <queue>

#include <fmt/format.h>

#include "core/hash.hpp"
#include "index/analyzer.hpp"
#include "segment_format.hpp"
#include "storage/atomic_file.hpp"

namespace bmad_mem {
namespace {

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
  std::array<std::string, 2> columns_;
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
  [[nodiscard]] std::uint64_t count() const { return count_; }
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

class SegmentMaker {
 public:
  SegmentMaker(File& file, std::span<const std::unique_ptr<SegmentSource>> sources,
               const std::string& path, std::string_view language)
      : sink_(file), sources_(sources), language_(language), salt_(xxh3(path)) {}

  Result<SegmentReport> run() {
    BMAD_TRY(number_slots());
    BMAD_TRY(write_columns());
    BMAD_TRY(write_sessions());
    BMAD_TRY(write_statements());
    SegmentReport report{.entries = entries_};
    for (std::size_t kind = 0; kind < kSegmentKindCount; ++kind) {
      BMAD_TRY_ASSIGN(const std::uint64_t keys, write_kind(kind));
      report.terms = kind == 0 ? keys : report.terms;
    }
    BMAD_TRY(write_footer());
    BMAD_TRY(sink_.flush());
    report.bytes = sink_.size();
    return report;
  }

 private:
  struct Place {
    SegmentSource* source = nullptr;
    std::uint32_t number = 0;
    std::uint32_t begin = 0;  // First slot.
    SegmentSessionInfo info;
    std::uint64_t lengths = 0;
    std::uint64_t window_lengths = 0;
  };

  Status number_slots() {
    constexpr std::uint64_t kEntriesMax = std::uint64_t{1} << 31U;
    for (const std::unique_ptr<SegmentSource>& source : sources_) {
      firsts_.push_back(places_.size());
      std::uint32_t number = 0;
      for (SegmentSessionInfo& info : source->sessions()) {
        const std::uint32_t count = info.entries;
        salt_ = xxh3(fmt::format("{} {} {} {} {}", salt_, info.id, info.evicted, count,
                                 info.newest.time_since_epoch().count()));
        places_.push_back({.source = source.get(),
                           .number = number++,
                           .begin = static_cast<std::uint32_t>(entries_),
                           .info = std::move(info)});
        entries_ += count;
        if (entries_ > kEntriesMax) {
          return Error{.code = ErrorCode::E_SIZE_LIMIT, .message = "too many entries for an index"};
        }
      }
    }
    return {};
  }

  void begin(SegmentPlace place) { current(place).offset = sink_.size(); }
  void end(SegmentPlace place) { current(place).size = sink_.size() - current(place).offset; }
  Stretch& current(SegmentPlace place) { return stretches_[static_cast<std::size_t>(place)]; }
  Status write_hashed(std::size_t index, std::string_view bytes) {
    stretches_[index] = {.offset = sink_.size(), .size = bytes.size(), .hash = xxh3(bytes)};
    return sink_.add(bytes);
  }
  Status write_hashed(SegmentPlace place, std::string_view bytes) {
    return write_hashed(static_cast<std::size_t>(place), bytes);
  }

  Status write_columns() {
    reach_.reserve(entries_);
    begin(SegmentPlace::kScores);
    BlockSink scores(sink_, kScoreBlock, salt_);
    for (Place& place : places_) {
      BMAD_TRY_ASSIGN(const SlotView slots, place.source->slots(place.number));
      place.lengths = slots.length_sum;
      place.window_lengths = slots.window_length_sum;
      for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
        BMAD_TRY(scores.add(static_cast<std::uint16_t>(slots.lengths[slot]),
                            static_cast<std::uint16_t>(slots.flags[slot])));
        reach_ += static_cast<char>(slots.reach[slot].before | slots.reach[slot].after << 2U);
      }
    }
    BMAD_TRY(scores.end());
    end(SegmentPlace::kScores);
    BMAD_TRY(write_hashed(SegmentPlace::kReach, reach_));
    begin(SegmentPlace::kTimes);
    BlockSink times(sink_, kTimeBlock, salt_);
    for (const Place& place : places_) {
      BMAD_TRY_ASSIGN(const std::vector<std::int64_t> all, place.source->times(place.number));
      for (const std::int64_t time : all) {
        BMAD_TRY(times.add(time));
      }
    }
    BMAD_TRY(times.end());
    end(SegmentPlace::kTimes);
    return write_rows();
  }

  Status write_rows() {
    begin(SegmentPlace::kRows);
    ids_.reserve(entries_);
    std::string odd;
    for (const Place& place : places_) {
      BMAD_TRY_ASSIGN(const std::vector<SegmentRow> rows, place.source->rows(place.number));
      std::uint32_t slot = place.begin;
      for (const SegmentRow& each : rows) {
        BMAD_TRY(sink_.add(row_bytes(each)));
        ids_.emplace_back(each.id_hash, slot++);
      }
      BMAD_TRY_ASSIGN(const auto odds, place.source->odd(place.number));
      for (const auto& [at, entry] : odds) {
        put_little(place.begin + at, odd);
        put_little(entry.versions, odd);
        put_little(std::bit_cast<std::uint64_t>(entry.decay_factor), odd);
        put_little(std::uint64_t{entry.last_accessed ? 1U : 0U}, odd);
        put_little(
            entry.last_accessed ? entry.last_accessed->time_since_epoch().count() : std::int64_t{0},
            odd);
      }
    }
    end(SegmentPlace::kRows);
    return write_hashed(SegmentPlace::kOdd, odd);
  }

  [[nodiscard]] std::string row_bytes(const SegmentRow& each) const {
    std::string row;
    put_little(each.row.offset, row);
    row.resize(5);  // A log of a terabyte is refused long before.
    put_little(each.row.size, row);
    put_little(each.row.line, row);
    put_little(each.row.line_hash, row);
    put_little(each.id_hash, row);
    put_little(xxh3(row) ^ salt_, row);
    row.resize(kRowSize);
    return row;
  }

  Status write_sessions() {
    std::map<std::string, std::uint32_t> names;
    for (const Place& place : places_) {
      for (const std::string& name : place.info.participants) {
        names.emplace(name, 0);
      }
    }
    std::string name_bytes;
    std::uint32_t number = 0;
    for (auto& [name, its] : names) {
      its = number++;
      put_varint(name.size(), name_bytes);
      name_bytes += name;
    }
    std::string table;
    std::string members;  // Numbers of participants, then the id.
    for (const Place& place : places_) {
      put_little(place.begin, table);
      put_little(place.info.entries, table);
      put_little(place.lengths, table);
      put_little(place.window_lengths, table);
      put_little(std::int64_t{place.info.newest.time_since_epoch().count()}, table);
      put_little(static_cast<std::uint64_t>(members.size()), table);
      put_little(static_cast<std::uint32_t>(place.info.participants.size()), table);
      put_little(static_cast<std::uint32_t>(place.info.id.size()), table);
      put_little(std::uint64_t{place.info.archived ? 1U : 0U} |
                     std::uint64_t{place.info.has_user ? 2U : 0U} |
                     std::uint64_t{place.info.has_assistant ? 4U : 0U} |
                     std::uint64_t{place.info.evicted ? 8U : 0U},
                 table);
      for (const std::string& name : place.info.participants) {
        put_little(names[name], members);
      }
      members += place.info.id;
    }
    std::string all;
    put_little(static_cast<std::uint64_t>(places_.size()), all);
    put_little(static_cast<std::uint64_t>(names.size()), all);
    put_little(static_cast<std::uint64_t>(members.size()), all);
    return write_hashed(SegmentPlace::kSessions, all + table + members + name_bytes);
  }

  Status write_statements() {
    std::string counts;
    std::string all;
    for (const Place& place : places_) {
      BMAD_TRY_ASSIGN(const std::vector<StatementRow> rows, place.source->statements(place.number));
      put_little(static_cast<std::uint32_t>(rows.size()), counts);
      for (const StatementRow& each : rows) {
        put_statement(each, all);
      }
    }
    return write_hashed(SegmentPlace::kStatements, counts + all);
  }

  static void put_statement(const StatementRow& each, std::string& out) {
    const StatementOutline& outline = each.outline;
    for (const std::uint64_t hash :
         {outline.id_hash, outline.key_hash, outline.value_hash, outline.agent_hash}) {
      put_little(hash, out);
    }
    put_little(std::int64_t{outline.at.time_since_epoch().count()}, out);
    put_little(std::bit_cast<std::uint64_t>(outline.confidence), out);
    put_little(std::bit_cast<std::uint64_t>(outline.trust), out);
    put_little(each.row.offset, out);
    put_little(each.row.size, out);
    put_little(each.row.line, out);
    put_little(each.row.line_hash, out);
    static_assert(kCategoryCount <= 8);
    put_little((outline.type == EntryType::kPreference ? 1U : 0U) |
                   static_cast<std::uint32_t>(outline.category) << 1U |
                   static_cast<std::uint32_t>(outline.review) << 4U |
                   (outline.pinned ? 1U << 6U : 0U) | (outline.sensitive ? 1U << 7U : 0U),
               out);
  }

  /// A list of what is at hand, and what the dictionary says of it.
  Status write_key(std::size_t kind, std::string_view key, std::span<const SlotPosting> postings,
                   Dictionary& dictionary, std::uint64_t lists_begin) {
    value_.clear();
    const std::uint64_t offset = sink_.size() - lists_begin;
    put_varint(postings.size(), value_);
    if (postings.size() == 1) {
      put_varint(postings[0].slot, value_);
      put_varint(postings[0].frequency, value_);
      dictionary.add(key, offset, value_);
      return {};
    }
    list_.clear();
    std::uint32_t next = 0;  // The slot that a gap of 1 names.
    for (const SlotPosting& posting : postings) {
      const bool is_counted = posting.frequency > 1;
      put_varint(std::uint64_t{posting.slot + 1 - next} * 2 + (is_counted ? 1 : 0), list_);
      if (is_counted) {
        put_varint(posting.frequency, list_);
      }
      next = posting.slot + 1;
    }
    put_little(static_cast<std::uint32_t>(xxh3(list_) ^ salt_), list_);
    put_varint(list_.size(), value_);
    if (kind == static_cast<std::size_t>(PostingKind::kTerm)) {
      put_varint(count_reached(postings), value_);
    }
    dictionary.add(key, offset, value_);
    return sink_.add(list_);
  }

  [[nodiscard]] std::uint64_t count_reached(std::span<const SlotPosting> postings) const {
    std::uint64_t count = 0;
    std::uint32_t covered = 0;
    for (const SlotPosting& posting : postings) {
      const auto around = static_cast<unsigned char>(reach_[posting.slot]);
      const std::uint32_t begin = std::max(covered, posting.slot - (around & 3U));
      const std::uint32_t end = posting.slot + (around >> 2U) + 1;
      count += end > begin ? end - begin : 0;
      covered = std::max(covered, end);
    }
    return count;
  }

  Result<std::uint64_t> write_kind(std::size_t kind) {
    const std::size_t index = static_cast<std::size_t>(SegmentPlace::kLists) + 3 * kind;
    const std::uint64_t begin = sink_.size();
    Dictionary dictionary(salt_);
    BMAD_TRY(kind == kIdKind ? write_ids(dictionary, begin)
                             : write_merged(kind, dictionary, begin));
    dictionary.end_block();
    stretches_[index] = {.offset = begin, .size = sink_.size() - begin};
    stretches_[index + 1] = {.offset = sink_.size(), .size = dictionary.blocks().size()};
    BMAD_TRY(sink_.add(dictionary.blocks()));
    BMAD_TRY(write_hashed(index + 2, dictionary.top()));
    return dictionary.count();
  }

  Status write_ids(Dictionary& dictionary, std::uint64_t begin) {
    std::ranges::sort(ids_);
    std::vector<SlotPosting> same;
    for (std::size_t i = 0; i < ids_.size();) {
      const std::uint32_t hash = ids_[i].first;
      same.clear();
      for (; i < ids_.size() && ids_[i].first == hash; ++i) {
        same.push_back({.slot = ids_[i].second});
      }
      BMAD_TRY(write_key(kIdKind, id_key(hash), same, dictionary, begin));
    }
    return {};
  }

  struct Cursor {
    std::unique_ptr<KeyCursor> keys;
    std::size_t source = 0;
  };

  Status write_merged(std::size_t kind, Dictionary& dictionary, std::uint64_t begin) {
    std::vector<Cursor> cursors;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      BMAD_TRY_ASSIGN(std::unique_ptr<KeyCursor> keys,
                      sources_[i]->keys(static_cast<PostingKind>(kind)));
      BMAD_TRY_ASSIGN(const bool any, keys->next());
      if (any) {
        cursors.push_back({.keys = std::move(keys), .source = i});
      }
    }
    // The least key first; of the same, the first source.
    const auto is_later = [&](std::size_t a, std::size_t b) {
      const std::strong_ordering order = cursors[a].keys->key() <=> cursors[b].keys->key();
      return order == std::strong_ordering::equal ? a > b : order == std::strong_ordering::greater;
    };
    std::vector<std::size_t> heap(cursors.size());
    for (std::size_t i = 0; i < heap.size(); ++i) {
      heap[i] = i;
    }
    std::ranges::make_heap(heap, is_later);
    std::string key;
    std::vector<SlotPosting> postings;
    while (!heap.empty()) {
      key = cursors[heap.front()].keys->key();
      postings.clear();
      while (!heap.empty() && cursors[heap.front()].keys->key() == key) {
        std::ranges::pop_heap(heap, is_later);
        Cursor& cursor = cursors[heap.back()];
        for (const SessionPostings& session : cursor.keys->postings()) {
          const std::uint32_t first = places_[firsts_[cursor.source] + session.session].begin;
          for (const SlotPosting& posting : session.postings) {
            postings.push_back({.slot = first + posting.slot, .frequency = posting.frequency});
          }
        }
        BMAD_TRY_ASSIGN(const bool more, cursor.keys->next());
        if (more) {
          std::ranges::push_heap(heap, is_later);
        } else {
          heap.pop_back();
        }
      }
      if (!postings.empty()) {
        BMAD_TRY(write_key(kind, key, postings, dictionary, begin));
      }
    }
    return {};
  }

  Status write_footer() {
    BMAD_TRY(sink_.flush());
    std::string footer;
    put_little(kSegmentVersion, footer);
    put_little(static_cast<std::uint32_t>(kAnalyzerVersion), footer);
    put_little(entries_, footer);
    put_little(sink_.hash(), footer);
    put_little(salt_, footer);
    for (const Stretch& stretch : stretches_) {
      put_little(stretch.offset, footer);
      put_little(stretch.size, footer);
      put_little(stretch.hash, footer);
    }
    footer += language_;
    const std::uint64_t size = footer.size();
    const std::uint64_t hash = xxh3(footer);
    put_little(size, footer);
    put_little(hash, footer);
    return sink_.add(footer + std::string(kSegmentMagic));
  }

  SegmentSink sink_;
  std::span<const std::unique_ptr<SegmentSource>> sources_;
  std::string_view language_;
  std::uint64_t salt_;
  std::vector<Place> places_;
  std::vector<std::size_t> firsts_;  // By source: its first in places_.
  std::uint64_t entries_ = 0;
  std::string reach_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ids_;  // Hash and slot.
  std::array<Stretch, kPlaceCount> stretches_{};
  std::string value_;  // Scratch; so for the next.
  std::string list_;
};

}  // namespace

Result<SegmentReport> write_segment(FileSystem& files, const std::string& path,
                                    std::span<const std::unique_ptr<SegmentSource>> sources,
                                    std::string_view language) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kCreate));
  Result<SegmentReport> report = SegmentMaker(*file, sources, path, language).run();
  if (!report) {
    static_cast<void>(files.remove(path));
  }
  return report;
}

}  // namespace bmad_mem
