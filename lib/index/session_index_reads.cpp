// What is asked of an index that is up to date.
#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <map>
#include <unordered_set>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "checkpoint_format.hpp"
#include "index/session_index.hpp"
#include "model/entry.hpp"
#include "session_index_state.hpp"

namespace bmad_mem {

const SessionFacts& SessionIndex::facts() const { return state_->table.facts; }

std::uint64_t SessionIndex::log_size(EntryType type) const {
  return state_->covers[static_cast<std::size_t>(type)].bytes;
}

Ordinal SessionIndex::entry_count() const {
  return state_->grown ? static_cast<Ordinal>(state_->table.columns.size())
                       : state_->checkpoint_entries;
}

Status SessionIndex::load() { return state_->load(); }

const LogCovers& SessionIndex::covers() const { return state_->covers; }

SessionIndex::Unknown SessionIndex::unknown() const {
  Unknown found{.entries = entry_count()};
  for (const LogCover& cover : state_->covers) {
    found.bytes += cover.bytes;
  }
  if (state_->base != nullptr) {
    found.bytes -= state_->base_bytes;
    found.entries -= state_->base->shared_segment()->entry_count(state_->base->numbers()[0]);
  }
  return found;
}

Result<SlotTotals> SessionIndex::totals() {
  BMAD_TRY(load());
  const SlotTable& slots = *state_->slots;
  return SlotTotals{.entries = slots.size(),
                    .lengths = slots.length_sum,
                    .window_lengths = slots.window_length_sum};
}

SlotView SessionIndex::slots() const { return state_->slots->view(); }

Timestamp SessionIndex::timestamp(Ordinal ordinal) const {
  const std::vector<std::int64_t>& decoded = state_->table.columns.timestamps;
  return Timestamp(std::chrono::milliseconds(
      decoded.empty() ? timestamp_at(state_->timestamps, ordinal) : decoded[ordinal]));
}

const OddEntry* SessionIndex::odd(Ordinal ordinal) const {
  const auto found = state_->table.columns.odd.find(ordinal);
  return found == state_->table.columns.odd.end() ? nullptr : &found->second;
}

Result<std::vector<Posting>> SessionIndex::postings(PostingKind kind, std::string_view key) const {
  std::vector<Posting> list;
  if (state_->checkpoint != nullptr) {
    BMAD_TRY(state_->checkpoint->postings(kind, key, list));
  }
  if (state_->base != nullptr) {
    BMAD_TRY_ASSIGN(const PartPostings found, state_->base->part_postings(kind, key));
    for (const SessionPostings& session : found.sessions) {
      for (const SlotPosting& posting : session.postings) {
        list.push_back({.ordinal = posting.slot, .frequency = posting.frequency});
      }
    }
  }
  const std::span<const Posting> added = state_->table.memtable.postings(kind, key);
  list.insert(list.end(), added.begin(), added.end());
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
  const bool is_all_in_memory = state_->checkpoint == nullptr && state_->base == nullptr;
  if (list.empty() && is_all_in_memory) {
    // Most words are in few sessions: a list for each of the others would be most of a search.
    static const auto kNone = std::make_shared<const SlotPostings>();
    return Postings(kNone);
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

namespace {

/// How many of `postings` are of live entries.
std::uint64_t count_live(const SlotTable& slots, std::span<const Posting> postings) {
  if (slots.slots.empty()) {
    return postings.size();
  }
  return static_cast<std::uint64_t>(std::ranges::count_if(postings, [&](const Posting& posting) {
    return slots.slot(posting.ordinal) != SlotTable::kNoSlot;
  }));
}

}  // namespace

/// Those of the base and of the table, ascending by bytes.
Status SessionIndex::keys_behind_base(PostingKind kind, std::string_view prefix,
                                      const WantKey& wanted, const UseKey& use) const {
  std::map<std::string, std::uint64_t, std::less<>> counts;
  BMAD_TRY(
      state_->base->part_keys(kind, prefix, wanted, [&](std::string_view key, std::uint64_t count) {
        counts.emplace(key, count);
        return true;
      }));
  const SlotTable& slots = *state_->slots;
  if (state_->table.tombstones > 0) {
    for (auto& [key, count] : counts) {
      BMAD_TRY_ASSIGN(const PartPostings found, state_->base->part_postings(kind, key));
      count = 0;
      for (const SessionPostings& session : found.sessions) {
        for (const SlotPosting& posting : session.postings) {
          count += slots.slot(posting.slot) != SlotTable::kNoSlot ? 1 : 0;
        }
      }
    }
  }
  for (const Memtable::KeyedPostings& each : state_->table.memtable.sorted(kind, prefix)) {
    if (wanted(each.key)) {
      counts[std::string(each.key)] += count_live(slots, each.postings);
    }
  }
  for (const auto& [key, count] : counts) {
    if (count > 0 && !use(key, count)) {
      return {};
    }
  }
  return {};
}

Status SessionIndex::keys(PostingKind kind, std::string_view prefix, const UseKey& use) const {
  BMAD_TRY(state_->load());
  if (state_->base != nullptr) {
    return keys_behind_base(kind, prefix, [](std::string_view) { return true; }, use);
  }
  const SlotTable& slots = *state_->slots;
  // Old and new keys, merged; under both, the counts add up.
  std::vector<Memtable::KeyedPostings> added = state_->table.memtable.sorted(kind, prefix);
  if (!std::ranges::is_sorted(added, precedes_in_file, &Memtable::KeyedPostings::key)) {
    std::ranges::sort(added, precedes_in_file, &Memtable::KeyedPostings::key);
  }
  auto next = added.cbegin();
  bool wanted = true;
  const auto offer = [&](std::string_view key, std::uint64_t count) {
    wanted = wanted && (count == 0 || use(key, count));
  };
  const auto use_added = [&] {
    offer(next->key, count_live(slots, next->postings));
    ++next;
  };
  if (state_->checkpoint != nullptr) {
    std::vector<Posting> list;
    bool good = true;
    BMAD_TRY(
        state_->checkpoint->keys(kind, prefix, [&](std::string_view key, std::string_view text) {
          if (!key.starts_with(prefix)) {
            return false;
          }
          while (wanted && next != added.cend() && precedes_in_file(next->key, key)) {
            use_added();
          }
          list.clear();
          good = decode_postings(text, state_->checkpoint_entries, list);
          std::uint64_t count = good ? count_live(slots, list) : 0;
          if (next != added.cend() && next->key == key) {
            count += count_live(slots, next->postings);
            ++next;
          }
          offer(key, count);
          return wanted && good;
        }));
    if (!good) {
      return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                   .message = "a posting list of the index is none",
                   .path = files_.display_path(index_path(options_.session_id))};
    }
  }
  while (wanted && next != added.cend()) {
    use_added();
  }
  return {};
}

Result<std::vector<std::uint32_t>> SessionIndex::id_hashes() const {
  if (!state_->grown && state_->checkpoint != nullptr) {
    return state_->checkpoint->id_hashes();
  }
  return state_->table.columns.id_hashes;
}

Result<std::uint32_t> SessionIndex::id_hash(Ordinal ordinal) const {
  if (state_->grown || state_->checkpoint == nullptr) {
    return state_->table.columns.id_hashes[ordinal];
  }
  BMAD_TRY_ASSIGN(const std::vector<std::uint32_t> hashes, state_->checkpoint->id_hashes());
  if (ordinal >= hashes.size()) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = "a column of the index is too short",
                 .path = files_.display_path(index_path(options_.session_id))};
  }
  return hashes[ordinal];
}

Result<bool> SessionIndex::may_hold(std::span<const std::string> ids) const {
  std::unordered_set<std::uint32_t> wanted;
  for (const std::string& id : ids) {
    for (const EntryType type : kEntryTypes) {
      wanted.insert(entry_id_hash(type, id));
    }
  }
  BMAD_TRY_ASSIGN(const std::vector<std::uint32_t> hashes, id_hashes());
  return std::ranges::any_of(hashes, [&](std::uint32_t hash) { return wanted.contains(hash); });
}

Status SessionIndex::hide_those_in(SessionIndex& newer) {
  const std::pair<std::uint64_t, std::uint64_t> seen(changes_, newer.changes_);
  {
    const std::scoped_lock guard(state_->cache_mutex);
    if (state_->hidden_as_of == seen) {
      return {};
    }
  }
  BMAD_TRY(newer.load());
  BMAD_TRY(load());
  BMAD_TRY_ASSIGN(const std::vector<std::uint32_t> theirs, newer.id_hashes());
  BMAD_TRY_ASSIGN(const std::vector<std::uint32_t> ours, id_hashes());
  std::unordered_set<std::uint32_t> live;
  for (Ordinal ordinal = 0; ordinal < theirs.size(); ++ordinal) {
    if (newer.slots().slot(ordinal) != SlotTable::kNoSlot) {
      live.insert(theirs[ordinal]);
    }
  }
  std::vector<std::uint8_t> hidden(slots().size(), 0);
  bool any = false;
  for (Ordinal ordinal = 0; ordinal < ours.size(); ++ordinal) {
    const std::uint32_t slot = slots().slot(ordinal);
    if (slot != SlotTable::kNoSlot && live.contains(ours[ordinal])) {
      hidden[slot] = 1;
      any = true;
    }
  }
  const std::scoped_lock guard(state_->cache_mutex);
  state_->hidden =
      any ? std::make_shared<const std::vector<std::uint8_t>>(std::move(hidden)) : nullptr;
  state_->hidden_as_of = seen;
  return {};
}

std::shared_ptr<const std::vector<std::uint8_t>> SessionIndex::hidden() const {
  const std::scoped_lock guard(state_->cache_mutex);
  return state_->hidden;
}

Result<std::vector<Ordinal>> SessionIndex::find(std::string_view id) {
  BMAD_TRY_ASSIGN(const std::vector<std::uint32_t> hashes, id_hashes());
  std::array<std::uint32_t, kEntryTypeCount> wanted{};
  for (const EntryType type : kEntryTypes) {
    wanted[static_cast<std::size_t>(type)] = entry_id_hash(type, id);
  }
  std::vector<Ordinal> found;
  JsonParser parser;
  BMAD_TRY(state_->load());
  for (Ordinal ordinal = 0; ordinal < hashes.size(); ++ordinal) {
    if (std::ranges::find(wanted, hashes[ordinal]) == wanted.end() ||
        state_->slots->slot(ordinal) == SlotTable::kNoSlot) {
      continue;
    }
    BMAD_TRY_ASSIGN(const LoadedLine candidate, line(ordinal));
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(candidate.text));
    if (entry_id(value) == id) {
      found.push_back(ordinal);
    }
  }
  return found;
}

std::uint64_t checkpointed_bytes(FileSystem& files, const std::string& session_id,
                                 std::string_view language) {
  const Result<std::unique_ptr<CheckpointReader>> reader =
      CheckpointReader::open(files, session_id, language);
  std::uint64_t bytes = 0;
  if (reader) {
    for (const LogCover& cover : (*reader)->take_covers()) {
      bytes += cover.bytes;
    }
  }
  return bytes;
}

Result<EntryRow> SessionIndex::row(Ordinal ordinal) const {
  return ordinal >= state_->table.rows_begin
             ? Result<EntryRow>(state_->table.columns.rows[ordinal - state_->table.rows_begin])
             : state_->checkpoint->row(ordinal);
}

Result<std::uint32_t> SessionIndex::line_number(Ordinal ordinal) const {
  BMAD_TRY_ASSIGN(const EntryRow found, row(ordinal));
  return found.line;
}

Result<SessionIndex::LoadedLine> SessionIndex::line(Ordinal ordinal, OpenLogs& logs) const {
  if (!state_->grown) {
    BMAD_TRY(state_->load());
  }
  BMAD_TRY_ASSIGN(const EntryRow found, row(ordinal));
  const std::uint32_t slot = state_->grown ? 0 : state_->slots->slot(ordinal);
  assert(slot != SlotTable::kNoSlot);  // Superseded: nobody has a reason to ask for it.
  const EntryType type =
      flag_type(state_->grown ? state_->table.columns.flags[ordinal] : state_->slots->flags[slot]);
  return read_row(files_, log_path_of(options_.session_id, type), found,
                  logs[static_cast<std::size_t>(type)]);
}

Result<IndexedSession::LoadedLine> read_row(FileSystem& files, const std::string& path,
                                            const EntryRow& row, std::unique_ptr<File>& log) {
  if (log == nullptr) {
    Result<std::unique_ptr<File>> opened = files.open(path, OpenMode::kRead);
    if (!opened && !is_not_found(opened.error())) {
      return opened.error();
    }
    log = opened ? std::move(*opened) : nullptr;
  }
  IndexedSession::LoadedLine loaded{.text = std::string(row.size, '\0'), .number = row.line};
  std::size_t got = 0;
  if (log != nullptr) {
    BMAD_TRY_ASSIGN(got, log->read_at(row.offset, loaded.text));
  }
  if (got != row.size || entry_line_hash(loaded.text) != row.line_hash) {
    return Error{.code = ErrorCode::E_CONCURRENT_MOD,
                 .message = "the log was changed while it was searched; ask again",
                 .path = files.display_path(path),
                 .line = row.line};
  }
  return loaded;
}

Result<PartPostings> SessionIndex::part_postings(PostingKind kind, std::string_view key) {
  BMAD_TRY(in_session(*this, load()));
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

Status SessionIndex::part_keys(PostingKind kind, std::string_view prefix, const WantKey& wanted,
                               const UseKey& use) {
  BMAD_TRY(in_session(*this, load()));
  if (state_->base != nullptr) {
    return in_session(*this, keys_behind_base(kind, prefix, wanted, use));
  }
  return in_session(*this, keys(kind, prefix, [&](std::string_view key, std::uint64_t count) {
    return !wanted(key) || use(key, count);
  }));
}

Result<std::vector<IndexPart::PartEntry>> SessionIndex::part_find(std::string_view id) {
  BMAD_TRY_ASSIGN(const std::vector<Ordinal> ordinals, in_session(*this, find(id)));
  std::vector<PartEntry> found;
  for (const Ordinal ordinal : ordinals) {
    found.push_back({.ordinal = ordinal});
  }
  return found;
}

void SessionIndex::add_participants(Participants& all) const {
  all.names.insert(facts().participants.begin(), facts().participants.end());
  all.has_user = all.has_user || facts().has_user;
  all.has_assistant = all.has_assistant || facts().has_assistant;
}

}  // namespace bmad_mem
