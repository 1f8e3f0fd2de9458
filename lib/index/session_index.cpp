#include "index/session_index.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>

#include "bmad_mem/json_parser.hpp"
#include "checkpoint_format.hpp"
#include "checkpoint_writer.hpp"
#include "core/hash.hpp"
#include "index/analyzer.hpp"
#include "model/entry.hpp"
#include "session_table.hpp"
#include "storage/atomic_file.hpp"
#include "storage/file_lock.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {
namespace {

std::string log_path_of(const std::string& session_id, EntryType type) {
  return session_file(session_id, entry_type_info(type).log_file);
}

/// Adds the first `size` bytes of the log to `hash`. False when it has fewer.
Result<bool> hash_prefix(FileSystem& files, const std::string& path, std::uint64_t size,
                         Xxh3Stream& hash) {
  constexpr std::uint64_t kChunk = 256U << 10U;
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kRead));
  std::string buffer(static_cast<std::size_t>(std::min(size, kChunk)), '\0');
  for (std::uint64_t at = 0; at < size;) {
    const auto wanted = static_cast<std::size_t>(std::min(size - at, kChunk));
    BMAD_TRY_ASSIGN(const std::size_t got, file->read_at(at, std::span(buffer).first(wanted)));
    if (got == 0) {
      return false;
    }
    hash.add(std::string_view(buffer).substr(0, got));
    at += got;
  }
  return true;
}

}  // namespace

/// All that an index knows. A new one for each start from nothing.
struct SessionIndex::State {
  bool opened = false;
  std::unique_ptr<CheckpointReader> checkpoint;
  Ordinal checkpoint_entries = 0;
  LogCovers covers;
  SessionTable table;
  std::unique_ptr<SessionTableBuilder> builder;
  std::optional<Analyzer> analyzer;
  bool grown = false;            // The table holds all columns, and more than the checkpoint.
  std::size_t rows_written = 0;  // As many of the table's rows stand in a newer index.json.

  // Filled by load() and postings() under their own mutexes, since many may ask at once.
  std::mutex load_mutex;
  std::optional<SlotTable> slots;
  std::string timestamps;  // Of the checkpoint, as digits, while the table has none.
  std::mutex cache_mutex;
  std::unordered_map<std::string, Postings> cache;
  std::uint64_t cache_used = 0;

  /// Makes `slots`, and what is asked for with them. Many may ask at once.
  Status load() {
    const std::scoped_lock guard(load_mutex);
    if (slots) {
      return {};
    }
    if (grown || checkpoint == nullptr) {
      slots = build_slots(table.columns);
      return {};
    }
    BMAD_TRY_ASSIGN(timestamps, checkpoint->timestamps());
    BMAD_TRY(checkpoint->load_odd(table.columns.odd));
    BMAD_TRY_ASSIGN(slots, checkpoint->slots());
    return {};
  }

  void forget_derived() {
    slots.reset();
    cache.clear();
    cache_used = 0;
  }
};

SessionIndex::SessionIndex(FileSystem& files, const Clock& clock, Options options)
    : files_(files),
      clock_(clock),
      options_(std::move(options)),
      state_(std::make_unique<State>()) {}
SessionIndex::~SessionIndex() = default;

Status SessionIndex::refresh() {
  {
    const std::shared_lock guard(mutex_);
    if (state_->opened) {
      bool changed = false;
      BMAD_TRY(look_for_changes(changed));
      if (!changed) {
        return {};
      }
    }
  }
  const std::unique_lock guard(mutex_);
  if (!state_->opened) {
    BMAD_TRY(open_checkpoint());
  }
  Status done = bring_up_to_date();
  if (!done && (done.error().code == ErrorCode::E_STORAGE_CORRUPT ||
                done.error().code == ErrorCode::E_CONCURRENT_MOD)) {
    done = scan_all({});
  }
  if (!done) {
    state_->opened = false;  // The table may hold half of what is new: the next begins anew.
  }
  return done;
}

Status SessionIndex::rebuild(const Progress& on_progress) {
  const std::unique_lock guard(mutex_);
  return scan_all(on_progress);
}

void SessionIndex::forget() {
  const std::unique_lock guard(mutex_);
  state_ = std::make_unique<State>();
}

Status SessionIndex::look_for_changes(bool& changed) const {
  for (const EntryType type : kEntryTypes) {
    const Result<FileInfo> info = files_.info(log_path_of(options_.session_id, type));
    if (!info && !is_not_found(info.error())) {
      return info.error();
    }
    if (compare_log(state_->covers[static_cast<std::size_t>(type)], info) != LogChange::kNone) {
      changed = true;
      return {};
    }
  }
  return {};
}

/// Takes index.json up when there is one that holds.
Status SessionIndex::open_checkpoint() {
  state_ = std::make_unique<State>();
  if (!options_.use_checkpoint) {
    state_->opened = true;
    return {};
  }
  Result<std::unique_ptr<CheckpointReader>> reader =
      CheckpointReader::open(files_, options_.session_id, options_.language);
  if (!reader) {
    // Whatever is wrong with it, the logs are the truth; they tell when the disk is bad.
    state_->opened = true;
    return {};
  }
  state_->checkpoint = std::move(*reader);
  state_->checkpoint_entries = state_->checkpoint->entry_count();
  state_->covers = state_->checkpoint->covers();
  state_->table.facts = state_->checkpoint->facts();
  state_->table.tombstones = state_->checkpoint->tombstone_count();
  state_->table.rows_begin = state_->checkpoint_entries;
  state_->opened = true;
  return {};
}

/// Compares each log with what is covered, and takes in what is new.
Status SessionIndex::bring_up_to_date() {
  for (const EntryType type : kEntryTypes) {
    LogCover& cover = state_->covers[static_cast<std::size_t>(type)];
    const Result<FileInfo> info = files_.info(log_path_of(options_.session_id, type));
    if (!info && !is_not_found(info.error())) {
      return info.error();
    }
    switch (compare_log(cover, info)) {
      case LogChange::kNone:
        break;
      case LogChange::kOther:
        return scan_all({});
      case LogChange::kMaybeGrown: {
        bool prefix_holds = false;
        BMAD_TRY(scan_log_from(type, true, prefix_holds, {}));
        if (!prefix_holds) {
          return scan_all({});
        }
        break;
      }
    }
  }
  return {};
}

Status SessionIndex::scan_all(const Progress& on_progress) {
  state_ = std::make_unique<State>();
  std::uint64_t done = 0;
  for (const EntryType type : kEntryTypes) {
    const Result<FileInfo> info = files_.info(log_path_of(options_.session_id, type));
    if (!info) {
      if (!is_not_found(info.error())) {
        return info.error();
      }
      continue;
    }
    bool prefix_holds = false;
    BMAD_TRY(scan_log_from(type, false, prefix_holds, [&](std::uint64_t bytes) {
      if (on_progress) {
        on_progress(done + bytes);
      }
    }));
    done += state_->covers[static_cast<std::size_t>(type)].bytes;
  }
  state_->opened = true;
  return {};
}

/// Takes in the lines of a log behind those that are covered.
Status SessionIndex::scan_log_from(EntryType type, bool verify_prefix, bool& prefix_holds,
                                   const Progress& on_progress) {
  LogCover& cover = state_->covers[static_cast<std::size_t>(type)];
  const std::string path = log_path_of(options_.session_id, type);
  // As it is before anything is read: what changes from here on is seen at the next look.
  BMAD_TRY_ASSIGN(FileInfo info, files_.info(path));
  const bool telling = mtime_is_telling(info, clock_.now());
  Xxh3Stream hash;
  if (verify_prefix && cover.bytes > 0) {
    BMAD_TRY_ASSIGN(prefix_holds, hash_prefix(files_, path, cover.bytes, hash));
    prefix_holds = prefix_holds && hash.value() == cover.xxh3;
    if (!prefix_holds) {
      return {};
    }
  }
  prefix_holds = true;
  if (info.size > cover.bytes) {
    BMAD_TRY(prepare_growth());
    JsonParser parser;
    Status failed;
    const auto take = [&](const ScannedEntry& entry) {
      if (failed) {
        failed = state_->builder->add(entry);
      }
    };
    BMAD_TRY_ASSIGN(
        const LogScan scan,
        scan_log(files_, path, type, parser, {.on_entry = take, .on_progress = on_progress},
                 {.offset = cover.bytes, .line = cover.lines + 1, .hash = &hash}));
    BMAD_TRY(std::move(failed));
    cover.bytes = scan.whole_end;
    cover.lines = scan.torn_line - 1;
    // Without the hash of a line that is too long to keep nothing can be compared: so it must
    // differ next time.
    cover.xxh3 = scan.hashed ? hash.value() : ~hash.value();
    state_->forget_derived();
  }
  cover.file = info;
  cover.mtime_is_telling = telling;
  return {};
}

/// Gets ready to add entries behind those of the checkpoint.
Status SessionIndex::prepare_growth() {
  if (!state_->analyzer) {
    BMAD_TRY_ASSIGN(Analyzer analyzer, Analyzer::create(options_.language));
    state_->analyzer.emplace(std::move(analyzer));
  }
  if (state_->builder != nullptr) {
    return {};
  }
  if (state_->checkpoint != nullptr) {
    BMAD_TRY(state_->checkpoint->load_columns(state_->table.columns));
    BMAD_TRY(state_->checkpoint->load_for_growth(state_->table.columns,
                                                 state_->table.conversation_ends));
  }
  state_->grown = true;
  const auto id_of = [this](Ordinal ordinal) -> Result<std::string> {
    BMAD_TRY_ASSIGN(const LoadedLine found, line(ordinal));
    JsonParser parser;
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(found.text));
    return std::string(entry_id(value));
  };
  state_->builder = std::make_unique<SessionTableBuilder>(state_->table, *state_->analyzer, id_of);
  return {};
}

bool SessionIndex::wants_checkpoint(std::uint64_t tail_entries_max) const {
  const std::shared_lock guard(mutex_);
  const auto added = std::span(state_->table.columns.rows).subspan(state_->rows_written);
  std::uint64_t bytes = 0;
  for (const EntryRow& row : added) {
    bytes += row.size + 1;
  }
  return !added.empty() && (added.size() >= tail_entries_max || bytes >= kTailSizeMax);
}

Result<std::optional<CheckpointReport>> SessionIndex::write_checkpoint() {
  const std::unique_lock guard(mutex_);
  if (!state_->opened) {
    BMAD_TRY(open_checkpoint());
    BMAD_TRY(bring_up_to_date());
  }
  FileLock lock(files_, clock_, session_file(options_.session_id, kIndexLockName),
                session_file(options_.session_id, kIndexLockInfoName));
  const Result<FileLock::Guard> turn =
      lock.acquire({.operation = "index", .timeout = std::chrono::milliseconds(0)});
  if (!turn) {
    if (turn.error().code == ErrorCode::E_LOCK_TIMEOUT) {
      return std::optional<CheckpointReport>();
    }
    return turn.error();
  }
  // Too many tombstones: their postings would be carried along for ever.
  const std::uint64_t entries = state_->table.columns.size();
  if (state_->checkpoint != nullptr && state_->table.tombstones * std::uint64_t{4} > entries) {
    BMAD_TRY(scan_all({}));
  }
  const auto make = [this]() -> Result<CheckpointText> {
    if (!state_->grown) {
      BMAD_TRY(prepare_growth());
    }
    return make_checkpoint({.session_id = options_.session_id,
                            .language = options_.language,
                            .created_at = clock_.now(),
                            .table = state_->table,
                            .covers = state_->covers,
                            .old = state_->checkpoint.get()});
  };
  Result<CheckpointText> made = make();
  if (!made && made.error().code == ErrorCode::E_STORAGE_CORRUPT) {  // The old one does not hold.
    BMAD_TRY(scan_all({}));
    made = make();
  }
  if (!made) {
    return std::move(made).error();
  }
  BMAD_TRY(replace_derived_file(files_, index_path(options_.session_id), made->text));
  state_->rows_written = state_->table.columns.rows.size();
  CheckpointReport report{.entries = state_->table.columns.size() - state_->table.tombstones,
                          .terms = made->terms,
                          .index_bytes = made->text.size()};
  for (const LogCover& cover : state_->covers) {
    report.log_bytes += cover.bytes;
  }
  return std::optional(report);
}

const SessionFacts& SessionIndex::facts() const { return state_->table.facts; }

Ordinal SessionIndex::entry_count() const {
  return state_->grown ? static_cast<Ordinal>(state_->table.columns.size())
                       : state_->checkpoint_entries;
}

Status SessionIndex::load() { return state_->load(); }

const SlotTable& SessionIndex::slots() const { return *state_->slots; }

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
  auto live = std::make_shared<const SlotPostings>(to_slots(slots(), list));
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

Status SessionIndex::keys(PostingKind kind, std::string_view prefix, const UseKey& use) const {
  BMAD_TRY(state_->load());
  const SlotTable& slots = *state_->slots;
  // Old and new keys, merged; under both, the counts add up.
  std::vector<Memtable::KeyedPostings> added = state_->table.memtable.sorted(kind);
  std::erase_if(added, [&](const auto& each) { return !each.key.starts_with(prefix); });
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

Result<std::vector<Ordinal>> SessionIndex::find(std::string_view id) {
  const std::vector<std::uint32_t>* hashes = &state_->table.columns.id_hashes;
  std::vector<std::uint32_t> of_checkpoint;
  if (!state_->grown && state_->checkpoint != nullptr) {
    BMAD_TRY_ASSIGN(of_checkpoint, state_->checkpoint->id_hashes());
    hashes = &of_checkpoint;
  }
  std::array<std::uint32_t, kEntryTypeCount> wanted{};
  for (const EntryType type : kEntryTypes) {
    wanted[static_cast<std::size_t>(type)] = entry_id_hash(type, id);
  }
  std::vector<Ordinal> found;
  JsonParser parser;
  BMAD_TRY(state_->load());
  for (Ordinal ordinal = 0; ordinal < hashes->size(); ++ordinal) {
    if (std::ranges::find(wanted, (*hashes)[ordinal]) == wanted.end() ||
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
    for (const LogCover& cover : (*reader)->covers()) {
      bytes += cover.bytes;
    }
  }
  return bytes;
}

Result<SessionIndex::LoadedLine> SessionIndex::line(Ordinal ordinal) const {
  OpenLogs logs;
  return line(ordinal, logs);
}

Result<SessionIndex::LoadedLine> SessionIndex::line(Ordinal ordinal, OpenLogs& logs) const {
  if (!state_->grown) {
    BMAD_TRY(state_->load());
  }
  EntryRow row;
  const bool in_table = ordinal >= state_->table.rows_begin;
  if (in_table) {
    row = state_->table.columns.rows[ordinal - state_->table.rows_begin];
  } else {
    BMAD_TRY_ASSIGN(row, state_->checkpoint->row(ordinal));
  }
  const std::uint32_t slot = state_->grown ? 0 : state_->slots->slot(ordinal);
  assert(slot != SlotTable::kNoSlot);  // Superseded: nobody has a reason to ask for it.
  const std::uint32_t flags =
      state_->grown ? state_->table.columns.flags[ordinal] : state_->slots->flags[slot];
  const EntryType type = flag_type(flags);
  const std::string path = log_path_of(options_.session_id, type);
  LoadedLine loaded{.text = std::string(row.size, '\0'), .number = row.line};
  std::unique_ptr<File>& log = logs[static_cast<std::size_t>(type)];
  if (log == nullptr) {
    Result<std::unique_ptr<File>> opened = files_.open(path, OpenMode::kRead);
    if (!opened && !is_not_found(opened.error())) {
      return opened.error();
    }
    log = opened ? std::move(*opened) : nullptr;
  }
  std::size_t got = 0;
  if (log != nullptr) {
    BMAD_TRY_ASSIGN(got, log->read_at(row.offset, loaded.text));
  }
  if (got != row.size || entry_line_hash(loaded.text) != row.line_hash) {
    return Error{.code = ErrorCode::E_CONCURRENT_MOD,
                 .message = "the log was changed while it was searched; ask again",
                 .path = files_.display_path(path),
                 .line = row.line};
  }
  return loaded;
}

}  // namespace bmad_mem
