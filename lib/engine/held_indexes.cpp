#include "held_indexes.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

#include "core/parallel.hpp"
#include "packed_session.hpp"
#include "past_files.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {

Result<std::optional<CheckpointReport>> write_new_checkpoint(const IndexingConfig& config,
                                                             SessionIndex& index) {
  if (config.update_strategy == "full") {
    BMAD_TRY(index.rebuild());
  }
  return index.write_checkpoint();
}

namespace {

/// Collects the indexes that a filter asks for.
class IndexChoice {
 public:
  IndexChoice(const Store& store, const EntryFilter& filter, EvictedEntries evicted)
      : store_(store),
        filter_(filter),
        has_live_(filter.archived != ArchivedSessions::kOnly),
        has_packed_(filter.archived != ArchivedSessions::kWithout),
        has_evicted_(has_packed_ && evicted == EvictedEntries::kWith) {}

  Result<ChosenIndexes> run() {
    if (const Result<FileInfo> folder = store_.files->info(kArchiveFolder)) {
      chosen_.folder = *folder;
    }
    chosen_.is_only_one = filter_.sessions.size() == 1;
    chosen_.is_past = filter_.as_of.has_value();
    if (filter_.sessions.empty()) {
      BMAD_TRY(add_all());
    } else {
      BMAD_TRY(add_named());
    }
    if (has_evicted_) {
      for (const std::string& id : chosen_.evicted) {
        BMAD_TRY(add_packed(id, PackedKind::kEvicted));
      }
    }
    return std::move(chosen_);
  }

 private:
  Status add_all() {
    BMAD_TRY_ASSIGN(PresentSessions present, present_sessions(store_));
    chosen_.evicted = std::move(present.evicted);
    for (const std::string& id : present.live) {
      BMAD_TRY(add_live(id));
    }
    for (const std::string& id : present.packed) {
      BMAD_TRY(has_packed_ ? add_packed(id, PackedKind::kArchive) : Status());
    }
    return {};
  }

  Status add_named() {
    const std::set<std::string_view> ids(filter_.sessions.begin(), filter_.sessions.end());
    for (const std::string_view each : ids) {  // `session:a session:a`
      const std::string id(each);
      Status there = check_session(store_, id);
      if (there) {
        BMAD_TRY(add_live(id));
      } else if (has_packed_ && there.error().code == ErrorCode::E_SESSION_ARCHIVED) {
        BMAD_TRY(add_packed(id, PackedKind::kArchive));
      } else {
        return there;
      }
    }
    BMAD_TRY_ASSIGN(chosen_.evicted, evicted_sessions(store_, filter_.sessions));
    return {};
  }

  Status add_live(const std::string& id) {
    if (has_live_ && (chosen_.is_only_one || !store_.is_left_out(id))) {
      BMAD_TRY_ASSIGN(std::shared_ptr<SessionIndex> index,
                      filter_.as_of ? past_index(store_, {.session_id = id}, *filter_.as_of)
                                    : store_.index(id));
      chosen_.indexes.push_back(std::move(index));
      chosen_.live.push_back(id);
    }
    return {};
  }

  Status add_packed(const std::string& id, PackedKind kind) {
    BMAD_TRY_ASSIGN(const Packed packed, packed_session(store_, id, kind));
    if (packed != nullptr) {
      BMAD_TRY_ASSIGN(std::shared_ptr<SessionIndex> index,
                      filter_.as_of
                          ? past_index(store_, {.session_id = id, .packed = packed}, *filter_.as_of)
                          : index_of(packed));
      chosen_.indexes.push_back(std::move(index));
      chosen_.packed.push_back(packed);
    }
    return {};
  }

  const Store& store_;
  const EntryFilter& filter_;
  bool has_live_;
  bool has_packed_;
  bool has_evicted_;
  ChosenIndexes chosen_;
};

}  // namespace

Result<ChosenIndexes> chosen_indexes(const Store& store, const EntryFilter& filter,
                                     EvictedEntries evicted) {
  return IndexChoice(store, filter, evicted).run();
}

Status check_still_there(const Store& store, const EntryFilter& filter,
                         const ChosenIndexes& chosen) {
  for (const std::string& session_id : chosen.live) {
    BMAD_TRY(check_still_there(store, session_id));
  }
  for (const Packed& packed : chosen.packed) {
    BMAD_TRY(packed->check_still_there());
  }
  const Result<FileInfo> folder = store.files->info(kArchiveFolder);
  if (!folder || (chosen.folder && chosen.folder->same_file(*folder) &&
                  chosen.folder->mtime_ns == folder->mtime_ns)) {
    return {};
  }
  // Compaction may have moved entries where nobody looked for them.
  BMAD_TRY_ASSIGN(const std::vector<std::string> evicted, evicted_sessions(store, filter.sessions));
  for (const std::string& id : evicted) {
    if (!std::ranges::binary_search(chosen.evicted, id) &&
        std::ranges::find(chosen.live, id) != chosen.live.end()) {
      return Error{.code = ErrorCode::E_STORAGE_IO,
                   .message = "entries were evicted meanwhile",
                   .path = store.files->display_path(evicted_path(id)),
                   .os_error = ENOENT};
    }
  }
  return {};
}

HeldIndexes::HeldIndexes(const Store& store, const ChosenIndexes& chosen)
    : store_(store),
      is_only_one_(chosen.is_only_one),
      owned_(chosen.indexes),
      packed_(chosen.is_past ? std::vector<Packed>() : chosen.packed) {
  for (const std::shared_ptr<SessionIndex>& index : owned_) {
    indexes_.push_back(index.get());
  }
  sessions_.assign(indexes_.begin(), indexes_.end());
}

/// Errors: as SessionIndex::refresh(), the first in the order of the sessions.
Status HeldIndexes::hold() {
  locks_.clear();
  std::vector<Status> done(indexes_.size());
  for_each_parallel(indexes_.size(), [&](std::size_t i) { done[i] = indexes_[i]->refresh(); });
  const std::vector<SessionIndex*> all = indexes_;
  for (std::size_t i = 0; i < all.size(); ++i) {
    BMAD_TRY(done[i] ? Status() : drop(*all[i], std::move(done[i]).error()));
  }
  for (SessionIndex* session : indexes_) {
    locks_.push_back(session->lock());
  }
  return hide_what_came_back();
}

/// An entry that was evicted and is in its session again, as the one that was pinned, counts there.
Status HeldIndexes::hide_what_came_back() {
  for (const Packed& packed : packed_) {
    if (packed->kind() != PackedKind::kEvicted) {
      continue;
    }
    SessionIndex* session = nullptr;
    for (SessionIndex* each : indexes_) {
      session = !each->is_evicted() && each->session_id() == packed->session_id() ? each : session;
    }
    std::shared_ptr<SessionIndex> other;  // Only what is archived was asked for.
    if (session == nullptr) {
      other = store_.index(packed->session_id());
      if (Status fresh = other->refresh(); !fresh) {
        BMAD_TRY(store_.leave_out(packed->session_id(), std::move(fresh).error()));
        continue;  // What came back can't be known.
      }
      locks_.push_back(other->lock());
      owned_.push_back(other);
      session = other.get();
    }
    BMAD_TRY(in_session(packed->index(), packed->index().hide_those_in(*session)));
  }
  return {};
}

void HeldIndexes::write_checkpoints() {
  locks_.clear();
  const IndexingConfig& config = store_.config.indexing;
  if (!config.enabled) {
    return;
  }
  const auto entries_max = static_cast<std::uint64_t>(config.rebuild_threshold_writes);
  std::vector<Packed> packed = packed_;
  std::erase_if(packed, [](const Packed& each) { return !each->wants_index(); });
  for_each_parallel(indexes_.size(), [&](std::size_t i) {
    const bool is_packed = indexes_[i]->is_archived() || indexes_[i]->is_evicted();
    if (!is_packed && indexes_[i]->has_checkpoint_file() &&
        indexes_[i]->wants_checkpoint(entries_max)) {
      static_cast<void>(write_new_checkpoint(config, *indexes_[i]));
    }
  });
  for (const Packed& each : packed) {
    // One at a time: others that want the lock get their turn.
    const Result<FileLock::Guard> guard = store_.lock_root("index", std::chrono::milliseconds(0));
    if (!guard || !each->write_index()) {
      return;  // Another time.
    }
  }
}

bool HeldIndexes::is_about_an_index(const Error& error) {
  return error.code == ErrorCode::E_STORAGE_CORRUPT || error.code == ErrorCode::E_CONCURRENT_MOD;
}

SessionIndex* HeldIndexes::named(std::string_view name) {
  const auto found = std::ranges::find_if(
      indexes_, [&](const SessionIndex* index) { return index->name() == name; });
  return found == indexes_.end() ? nullptr : *found;
}

/// Goes on without a session. Errors: `error` when that is no answer to it.
Status HeldIndexes::drop(SessionIndex& session, Error error) {
  if (is_only_one_ || session.is_archived() || session.is_evicted()) {
    return error;
  }
  BMAD_TRY(store_.leave_out(session.session_id(), std::move(error)));
  std::erase(indexes_, &session);
  std::erase(sessions_, static_cast<IndexedSession*>(&session));
  return {};
}

namespace {

std::shared_ptr<SessionIndex> new_index(const Store& store, const std::string& session_id) {
  return std::make_shared<SessionIndex>(
      *store.files, store.clock,
      SessionIndex::Options{.session_id = session_id,
                            .language = store.config.indexing.language,
                            .use_checkpoint = store.config.indexing.enabled,
                            .cache_size = store.config.index_cache_size_bytes()});
}

}  // namespace

std::shared_ptr<SessionIndex> Store::index(const std::string& session_id) const {
  const std::lock_guard guard(indexes_mutex);
  std::shared_ptr<SessionIndex>& slot = indexes[session_id];
  if (slot == nullptr) {
    slot = new_index(*this, session_id);
  }
  return slot;
}

std::shared_ptr<SessionIndex> Store::passing_index(const std::string& session_id) const {
  const std::lock_guard guard(indexes_mutex);
  const auto known = indexes.find(session_id);
  return known == indexes.end() ? new_index(*this, session_id) : known->second;
}

}  // namespace bmad_mem
