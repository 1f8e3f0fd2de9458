// session_index.cpp - keeps the index of a session as fresh as its logs.
#include "search/session_index.hpp"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/hash.hpp"
#include "base/process.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/question.hpp"
#include "model/entry.hpp"
#include "search/analyzer.hpp"
#include "session_index_state.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
SessionIndex::SessionIndex(FileSystem& files, const Clock& clock, Options options)
    : files_(files),
      clock_(clock),
      options_(std::move(options)),
      state_(std::make_unique<State>()) {}
SessionIndex::~SessionIndex() = default;

Status SessionIndex::refresh() {
  const std::uint64_t look = Question::look();
  {
    const std::shared_lock guard(mutex_);
    if (state_->opened && !has_newer_base()) {
      if (Question::holds(look_)) {
        return {};
      }
      BMAD_TRY_ASSIGN(const bool has_grown, has_changed());
      if (!has_grown) {
        look_ = look;
        return {};
      }
    }
  }
  const std::unique_lock guard(mutex_);
  ++changes_;
  if (!state_->opened || has_newer_base()) {
    open_base();
  }
  Status done = bring_up_to_date();
  if (!done && (done.error().code == ErrorCode::E_STORAGE_CORRUPT ||
                done.error().code == ErrorCode::E_CONCURRENT_MOD)) {
    done = scan_all({});
  }
  if (!done) {
    state_->opened = false;  // The table may hold half of what is new: the next begins anew.
  }
  look_ = look;
  return done;
}

Status SessionIndex::rebuild(const Progress& on_progress) {
  const std::unique_lock guard(mutex_);
  ++changes_;
  return scan_all(on_progress);
}

bool SessionIndex::is_open() const { return state_->opened; }

Result<std::shared_lock<std::shared_mutex>> SessionIndex::fresh() {
  while (true) {
    BMAD_TRY(refresh());
    std::shared_lock guard(mutex_);
    if (state_->opened) {
      return guard;
    }
  }
}

void SessionIndex::forget() {
  const std::unique_lock guard(mutex_);
  ++changes_;
  state_ = std::make_unique<State>();
}

/// Whether what is known is of the very file that the logs are packed in. It never changes; another
/// one has another index.
bool SessionIndex::covers_package() const {
  return options_.package != 0 && std::ranges::all_of(state_->covers, [&](const LogCover& cover) {
           return cover.file.inode == options_.package;
         });
}

/// After the logs were read: from now on nobody has to look at them.
void SessionIndex::note_package() {
  if (options_.package == 0) {
    return;
  }
  for (LogCover& cover : state_->covers) {
    cover.file.inode = options_.package;
    cover.mtime_is_telling = true;
  }
}

/// What is at the place of a log. A pipe has no bytes, and would pass for an empty log.
/// Errors: as the file system's; as opening it when it is no regular file.
Result<FileInfo> SessionIndex::log_info(EntryType type) const {
  const std::string path = log_path(options_.session_id, type);
  BMAD_TRY_ASSIGN(const FileInfo info, files_.info(path));
  if (info.kind == FileKind::kRegular) {
    return info;
  }
  BMAD_TRY(files_.open(path, OpenMode::kRead));
  return files_.info(path);  // A log has come back meanwhile.
}

/// The same with its stamp. What is packed has none.
Result<LogLook> SessionIndex::log_look(EntryType type) const {
  BMAD_TRY_ASSIGN(const FileInfo info, log_info(type));
  return options_.package != 0 ? LogLook{.file = info}
                               : with_stamp(files_, options_.session_id, type, info);
}

Result<bool> SessionIndex::has_changed() const {
  if (covers_package()) {
    return false;
  }
  for (const EntryType type : kEntryTypes) {
    BMAD_TRY_ASSIGN(const std::optional<FileInfo> info, if_there(log_info(type)));
    if (compare_log(state_->covers[static_cast<std::size_t>(type)], info) != LogChange::kNone) {
      return true;
    }
  }
  return false;
}

/// Whether another process has put the session into another segment since. What was not in one then
/// may have vectors by now, and the vectors beside one that is used no more have gone.
bool SessionIndex::has_newer_base() const {
  const std::shared_ptr<const Segment> now =
      options_.base_segment ? options_.base_segment() : nullptr;
  return now != nullptr && now != last_base_.lock();
}

/// Begins with what a segment knows, if there is one that holds.
void SessionIndex::open_base() {
  state_ = std::make_unique<State>();
  std::optional<SessionBase> base = options_.base ? options_.base() : std::nullopt;
  last_base_ = base ? base->part->shared_segment() : nullptr;
  if (base && take_base(*std::move(base))) {
    note_package();
  } else {
    state_ = std::make_unique<State>();
  }
  state_->opened = true;
}

/// What ranking asks of each entry goes into the table, in the order of its slots. Times and rows
/// stay in the segment: a question looks at a few.
Status SessionIndex::take_base(SessionBase base) {
  assert(base.part->sessions().size() == 1 && "it is of this session alone");
  IndexedSession& known = *base.part->sessions().front();
  BMAD_TRY(known.load());
  const SlotView slots = known.slots();
  EntryColumns& columns = state_->table.columns;
  columns.reserve(slots.size() + slots.size() / 8);  // What is new comes behind them.
  columns.lengths.assign(slots.lengths.from(0), slots.lengths.from(slots.size()));
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    const bool follows = slots.reach[slot].before > 0;
    columns.flags.push_back((slots.flags[slot] & ~std::uint32_t{kFlagFollows}) |
                            (follows ? kFlagFollows : 0U));
    columns.previous.push_back(follows ? 1 : 0);
    const OddEntry* const odd = (slots.flags[slot] & kFlagOdd) != 0 ? known.odd(slot) : nullptr;
    if (odd != nullptr) {
      columns.odd.emplace(slot, *odd);
    }
  }
  assert(columns.lengths.size() == columns.size() && columns.size() == slots.size());
  BMAD_TRY(base.part->status());
  BMAD_TRY(known.for_statements(
      [&](const StatementRow& row) { state_->table.statements.push_back(row); }));
  state_->table.facts = known.facts();
  state_->covers = base.covers;
  state_->base_bytes = sum_of(base.covers, &LogCover::bytes);
  state_->base = std::move(base.part);
  state_->told = slots.size();
  return {};
}

/// The last message of each conversation of the base, by the ids in their lines.
Result<ConversationEnds> SessionIndex::ends_in_base() const {
  ConversationEnds ends;
  JsonParser parser;
  const std::vector<std::uint32_t>& flags = state_->table.columns.flags;
  assert(state_->base != nullptr && !state_->moved && "ordinals are the slots of the base");
  const Ordinal count = state_->base->shared_segment()->sessions[state_->base->numbers()[0]].count;
  for (Ordinal ordinal = 0; ordinal < count; ++ordinal) {
    const bool is_last = ordinal + 1 == count || (flags[ordinal + 1] & kFlagFollows) == 0;
    if (is_last && flag_type(flags[ordinal]) == EntryType::kConversation) {
      BMAD_TRY_ASSIGN(const LoadedLine found, line(ordinal));
      BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(found.text));
      ends.insert_or_assign(
          std::string(entry_head(EntryType::kConversation, value).conversation_id), ordinal);
    }
  }
  return ends;
}

/// Compares each log with what is covered, and takes in what is new.
Status SessionIndex::bring_up_to_date() {
  if (covers_package()) {
    return {};
  }
  for (const EntryType type : kEntryTypes) {
    LogCover& cover = state_->covers[static_cast<std::size_t>(type)];
    BMAD_TRY_ASSIGN(const std::optional<FileInfo> info, if_there(log_info(type)));
    switch (compare_log(cover, info)) {
      case LogChange::kNone:
        break;
      case LogChange::kOther:
        return scan_changed();
      case LogChange::kGrown:
      case LogChange::kMaybeGrown: {
        if (state_->frozen) {
          return scan_changed();
        }
        BMAD_TRY_ASSIGN(const bool holds, scan_log_from(type, /*verify_prefix=*/true, {}));
        if (!holds) {
          return scan_changed();
        }
        break;
      }
    }
  }
  state_->finish_scans();
  note_package();
  return {};
}

/// Takes the logs in from their beginning, but what the segment knows of a line that is still there
/// somewhere: after a rewrite, an edit or a checkout most of them are, and their texts cost most.
Status SessionIndex::scan_changed() {
  const std::shared_ptr<SegmentPart> base = state_->base;
  if (base == nullptr) {
    return scan_all({});
  }
  state_ = std::make_unique<State>();
  state_->base = base;
  IndexedSession& known = *base->sessions().front();
  BMAD_TRY(known.load());
  const SlotView slots = known.slots();
  BMAD_TRY_ASSIGN(const std::vector<IndexRow> rows, known.rows());
  assert(rows.size() == slots.size() && "a row for each slot");
  state_->moved.emplace(rows.size(), kNoOrdinal);
  struct KnownLine {
    std::uint32_t slot = 0;
    std::uint32_t size = 0;
    KnownText text;
  };
  std::unordered_map<std::uint64_t, KnownLine> lines;
  lines.reserve(rows.size());
  const auto key_of = [](std::uint32_t id_hash, const EntryRow& row) {
    return std::uint64_t{id_hash} << 32U | row.line_hash;
  };
  for (std::uint32_t slot = 0; slot < rows.size(); ++slot) {
    lines.insert_or_assign(
        key_of(rows[slot].id_hash, rows[slot].row),
        KnownLine{.slot = slot,
                  .size = rows[slot].row.size,
                  .text = {.length = slots.lengths[slot], .flags = slots.flags[slot]}});
  }
  state_->known_text = [state = state_.get(), lines = std::move(lines), key_of](
                           std::uint32_t id_hash, const EntryRow& row,
                           Ordinal ordinal) -> std::optional<KnownText> {
    const auto found = lines.find(key_of(id_hash, row));
    if (found == lines.end() || found->second.size != row.size) {
      return std::nullopt;
    }
    (*state->moved)[found->second.slot] = ordinal;
    return found->second.text;
  };
  BMAD_TRY(scan_logs({}));
  state_->known_text = nullptr;  // As large as the session.
  if (state_->builder != nullptr) {
    state_->builder->forget_known_text();
  }
  return {};
}

Status SessionIndex::scan_all(const Progress& on_progress) {
  state_ = std::make_unique<State>();
  return scan_logs(on_progress);
}

Status SessionIndex::scan_logs(const Progress& on_progress) {
  std::uint64_t done = 0;
  for (const EntryType type : kEntryTypes) {
    BMAD_TRY_ASSIGN(const std::optional<FileInfo> info, if_there(log_info(type)));
    if (!info) {
      continue;
    }
    BMAD_TRY(scan_log_from(type, /*verify_prefix=*/false, [&](std::uint64_t bytes) {
      if (on_progress) {
        on_progress(done + bytes);
      }
    }));
    done += state_->covers[static_cast<std::size_t>(type)].bytes;
  }
  state_->finish_scans();
  note_package();
  state_->opened = true;
  return {};
}

/// Takes in the lines of a log behind those that are covered. With `verify_prefix`, if these are
/// still there: whether they are.
Result<bool> SessionIndex::scan_log_from(EntryType type, bool verify_prefix,
                                         const Progress& on_progress) {
  LogCover& cover = state_->covers[static_cast<std::size_t>(type)];
  const std::string path = log_path(options_.session_id, type);
  // As it is before anything is read: what changes from here on is seen at the next look.
  BMAD_TRY_ASSIGN(LogLook look, log_look(type));
  const FileInfo& info = look.file;
  const bool is_old = mtime_is_telling(look.file, clock_.now());
  const LogChange change = compare_log(cover, look);
  cover.was_hashed = verify_prefix && cover.bytes > 0 && change == LogChange::kMaybeGrown;
  bool prefix_holds = change != LogChange::kOther || !verify_prefix;
  if (cover.was_hashed) {
    BMAD_TRY_ASSIGN(prefix_holds, has_prefix(files_, path, cover.bytes, cover.hash));
  }
  if (!prefix_holds) {
    return false;
  }
  LineHash hash(cover.hash);
  bool has_more = false;
  if (info.size > cover.bytes) {
    BMAD_TRY(prepare_growth());
    if (info.size - cover.bytes >= options_.word_thread_size && core_count() > 1 &&
        !state_->moved) {  // Else most words are known.
      state_->builder->start_word_thread();
    }
    JsonParser parser;
    Status failed;
    const auto take_by = [&](Status (SessionTableBuilder::*add)(const ScannedEntry&)) {
      return [&, add](const ScannedEntry& entry) {
        if (failed) {
          failed = (*state_->builder.*add)(entry);
        }
      };
    };
    BMAD_TRY_ASSIGN(const LogScan scan,
                    scan_log(files_, path, type, parser,
                             {.on_entry = take_by(&SessionTableBuilder::add),
                              .on_encrypted = take_by(&SessionTableBuilder::add_encrypted),
                              .on_progress = on_progress},
                             {.offset = cover.bytes, .line = cover.lines + 1, .hash = &hash}));
    BMAD_TRY(std::move(failed));
    assert(scan.torn_line > 0 && "lines count from 1");
    has_more = scan.whole_end > cover.bytes;
    cover.encrypted += scan.encrypted;
    cover.bytes = scan.whole_end;
    cover.lines = scan.torn_line - 1;
    // Without the hash of a line that is too long to keep nothing can be compared: so it must
    // differ next time.
    cover.hash = scan.hashed ? hash.value() : ~hash.value();
    state_->forget_derived();
  }
  // What was appended since the look is of no state that a stamp spoke of.
  if (cover.bytes > info.size) {
    look.chain = 0;
  }
  cover.chain = look.chain != 0 || has_more ? look.chain : cover.chain;
  cover.file = info;
  // The time in a stamp tells at once, but for an edit whose time is put back: that changes ctime.
  cover.file.ctime_ns = is_old ? 0 : info.ctime_ns;
  cover.mtime_is_telling = is_old || look.chain != 0;
  cover.has_tail = false;
  return true;
}

/// Gets ready to add entries.
Status SessionIndex::prepare_growth() {
  assert(!state_->frozen && "a frozen table takes nothing more");
  if (!state_->analyzer) {
    BMAD_TRY_ASSIGN(Analyzer analyzer, Analyzer::create(options_.language));
    state_->analyzer.emplace(std::move(analyzer));
  }
  if (state_->builder != nullptr) {
    return {};
  }
  const auto id_of = [this](Ordinal ordinal) {
    return id(flag_type(state_->table.columns.flags[ordinal]), ordinal);
  };
  const auto with_hash = [this](std::uint32_t hash) -> Result<std::vector<Ordinal>> {
    BMAD_TRY_ASSIGN(const auto found, state_->base->part_candidates(hash));
    std::vector<Ordinal> ordinals;
    for (const IndexPart::PartEntry& each : found) {
      ordinals.push_back(each.ordinal);
    }
    return ordinals;
  };
  state_->builder = std::make_unique<SessionTableBuilder>(
      state_->table, *state_->analyzer,
      SessionTableBuilder::Known{.id_of = id_of,
                                 .with_hash = with_hash,
                                 .ends = [this] { return ends_in_base(); },
                                 .text = state_->known_text});
  return {};
}

}  // namespace bmad_mem
