// session_index_reads.cpp - answers from an index that is up to date: its segment and its table.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "search/session_index.hpp"
#include "session_index_state.hpp"
#include "store/layout.hpp"

namespace bmad_mem {

SessionFacts SessionIndex::facts() const { return state_->table.facts; }
Timestamp SessionIndex::newest() const { return state_->table.facts.newest; }

Ordinal SessionIndex::entry_count() const {
  return static_cast<Ordinal>(state_->table.columns.size());
}

Status SessionIndex::load() {
  state_->load();
  return {};
}

const LogCovers& SessionIndex::covers() const { return state_->covers; }

std::uint64_t SessionIndex::encrypted_lines() const {
  return sum_of(state_->covers, &LogCover::encrypted);
}

SessionIndex::Unknown SessionIndex::unknown() const {
  Unknown found{.entries = entry_count(), .bytes = sum_of(state_->covers, &LogCover::bytes)};
  if (state_->base != nullptr && !state_->moved) {
    assert(found.entries >= state_->told);
    found.bytes -= std::min(found.bytes, state_->base_bytes);  // A log may have gone meanwhile.
    found.entries -= state_->base->shared_segment()->sessions[state_->base->numbers()[0]].count;
  }
  return found;
}

std::string SessionIndex::base_path() const {
  return state_->base == nullptr ? std::string() : state_->base->path();
}

bool SessionIndex::has_base_of(const Segment* segment, std::uint32_t number) const {
  return state_->opened && state_->base != nullptr && !state_->moved &&
         state_->base->shared_segment().get() == segment && state_->base->numbers()[0] == number;
}

Result<SlotTotals> SessionIndex::totals() {
  BMAD_TRY(load());
  const SlotTable& slots = *state_->slots;
  const auto all = [&](std::uint64_t count) {
    return static_cast<std::uint64_t>(static_cast<double>(count) * options_.entries_for_each);
  };
  return SlotTotals{.entries = all(slots.size()),
                    .lengths = all(slots.length_sum),
                    .window_lengths = all(slots.window_length_sum)};
}

SlotView SessionIndex::slots() const { return state_->slots->view(); }

Status SessionIndex::load_times() {
  return state_->told > 0 ? state_->told_session().load_times() : Status();
}

Timestamp SessionIndex::timestamp(Ordinal ordinal) const {
  if (ordinal < state_->told) {
    return state_->told_session().timestamp(ordinal);
  }
  assert(ordinal < entry_count());
  return Timestamp(
      std::chrono::milliseconds(state_->table.columns.timestamps[ordinal - state_->told]));
}

const OddEntry* SessionIndex::odd(Ordinal ordinal) const {
  const auto found = state_->table.columns.odd.find(ordinal);
  return found == state_->table.columns.odd.end() ? nullptr : &found->second;
}

Result<std::vector<Posting>> SessionIndex::postings(PostingKind kind, std::string_view key) const {
  std::vector<Posting> list;
  if (state_->base != nullptr) {
    BMAD_TRY_ASSIGN(const PartPostings found, state_->base->part_postings(kind, key));
    state_->add_told(found.sessions, list);
  }
  const std::span<const Posting> added = state_->table.memtable.postings(kind, key);
  list.insert(list.end(), added.begin(), added.end());
  if (state_->moved) {
    std::ranges::sort(list, {}, &Posting::ordinal);
  }
  return list;
}

Result<SessionIndex::Postings> SessionIndex::live_postings(PostingKind kind, std::string_view key) {
  std::string cache_key(1, static_cast<char>('0' + static_cast<int>(kind)));
  cache_key += key;
  {
    const std::scoped_lock guard(state_->cache_mutex);
    const auto found = state_->cache.find(cache_key);
    if (found != state_->cache.end()) {
      return found->second;
    }
  }
  BMAD_TRY_ASSIGN(const std::vector<Posting> list, postings(kind, key));
  const bool is_all_in_memory = state_->base == nullptr;
  if (list.empty() && is_all_in_memory) {
    // Most words are in few sessions: a list for each of the others would be most of a search.
    static const auto kNone = std::make_shared<const SlotPostings>();
    return kNone;
  }
  auto live = std::make_shared<const SlotPostings>(to_slots(*state_->slots, list));
  if (is_all_in_memory) {
    // A table in memory is as quick to ask again, and each of a thousand small sessions would keep
    // every word that was ever asked for: a server grew by 60 MB in ten minutes.
    return Postings(std::move(live));
  }
  const std::scoped_lock guard(state_->cache_mutex);
  constexpr std::uint64_t kOverhead = 128;
  const std::uint64_t size =
      live->postings.size() * sizeof(SlotPosting) + cache_key.size() + kOverhead;
  if (state_->cache_used + size <= options_.cache_size) {
    state_->cache_used += size;
    state_->cache.emplace(std::move(cache_key), live);
  }
  return Postings(std::move(live));
}

Result<IndexRow> SessionIndex::row(Ordinal ordinal) const {
  if (ordinal < state_->told) {
    return state_->told_session().row(ordinal);
  }
  const EntryColumns& columns = state_->table.columns;
  assert(ordinal - state_->told < columns.rows.size());
  return IndexRow{.row = columns.rows[ordinal - state_->told],
                  .id_hash = columns.id_hashes[ordinal - state_->told],
                  .id = columns.ids[ordinal - state_->told]};
}

Result<std::vector<IndexRow>> SessionIndex::rows() const {
  std::vector<IndexRow> told;
  if (state_->told > 0) {
    BMAD_TRY_ASSIGN(told, state_->told_session().rows());
  }
  assert(state_->slots && told.size() == state_->told && "load() comes first");
  std::vector<IndexRow> all;
  all.reserve(state_->slots->size());
  for (std::uint32_t slot = 0; slot < state_->slots->size(); ++slot) {
    const Ordinal ordinal = state_->slots->ordinal(slot);
    BMAD_TRY_ASSIGN(const IndexRow its,
                    ordinal < state_->told ? Result<IndexRow>(told[ordinal]) : row(ordinal));
    all.push_back(its);
  }
  return all;
}

Status SessionIndex::status() const {
  return state_->base == nullptr ? Status() : state_->base->status();
}

Status SessionIndex::hide_those_in(std::span<SessionIndex* const> newer) {
  std::vector<std::uint64_t> seen = {changes_};
  for (const SessionIndex* each : newer) {
    seen.insert(seen.end(), {each->changes_, each->package()});
  }
  {
    const std::scoped_lock guard(state_->cache_mutex);
    if (state_->hidden_as_of == seen) {
      return {};
    }
  }
  const auto id_at = [](const SessionIndex& index, std::uint32_t slot) {
    const SlotView slots = index.slots();
    return in_session(index, index.id(flag_type(slots.flags[slot]), slots.ordinal(slot)));
  };
  BMAD_TRY(load());
  BMAD_TRY_ASSIGN(const std::vector<IndexRow> our_rows, rows());
  std::unordered_multimap<std::uint32_t, std::uint32_t> ours;  // Slots by hash.
  for (std::uint32_t slot = 0; slot < our_rows.size(); ++slot) {
    ours.emplace(our_rows[slot].id_hash, slot);
  }
  assert(our_rows.size() == slots().size());
  std::vector<std::uint8_t> hidden(our_rows.size(), 0);
  bool any = false;
  for (SessionIndex* each : newer) {
    BMAD_TRY(each->load());
    BMAD_TRY_ASSIGN(const std::vector<IndexRow> theirs, in_session(*each, each->rows()));
    for (std::uint32_t slot = 0; slot < theirs.size(); ++slot) {
      auto [same, end] = ours.equal_range(theirs[slot].id_hash);
      if (same == end) {
        continue;
      }
      BMAD_TRY_ASSIGN(const std::string their_id, id_at(*each, slot));
      const EntryType type = flag_type(each->slots().flags[slot]);
      for (; same != end; ++same) {  // Different ids may have the same hash.
        BMAD_TRY_ASSIGN(const std::string our_id, id_at(*this, same->second));
        if (flag_type(slots().flags[same->second]) == type && our_id == their_id) {
          hidden[same->second] = 1;
          any = true;
        }
      }
    }
  }
  const std::scoped_lock guard(state_->cache_mutex);
  state_->hidden =
      any ? std::make_shared<const std::vector<std::uint8_t>>(std::move(hidden)) : nullptr;
  state_->hidden_as_of = std::move(seen);
  return {};
}

std::shared_ptr<const std::vector<std::uint8_t>> SessionIndex::hidden() const {
  const std::scoped_lock guard(state_->cache_mutex);
  return state_->hidden;
}

Result<VectorRange> SessionIndex::vectors() {
  VectorRange range;
  if (state_->base == nullptr) {
    return range;
  }
  std::shared_ptr<Segment> segment = state_->base->shared_segment();
  if (segment->vectors() == nullptr) {
    return range;
  }
  BMAD_TRY(load());
  range.segment = std::move(segment);
  const SegmentSession& known = range.segment->sessions[state_->base->numbers().front()];
  range.first = known.begin;
  range.count = known.count;
  for (std::uint32_t slot = 0; slot < known.count; ++slot) {
    const Ordinal ordinal = state_->ordinal_of(slot);
    range.slots.push_back(ordinal == kNoOrdinal ? SlotTable::kNoSlot : slots().slot(ordinal));
  }
  return range;
}

Result<std::vector<IndexPart::PartEntry>> SessionIndex::part_candidates(std::uint32_t id_hash) {
  std::vector<PartEntry> found;
  if (state_->told > 0) {
    BMAD_TRY_ASSIGN(found, state_->base->part_candidates(id_hash));
  }
  const std::vector<std::uint32_t>& added = state_->table.columns.id_hashes;
  for (std::size_t i = 0; i < added.size(); ++i) {
    if (added[i] == id_hash) {
      found.push_back({.ordinal = static_cast<Ordinal>(state_->told + i)});
    }
  }
  BMAD_TRY(load());
  std::erase_if(found, [this](const PartEntry& each) {
    return state_->slots->slot(each.ordinal) == SlotTable::kNoSlot;
  });
  return found;
}

Result<SessionIndex::LoadedLine> SessionIndex::line(Ordinal ordinal) const {
  assert(ordinal < entry_count());
  const EntryType type = flag_type(state_->table.columns.flags[ordinal]);
  BMAD_TRY_ASSIGN(const IndexRow found, row(ordinal));
  return read_row(files_, options_.session_id, type, found.row);
}

Result<IndexedSession::LoadedLine> read_row(FileSystem& files, const std::string& session_id,
                                            EntryType type, const EntryRow& row) {
  const std::string path = log_path(session_id, type);
  constexpr std::uint32_t kIndexedLineMax = 64U << 20U;  // No line that long was ever indexed.
  const std::size_t size = row.size <= kIndexedLineMax ? row.size : 0;
  IndexedSession::LoadedLine loaded{.number = row.line, .type = type};
  for (int tries = 0; tries < 2 && size > 0; ++tries) {
    BMAD_TRY_ASSIGN(const auto log, if_there(files.open_cached(path)));
    loaded.text.resize(size);
    const Result<std::size_t> got =
        log ? (*log)->read_at(row.offset, loaded.text) : Result<std::size_t>(std::size_t{0});
    if (got && *got == size && entry_line_hash(loaded.text) == row.line_hash) {
      return loaded;
    }
    if (!got && tries > 0) {
      return got.error();
    }
    files.close_cached();  // Another file may be at the path by now.
  }
  return Error{.code = ErrorCode::E_CONCURRENT_MOD,
               .message = "the log was changed while it was searched; ask again",
               .path = files.display_path(path),
               .line = row.line};
}

Result<std::string> IndexedSession::id(EntryType type, Ordinal ordinal) const {
  BMAD_TRY_ASSIGN(const IndexRow found, row(ordinal));
  std::string id = found.id_of(type);
  if (id.empty()) {
    BMAD_TRY_ASSIGN(const LoadedLine loaded, line(ordinal));
    BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(loaded.text));
    id = entry_id(*value);
  }
  return id;
}

Result<PartPostings> SessionIndex::part_postings(PostingKind kind, std::string_view key) {
  BMAD_TRY(load());
  BMAD_TRY_ASSIGN(Postings found, in_session(*this, live_postings(kind, key)));
  PartPostings all;
  if (!found->postings.empty()) {
    all.sessions.push_back({.postings = found->postings,
                            .frequency_sum = found->frequency_sum,
                            .window_count = found->window_count});
    all.owner = std::move(found);
  }
  return all;
}

Status IndexPart::part_keys(PostingKind kind, std::string_view prefix, const WantKey& wanted,
                            const UseKey& use) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<KeyCursor> cursor, keys(kind, prefix));
  while (true) {
    BMAD_TRY_ASSIGN(const bool more, cursor->next());
    if (!more || !cursor->key().starts_with(prefix)) {
      return {};
    }
    if (wanted(cursor->key())) {
      BMAD_TRY_ASSIGN(const std::uint64_t count, cursor->count());
      if (count > 0 && !use(cursor->key(), count)) {
        return {};
      }
    }
  }
}

Result<std::vector<IndexPart::PartEntry>> IndexPart::part_find(std::string_view id) {
  std::vector<PartEntry> found;
  for (const EntryType type : kEntryTypes) {
    BMAD_TRY_ASSIGN(const std::vector<PartEntry> candidates,
                    part_candidates(entry_id_hash(type, id)));
    for (const PartEntry& each : candidates) {
      const IndexedSession& its = session(each.session);
      BMAD_TRY_ASSIGN(const std::string its_id, in_session(its, its.id(type, each.ordinal)));
      if (its_id == id) {
        found.push_back(each);
      }
    }
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

void SessionIndex::add_participants(Participants& all) const {
  const SessionFacts& facts = state_->table.facts;
  all.names.insert(facts.participants.begin(), facts.participants.end());
  all.has_user = all.has_user || facts.has_user;
  all.has_assistant = all.has_assistant || facts.has_assistant;
}

/// The keys of the base merged with those of the table.
class MergedCursor final : public KeyCursor {
 public:
  /// `base` is null without one. `state` is loaded, and stays as it is.
  MergedCursor(const SessionIndex::State& state, std::unique_ptr<KeyCursor> base,
               std::vector<Memtable::KeyedPostings> added)
      : state_(state), base_(std::move(base)), added_(std::move(added)) {}

  Result<bool> next() override {
    if (base_ != nullptr && is_of_base_) {
      BMAD_TRY_ASSIGN(const bool more, base_->next());
      base_ = more ? std::move(base_) : nullptr;
    }
    next_ += is_added_ ? 1 : 0;
    const bool has_added = next_ < added_.size();
    is_of_base_ = base_ != nullptr && (!has_added || base_->key() <= added_[next_].key);
    is_added_ = has_added && (base_ == nullptr || added_[next_].key <= base_->key());
    is_read_ = false;
    return is_of_base_ || is_added_;
  }
  [[nodiscard]] std::string_view key() const override {
    assert((is_added_ || is_of_base_) && "next() said that there is a key");
    return is_added_ ? added_[next_].key : base_->key();
  }
  Result<std::uint64_t> count() override {
    if (!state_.slots->slots.empty() || state_.moved) {  // Some may have gone.
      BMAD_TRY(postings());
      return std::uint64_t{live_.postings.size()};
    }
    BMAD_TRY_ASSIGN(const std::uint64_t known,
                    is_of_base_ ? base_->count() : Result<std::uint64_t>(std::uint64_t{0}));
    return known + (is_added_ ? added_[next_].postings.size() : 0);
  }
  Result<std::span<const SessionPostings>> postings() override {
    if (!is_read_) {
      list_.clear();
      if (is_of_base_) {
        BMAD_TRY_ASSIGN(const auto known, base_->postings());
        state_.add_told(known, list_);
      }
      if (is_added_) {
        const std::span<const Posting> added = added_[next_].postings;
        list_.insert(list_.end(), added.begin(), added.end());
      }
      live_ = to_slots(*state_.slots, list_);
      postings_ = {.postings = live_.postings,
                   .frequency_sum = live_.frequency_sum,
                   .window_count = live_.window_count};
      is_read_ = true;
    }
    return std::span(&postings_, live_.postings.empty() ? 0 : 1);
  }

 private:
  const SessionIndex::State& state_;
  std::unique_ptr<KeyCursor> base_;  // Null behind its last key.
  std::vector<Memtable::KeyedPostings> added_;
  std::size_t next_ = 0;    // Of these.
  bool is_of_base_ = true;  // The key at hand; so for the next.
  bool is_added_ = false;
  bool is_read_ = false;
  std::vector<Posting> list_;  // What is under it; so for the next.
  SlotPostings live_;
  SessionPostings postings_;
};

Result<std::unique_ptr<KeyCursor>> SessionIndex::keys(PostingKind kind, std::string_view prefix) {
  BMAD_TRY(load());
  std::unique_ptr<KeyCursor> base;
  if (state_->base != nullptr) {
    BMAD_TRY_ASSIGN(base, state_->base->keys(kind, prefix));
  }
  return std::unique_ptr<KeyCursor>(std::make_unique<MergedCursor>(
      *state_, std::move(base), state_->table.memtable.sorted(kind, prefix)));
}

Status SessionIndex::for_statements(const UseStatement& use) {
  std::vector<StatementRow> all = state_->table.statements;
  std::ranges::sort(all, {}, [](const StatementRow& each) {
    return std::tuple(each.outline.type != EntryType::kPreference, each.row.line);
  });
  std::ranges::for_each(all, use);
  return {};
}

}  // namespace bmad_mem
