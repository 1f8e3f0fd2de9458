// segment_writer.cpp - writes a segment; segment_format.hpp draws it.
#include <algorithm>
#include <array>
#include <cassert>
#include <map>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "search/analyzer.hpp"
#include "search/impact.hpp"
#include "search/segment.hpp"
#include "search/segment_format.hpp"
#include "segment_sinks.hpp"

namespace bmad_mem {
namespace {

class SegmentMaker {
 public:
  SegmentMaker(File& file, std::span<IndexedSession* const> sessions, const std::string& path,
               std::string_view language)
      : sink_(file), parts_(parts_of(sessions)), language_(language), salt_(xxh3(path)) {
    for (IndexedSession* const session : sessions) {
      places_.push_back({.session = session, .facts = session->facts()});
    }
  }

  Status run() {
    BMAD_TRY(number_slots());
    BMAD_TRY(write_columns());
    BMAD_TRY(write_sessions());
    BMAD_TRY(write_statements());
    for (std::size_t kind = 0; kind < kSegmentKindCount; ++kind) {
      BMAD_TRY(write_kind(kind));
    }
    BMAD_TRY(write_footer());
    return sink_.flush();
  }

 private:
  struct Place {
    IndexedSession* session = nullptr;
    SessionFacts facts = {};
    std::uint32_t begin = 0;  // First slot.
    SlotTotals totals = {};
  };

  Status number_slots() {
    constexpr std::uint64_t kEntriesMax = std::uint64_t{1} << 31U;
    for (Place& place : places_) {
      BMAD_TRY(in_session(*place.session, place.session->load()));
      BMAD_TRY_ASSIGN(place.totals, in_session(*place.session, place.session->totals()));
      salt_ = xxh3(fmt::format("{} {} {} {} {}", salt_, place.session->session_id(),
                               place.session->evicted_part(), place.totals.entries,
                               place.facts.newest.time_since_epoch().count()));
      place.begin = static_cast<std::uint32_t>(entries_);
      entries_ += place.totals.entries;
      if (entries_ > kEntriesMax) {
        return Error{.code = ErrorCode::E_SIZE_LIMIT, .message = "too many entries for an index"};
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
    begin(SegmentPlace::kScores);
    BlockSink scores(sink_, kSlotBlock, salt_);
    for (const Place& place : places_) {
      const SlotView slots = place.session->slots();
      for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
        assert(slots.lengths[slot] <= kLengthMax && slots.flags[slot] >> 16U == 0);
        BMAD_TRY(scores.add(
            static_cast<std::uint16_t>(slots.lengths[slot]),
            static_cast<std::uint16_t>(slots.flags[slot]),
            static_cast<std::uint8_t>(slots.reach[slot].before | slots.reach[slot].after << 2U)));
      }
    }
    BMAD_TRY(scores.end());
    end(SegmentPlace::kScores);
    begin(SegmentPlace::kTimes);
    BlockSink times(sink_, kSlotBlock, salt_);
    for (const Place& place : places_) {
      BMAD_TRY(in_session(*place.session, place.session->load_times()));
      const SlotView slots = place.session->slots();
      for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
        const Timestamp time = place.session->timestamp(slots.ordinal(slot));
        BMAD_TRY(times.add(std::int64_t{time.time_since_epoch().count()}));
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
    std::string all_sums;
    for (const Place& place : places_) {
      SessionSums sums;
      BMAD_TRY_ASSIGN(const std::vector<IndexRow> rows,
                      in_session(*place.session, place.session->rows()));
      const SlotView slots = place.session->slots();
      for (std::uint32_t slot = 0; slot < rows.size(); ++slot) {
        assert(rows.size() == place.totals.entries);
        BMAD_TRY(sink_.add(row_bytes(rows[slot])));
        ids_.emplace_back(rows[slot].id_hash, place.begin + slot);
        const OddEntry* const entry =
            (slots.flags[slot] & kFlagOdd) != 0 ? place.session->odd(slots.ordinal(slot)) : nullptr;
        if (entry != nullptr) {
          put_odd(place.begin + slot, *entry, odd);
        }
        sums.add(flag_type(slots.flags[slot]), place.session->timestamp(slots.ordinal(slot)),
                 entry);
      }
      put_sums(sums, all_sums);
    }
    for (const SearchedPart& part : parts_) {
      BMAD_TRY(part.part->status());
    }
    assert(ids_.size() == entries_ && "each entry has a row");
    end(SegmentPlace::kRows);
    BMAD_TRY(write_hashed(SegmentPlace::kOdd, odd));
    return write_hashed(SegmentPlace::kSums, all_sums);
  }

  static void put_odd(std::uint32_t slot, const OddEntry& entry, std::string& out) {
    put_little(slot, out);
    put_little(entry.versions, out);
    put_little(std::bit_cast<std::uint64_t>(entry.decay_factor), out);
    put_little(
        std::uint64_t{entry.last_accessed ? 1U : 0U} | std::uint64_t{entry.expires_at ? 2U : 0U},
        out);
    for (const std::optional<Timestamp>& time : {entry.last_accessed, entry.expires_at}) {
      put_little(time ? time->time_since_epoch().count() : std::int64_t{0}, out);
    }
  }

  [[nodiscard]] std::string row_bytes(const IndexRow& each) const {
    assert(each.row.offset >> 40U == 0 && each.id.time >> 48U == 0);
    std::string row;
    put_little(each.row.offset, row);
    row.resize(5);  // A log of a terabyte is refused long before.
    put_little(each.row.size, row);
    put_little(each.row.line, row);
    put_little(each.row.line_hash, row);
    put_little(each.id_hash, row);
    put_little(each.id.time, row);
    row.resize(row.size() - 2);  // It has 48 bits.
    put_little(each.id.random, row);
    put_little(xxh3(row) ^ salt_, row);
    row.resize(kRowSize);
    return row;
  }

  Status write_sessions() {
    std::map<std::string, std::uint32_t> names;
    for (const Place& place : places_) {
      for (const std::string& name : place.facts.participants) {
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
      const std::string& id = place.session->session_id();
      put_little(place.begin, table);
      put_little(static_cast<std::uint32_t>(place.totals.entries), table);
      put_little(place.totals.lengths, table);
      put_little(place.totals.window_lengths, table);
      put_little(std::int64_t{place.facts.newest.time_since_epoch().count()}, table);
      put_little(std::int64_t{place.facts.oldest.time_since_epoch().count()}, table);
      put_little(static_cast<std::uint64_t>(members.size()), table);
      put_little(static_cast<std::uint32_t>(place.facts.participants.size()), table);
      put_little(static_cast<std::uint32_t>(id.size()), table);
      put_little(std::uint64_t{place.session->is_archived() ? 1U : 0U} |
                     std::uint64_t{place.facts.has_user ? 2U : 0U} |
                     std::uint64_t{place.facts.has_assistant ? 4U : 0U} |
                     std::uint64_t{place.session->evicted_part()} << 3U,
                 table);
      for (const std::string& name : place.facts.participants) {
        put_little(names[name], members);
      }
      members += id;
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
      std::uint32_t count = 0;
      BMAD_TRY(
          in_session(*place.session, place.session->for_statements([&](const StatementRow& each) {
            put_statement(each, all);
            ++count;
          })));
      put_little(count, counts);
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
    out.resize(out.size() - 3);  // A log of a terabyte is refused long before.
    put_little(statement_expiry(outline.expires_at), out);
    out.resize(out.size() - 2);
    put_little(each.row.size, out);
    put_little(each.row.line, out);
    put_little(each.row.line_hash | (outline.superseded ? kSupersededBit : 0U), out);
    assert(static_cast<unsigned>(outline.review) <= 3U && "it has two bits");
    static_assert(kCategoryCount <= 8);
    put_little(static_cast<std::uint8_t>((outline.type == EntryType::kPreference ? 1U : 0U) |
                                         static_cast<std::uint32_t>(outline.category) << 1U |
                                         static_cast<std::uint32_t>(outline.review) << 4U |
                                         (outline.pinned ? 1U << 6U : 0U) |
                                         (outline.sensitive ? 1U << 7U : 0U)),
               out);
  }

  /// The entries of one session that hold the key at hand.
  struct Run {
    std::size_t place = 0;  // In places_.
    std::size_t count = 0;
    std::uint64_t frequency_sum = 0;
    std::uint64_t windows = 0;
  };

  void clear_runs() {
    runs_.clear();
    postings_.clear();
    impacts_.clear();
  }

  /// Takes what a session has of a term, or of another key. What is not known of a term yet is
  /// worked out.
  void add_run(std::size_t kind, std::size_t place_number, const SessionPostings& session) {
    assert(place_number < places_.size() && !session.postings.empty());
    const Run run{.place = place_number,
                  .count = session.postings.size(),
                  .frequency_sum = session.frequency_sum,
                  .windows = session.window_count};
    postings_.insert(postings_.end(), session.postings.begin(), session.postings.end());
    if (is_term(kind) && session.impacts != nullptr) {
      impacts_.insert(impacts_.end(), session.impacts, session.impacts + run.count);
    } else if (is_term(kind)) {
      add_impacts(session.postings, places_[place_number].session->slots(), mentions_, impacts_);
    }
    assert(!is_term(kind) || impacts_.size() == postings_.size());
    runs_.push_back(run);
  }

  /// What is said of an entry that is the only one of its session, but for its slot.
  void put_alone(std::size_t kind, const Run& run, std::size_t at, std::string& out) const {
    assert(!is_term(kind) || run.windows > 0);
    const std::uint64_t flag = postings_[at].frequency > 1 ? 1 : 0;
    put_varint(flag + (is_term(kind) ? (run.windows - 1) * 2 : 0), out);
    if (flag != 0) {
      put_varint(postings_[at].frequency, out);
    }
    if (is_term(kind)) {
      put_little(impacts_[at], out);
    }
  }

  void put_several(std::size_t kind, const Run& run, std::size_t at, std::string& out) {
    run_.clear();
    std::uint32_t next = 0;  // The slot that a gap of 1 names.
    for (std::size_t i = at; i < at + run.count; ++i) {
      const SlotPosting& posting = postings_[i];
      assert(posting.slot >= next && "postings ascend by slot");
      const bool is_counted = posting.frequency > 1;
      put_varint(std::uint64_t{posting.slot + 1 - next} * 2 + (is_counted ? 1 : 0), run_);
      if (is_counted) {
        put_varint(posting.frequency, run_);
      }
      next = posting.slot + 1;
    }
    for (std::size_t i = at; is_term(kind) && i < at + run.count; ++i) {
      put_little(impacts_[i], run_);
    }
    put_varint(run.count, out);
    put_varint(run.frequency_sum - run.count, out);
    if (is_term(kind)) {
      put_varint(run.windows, out);
    }
    put_varint(run_.size(), out);
    out += run_;
  }

  /// A list of the runs at hand, and what the dictionary says of it.
  Status write_key(std::size_t kind, std::string_view key, Dictionary& dictionary,
                   std::uint64_t lists_begin) {
    assert(!runs_.empty() && !postings_.empty());
    value_.clear();
    const std::uint64_t offset = sink_.size() - lists_begin;
    put_varint(postings_.size(), value_);
    if (postings_.size() == 1) {
      put_varint(std::uint64_t{places_[runs_[0].place].begin} + postings_[0].slot, value_);
      put_alone(kind, runs_[0], 0, value_);
      dictionary.add(key, offset, value_);
      return {};
    }
    list_.clear();
    std::size_t at = 0;
    std::size_t next = 0;  // The session that a gap of 1 names.
    for (const Run& run : runs_) {
      put_varint(std::uint64_t{run.place + 1 - next} * 2 + (run.count > 1 ? 1 : 0), list_);
      next = run.place + 1;
      if (run.count == 1) {
        put_varint(postings_[at].slot, list_);
        put_alone(kind, run, at, list_);
      } else {
        put_several(kind, run, at, list_);
      }
      at += run.count;
    }
    assert(at == postings_.size() && "each posting is of a run");
    put_little(static_cast<std::uint32_t>(xxh3(list_) ^ salt_), list_);
    put_varint(list_.size(), value_);
    dictionary.add(key, offset, value_);
    return sink_.add(list_);
  }

  Status write_kind(std::size_t kind) {
    const std::size_t index = static_cast<std::size_t>(SegmentPlace::kLists) + 3 * kind;
    const std::uint64_t begin = sink_.size();
    Dictionary dictionary(salt_);
    BMAD_TRY(kind == kIdKind ? write_ids(dictionary, begin)
                             : write_merged(kind, dictionary, begin));
    dictionary.end_block();
    stretches_[index] = {.offset = begin, .size = sink_.size() - begin};
    stretches_[index + 1] = {.offset = sink_.size(), .size = dictionary.blocks().size()};
    BMAD_TRY(sink_.add(dictionary.blocks()));
    return write_hashed(index + 2, dictionary.top());
  }

  Status write_ids(Dictionary& dictionary, std::uint64_t begin) {
    std::ranges::sort(ids_);
    for (std::size_t i = 0; i < ids_.size();) {
      const std::uint32_t hash = ids_[i].first;
      clear_runs();
      for (; i < ids_.size() && ids_[i].first == hash; ++i) {
        const auto after = std::ranges::upper_bound(places_, ids_[i].second, {}, &Place::begin);
        // Sessions without entries begin where the next one does, and stand before it.
        const auto place = static_cast<std::size_t>(after - places_.begin() - 1);
        if (runs_.empty() || runs_.back().place != place) {
          runs_.push_back({.place = place});
        }
        ++runs_.back().count;
        ++runs_.back().frequency_sum;
        postings_.push_back({.slot = ids_[i].second - places_[place].begin});
      }
      BMAD_TRY(write_key(kIdKind, id_key(hash), dictionary, begin));
    }
    return {};
  }

  struct Cursor {
    std::unique_ptr<KeyCursor> keys;
    std::size_t first = 0;  // In places_: that of the first session of its part.
  };

  Status write_merged(std::size_t kind, Dictionary& dictionary, std::uint64_t begin) {
    std::vector<Cursor> cursors;
    for (const SearchedPart& part : parts_) {
      BMAD_TRY_ASSIGN(std::unique_ptr<KeyCursor> keys,
                      part.part->keys(static_cast<PostingKind>(kind), {}));
      BMAD_TRY_ASSIGN(const bool any, keys->next());
      if (any) {
        cursors.push_back({.keys = std::move(keys), .first = part.first});
      }
    }
    // The least key first; of the same, the first part.
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
    while (!heap.empty()) {
      key = cursors[heap.front()].keys->key();
      clear_runs();
      while (!heap.empty() && cursors[heap.front()].keys->key() == key) {
        std::ranges::pop_heap(heap, is_later);
        Cursor& cursor = cursors[heap.back()];
        BMAD_TRY_ASSIGN(const auto postings, cursor.keys->postings());
        for (const SessionPostings& session : postings) {
          add_run(kind, cursor.first + session.session, session);
        }
        BMAD_TRY_ASSIGN(const bool more, cursor.keys->next());
        if (more) {
          std::ranges::push_heap(heap, is_later);
        } else {
          heap.pop_back();
        }
      }
      if (!runs_.empty()) {
        BMAD_TRY(write_key(kind, key, dictionary, begin));
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
    assert(footer.size() == 32 + kPlaceCount * 24 + language_.size() && "as read_footer() has it");
    const std::uint64_t size = footer.size();
    const std::uint64_t hash = xxh3(footer);
    put_little(size, footer);
    put_little(hash, footer);
    return sink_.add(footer + std::string(kSegmentMagic));
  }

  SegmentSink sink_;
  std::vector<SearchedPart> parts_;
  std::string_view language_;
  std::uint64_t salt_;
  std::vector<Place> places_;
  std::uint64_t entries_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ids_;  // Hash and slot.
  std::array<Stretch, kPlaceCount> stretches_{};
  std::vector<Run> runs_;  // Of the key at hand; so for the next.
  std::vector<SlotPosting> postings_;
  std::vector<Impact> impacts_;
  std::string value_;  // Scratch; so for the next.
  std::string list_;
  std::string run_;
  std::vector<std::uint32_t> mentions_;
};

}  // namespace

Status write_segment(FileSystem& files, const std::string& path,
                     std::span<IndexedSession* const> sessions, std::string_view language) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kCreate));
  Status written = SegmentMaker(*file, sessions, path, language).run();
  if (!written) {
    static_cast<void>(files.remove(path));
  }
  return written;
}

}  // namespace bmad_mem
