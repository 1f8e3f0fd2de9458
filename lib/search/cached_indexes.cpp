// cached_indexes.cpp - chooses, refreshes and locks the indexes that a question is asked of.
#include "search/cached_indexes.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <iterator>

#include "base/parallel.hpp"
#include "encoder/encoder_choice.hpp"
#include "search/archive_reader.hpp"
#include "search/session_sources.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {

namespace {

Result<std::vector<RootIndex::Candidate>> asked_candidates(const Store& store,
                                                           const EntryFilter& filter,
                                                           EvictedParts& evicted) {
  BMAD_TRY_ASSIGN(PresentSessions asked, asked_sessions(store, filter.sessions, filter.archived,
                                                        /*with_remains=*/true));
  evicted = std::move(asked.evicted);
  if (!filter.sessions.empty()) {
    BMAD_TRY_ASSIGN(evicted, evicted_sessions(store, filter.sessions));
  }
  std::vector<RootIndex::Candidate> candidates;
  for (std::string& id : asked.live) {
    candidates.push_back({.id = std::move(id)});
  }
  for (std::string& id : asked.packed) {
    candidates.push_back({.id = std::move(id), .archived = true});
  }
  return candidates;
}

std::shared_ptr<SessionIndex> new_index(const Store& store, const std::string& session_id) {
  return std::make_shared<SessionIndex>(*store.files, store.clock,
                                        based_options(store, session_id));
}

}  // namespace

Result<ChosenIndexes> chosen_indexes(const Store& store, const EntryFilter& filter,
                                     EvictedEntries evicted) {
  ChosenIndexes chosen{.folder = look_at(store, kArchiveFolder),
                       .is_only_one = filter.sessions.size() == 1,
                       .is_past = filter.as_of.has_value()};
  const bool has_evicted =
      filter.archived != ArchivedSessions::kWithout && evicted == EvictedEntries::kWith;
  BMAD_TRY_ASSIGN(std::vector<RootIndex::Candidate> candidates,
                  asked_candidates(store, filter, chosen.evicted));
  if (!filter.as_of) {
    // What was evicted and came back counts in its session, by the index that tells which it is.
    const auto apart =
        std::ranges::stable_partition(candidates, [&](const RootIndex::Candidate& each) {
          return !has_evicted || !chosen.evicted.contains(each.id);
        });
    const std::span all(candidates.begin(), apart.begin());
    chosen.parts = store.root_index->sweep(all);
    if (store.root_index->flush_in_turns(all)) {
      chosen.parts = store.root_index->sweep(all);
    }
  }
  const auto add = [&](const SessionSource& source) -> Status {
    std::shared_ptr<SessionIndex> index;
    if (filter.as_of) {
      BMAD_TRY_ASSIGN(index, past_index(store, source, *filter.as_of));
    } else {
      index = source.packed == nullptr ? session_index(store, source.session_id)
                                       : index_of(source.packed);
    }
    chosen.indexes.push_back(std::move(index));
    return {};
  };
  const auto add_archive = [&](const std::string& id, const ArchivePlace& place) -> Status {
    BMAD_TRY_ASSIGN(const ArchiveReaderPtr packed, archive_reader(store, id, place));
    if (packed != nullptr) {
      BMAD_TRY(add({.session_id = id, .packed = packed}));
      chosen.packed.push_back(packed);
    }
    return {};
  };
  // What the index of the memory covers is in its parts; each of the others has its own.
  for (const RootIndex::Candidate& each : candidates) {
    if (each.is_covered && each.encrypted > 0) {
      chosen.encrypted.emplace(each.id, each.encrypted);
    }
    if (each.is_covered) {
      continue;
    }
    if (each.archived) {
      BMAD_TRY(add_archive(each.id, {}));
      continue;
    }
    BMAD_TRY_ASSIGN(const bool is_gone, has_gone(store, each.id));
    if (!is_gone) {
      const std::optional<FileInfo> folder = look_at(store, session_folder(each.id));
      if (folder && folder->kind != FileKind::kDirectory) {
        store.files->close_cached();  // Its logs would be read where they were.
      }
      chosen.live.push_back({.session_id = each.id, .folder = folder, .archives = chosen.folder});
      BMAD_TRY(add({.session_id = each.id}));
    }
  }
  for (const auto& [id, count] : has_evicted ? chosen.evicted : EvictedParts()) {
    for (std::uint32_t part = count; part > 0; --part) {
      BMAD_TRY(add_archive(id, {.part = part}));
    }
  }
  return chosen;
}

Status check_still_there(const Store& store, const EntryFilter& filter,
                         const ChosenIndexes& chosen) {
  for (const SeenFolder& seen : chosen.live) {
    BMAD_TRY(check_still_there(store, seen));
  }
  for (const ArchiveReaderPtr& packed : chosen.packed) {
    BMAD_TRY(packed->check_still_there());
  }
  const Result<FileInfo> folder = store.files->info(kArchiveFolder);
  if (!folder || (chosen.folder && chosen.folder->same_file(*folder) &&
                  chosen.folder->mtime_ns == folder->mtime_ns)) {
    return {};
  }
  // Compaction may have moved entries where nobody looked for them.
  BMAD_TRY_ASSIGN(const EvictedParts evicted, evicted_sessions(store, filter.sessions));
  const auto is_asked = [&](const std::string& id) {
    return std::ranges::find(chosen.live, id, &SeenFolder::session_id) != chosen.live.end() ||
           std::ranges::any_of(chosen.parts, [&](const std::shared_ptr<SegmentPart>& part) {
             return std::ranges::any_of(part->sessions(), [&](const auto& session) {
               return !session->is_archived() && session->session_id() == id;
             });
           });
  };
  for (const auto& [id, count] : evicted) {
    const auto known = chosen.evicted.find(id);
    if ((known == chosen.evicted.end() || known->second != count) && is_asked(id)) {
      return path_error(ErrorCode::E_STORAGE_IO, store.files->display_path(evicted_path(id, count)),
                        "entries were evicted meanwhile", ENOENT);
    }
  }
  return {};
}

void flush_index(const Store& store, FlushWhen when) {
  Result<ChosenIndexes> chosen = chosen_indexes(store, {});
  if (!chosen || !store.config.indexing.enabled) {
    return;
  }
  CachedIndexes indexes(store, *std::move(chosen));
  if (indexes.run([]() -> Status { return {}; })) {
    indexes.flush(when);
  }
}

CachedIndexes::CachedIndexes(const Store& store, ChosenIndexes chosen)
    : store_(store), chosen_(std::move(chosen)) {
  std::ranges::transform(chosen_.indexes, std::back_inserter(indexes_),
                         &std::shared_ptr<SessionIndex>::get);
}

/// Those of a part side by side.
void CachedIndexes::list_sessions() {
  sessions_.clear();
  for (const std::shared_ptr<SegmentPart>& part : chosen_.parts) {
    std::ranges::transform(part->sessions(), std::back_inserter(sessions_),
                           &std::unique_ptr<IndexedSession>::get);
  }
  sessions_.insert(sessions_.end(), indexes_.begin(), indexes_.end());
  for (IndexedSession* const session : sessions_) {
    session->past_retention = &store_.past_retention;
  }
}

CachedIndexes::EncryptedSessionLines CachedIndexes::with_encrypted_lines() const {
  EncryptedSessionLines found;
  for (const std::shared_ptr<SegmentPart>& part : chosen_.parts) {
    for (const std::unique_ptr<IndexedSession>& session : part->sessions()) {
      const auto its = chosen_.encrypted.find(session->session_id());
      if (its != chosen_.encrypted.end()) {
        found.emplace_back(session.get(), its->second);
      }
    }
  }
  for (SessionIndex* const index : indexes_) {
    if (const std::uint64_t count = index->encrypted_lines(); count > 0) {
      found.emplace_back(index, count);
    }
  }
  return found;
}

std::uint64_t CachedIndexes::encrypted_lines() const {
  std::uint64_t count = 0;
  for (const auto& [session, lines] : with_encrypted_lines()) {
    count += lines;
  }
  return count;
}

/// Goes on without what of the index of the memory is called `field`: a session, or a segment by
/// its path. From now on its sessions have indexes of their own. Whether there is one.
Result<bool> CachedIndexes::leave_parts(const std::string& field) {
  locks_.clear();
  bool is_here = store_.root_index->leave(field, indexes_);
  for (std::shared_ptr<SegmentPart>& part : chosen_.parts) {
    const std::shared_ptr<SegmentPart> all = part;
    const bool is_whole = all->path() == field;
    bool is_named = is_whole;
    if (is_whole) {
      store_.root_index->distrust(field);
    }
    for (const std::unique_ptr<IndexedSession>& session : all->sessions()) {
      if (is_whole || session->session_id() == field) {
        is_named = true;
        BMAD_TRY(add_index(*session));
      }
    }
    if (is_named) {
      part = is_whole ? nullptr : store_.root_index->only(all, [&](const std::string& session_id) {
        return session_id != field;
      });
      kept_.push_back(all);  // Somebody may hold what it said.
      std::erase(chosen_.parts, nullptr);
      is_here = true;
      break;
    }
  }
  return is_here;
}

Status CachedIndexes::add_index(const IndexedSession& session) {
  if (!session.is_archived()) {
    left_.push_back(see_folder(store_, session.session_id()));
    chosen_.indexes.push_back(session_index(store_, session.session_id()));
  } else {
    BMAD_TRY_ASSIGN(const ArchiveReaderPtr packed, archive_reader(store_, session.session_id()));
    if (packed == nullptr) {
      return {};
    }
    chosen_.indexes.push_back(index_of(packed));
    chosen_.packed.push_back(packed);
  }
  indexes_.push_back(chosen_.indexes.back().get());
  return {};
}

/// Errors: as check_still_there(): what looked empty may have been on its way.
Status CachedIndexes::check_those_that_left() const {
  for (const SeenFolder& seen : left_) {
    BMAD_TRY(check_still_there(store_, seen));
  }
  return {};
}

/// Errors: as SessionIndex::refresh(), the first in the order of the sessions.
Status CachedIndexes::hold() {
  do {
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
    assert(locks_.size() == indexes_.size());
    // Another thread may flush one before it is held: then it has forgotten all.
  } while (!std::ranges::all_of(indexes_, &SessionIndex::is_open));
  list_sessions();
  return {};
}

std::vector<SessionIndex*> newer_than(const SessionIndex& evicted,
                                      std::span<SessionIndex* const> indexes) {
  assert(evicted.is_evicted());
  std::vector<SessionIndex*> newer;
  std::ranges::copy_if(indexes, std::back_inserter(newer), [&](const SessionIndex* each) {
    return each->session_id() == evicted.session_id() &&
           (!each->is_evicted() || each->evicted_part() > evicted.evicted_part());
  });
  return newer;
}

/// An entry that was evicted and is in its session again, as the one that was pinned, counts there,
/// and one that was evicted twice in the newest part.
Status CachedIndexes::hide_what_came_back() {
  for (const ArchiveReaderPtr& packed : chosen_.packed) {
    if (chosen_.is_past || !packed->place().is_evicted()) {
      continue;
    }
    std::vector<SessionIndex*> newer = newer_than(packed->index(), indexes_);
    std::shared_ptr<SessionIndex> other;  // Only what is archived was asked for.
    if (std::ranges::all_of(newer, &SessionIndex::is_evicted)) {
      other = session_index(store_, packed->session_id());
      Result<std::shared_lock<std::shared_mutex>> fresh = other->fresh();
      if (!fresh) {
        BMAD_TRY(store_.leave_out(packed->session_id(), std::move(fresh).error()));
        continue;  // What came back can't be known.
      }
      locks_.push_back(*std::move(fresh));
      chosen_.indexes.push_back(other);
      newer.push_back(other.get());
    }
    Status hidden = packed->index().hide_those_in(newer);
    if (!hidden && other != nullptr && hidden.error().field == other->name()) {
      BMAD_TRY(store_.leave_out(packed->session_id(), std::move(hidden).error()));
    } else if (!hidden) {
      return in_session(packed->index(), std::move(hidden));
    }
  }
  return {};
}

void CachedIndexes::flush(FlushWhen when) {
  locks_.clear();
  if (!store_.config.indexing.enabled) {
    return;
  }
  if (store_.indexes_at_the_end) {
    // What took a hash is to be remembered.
    const bool is_known = std::ranges::none_of(chosen_.indexes, [](const auto& index) {
      const auto guard = index->lock();
      return std::ranges::any_of(index->covers(), &LogCover::was_hashed);
    });
    store_.is_index_due = store_.is_index_due || store_.root_index->is_much(chosen_.indexes);
    store_.needs_index = store_.needs_index || store_.is_index_due || !is_known ||
                         (!indexes_.empty() && may_have_encoder(store_));
    return;
  }
  if (!chosen_.is_past) {
    std::vector<std::shared_ptr<SessionIndex>> uncovered = chosen_.indexes;
    std::ranges::sort(uncovered, {}, &SessionIndex::name);
    const auto same = std::ranges::unique(uncovered, {}, &SessionIndex::name);
    uncovered.erase(same.begin(), same.end());
    store_.root_index->flush(uncovered, when);
  }
  for (const ArchiveReaderPtr& each : chosen_.packed) {
    if (chosen_.is_past || !each->wants_known()) {
      continue;
    }
    // One at a time: others that want the lock get their turn.
    const Result<FileLock::Guard> guard = store_.lock_root("index", std::chrono::milliseconds(0));
    if (!guard || !each->write_known()) {
      return;  // Another time.
    }
  }
}

bool CachedIndexes::is_about_an_index(const Error& error) {
  return error.code == ErrorCode::E_STORAGE_CORRUPT || error.code == ErrorCode::E_CONCURRENT_MOD;
}

bool CachedIndexes::is_of_this_memory(const Error& error) const {
  return error.path.empty() || error.path.starts_with(store_.files->display_path("") + "/");
}

SessionIndex* CachedIndexes::named(std::string_view name) {
  const auto found = std::ranges::find_if(
      indexes_, [&](const SessionIndex* index) { return index->name() == name; });
  return found == indexes_.end() ? nullptr : *found;
}

/// Goes on without a session. Errors: `error` when that is no answer to it.
Status CachedIndexes::drop(SessionIndex& session, Error error) {
  if (chosen_.is_only_one || session.is_archived() || session.is_evicted()) {
    return error;
  }
  BMAD_TRY(store_.leave_out(session.session_id(), std::move(error)));
  std::erase(indexes_, &session);
  return {};
}

std::shared_ptr<SessionIndex> session_index(const Store& store, const std::string& session_id) {
  const std::lock_guard guard(store.indexes_mutex);
  std::shared_ptr<SessionIndex>& slot = store.indexes[session_id];
  if (slot == nullptr) {
    slot = new_index(store, session_id);
  }
  return slot;
}

bool has_index(const Store& store, const std::string& session_id) {
  std::shared_ptr<SessionIndex> index;
  {
    const std::lock_guard guard(store.indexes_mutex);
    const auto known = store.indexes.find(session_id);
    index = known == store.indexes.end() ? nullptr : known->second;
  }
  if (index == nullptr) {
    return false;
  }
  const auto guard = index->lock();
  return index->is_open();
}

std::shared_ptr<SessionIndex> passing_index(const Store& store, const std::string& session_id) {
  const std::lock_guard guard(store.indexes_mutex);
  const auto known = store.indexes.find(session_id);
  return known == store.indexes.end() ? new_index(store, session_id) : known->second;
}

const Store& store_of(const Store& store, std::span<const std::string> sessions) {
  if (sessions.empty() || store.user_root.empty()) {
    return store;
  }
  const auto has = [](const Store& there, const std::string& id) {
    const Status known = check_session(there, id);
    return known || known.error().code == ErrorCode::E_SESSION_ARCHIVED;
  };
  if (std::ranges::any_of(sessions, [&](const std::string& id) { return has(store, id); })) {
    return store;
  }
  const Store* const user = store.user_store();
  const bool are_there =
      user != nullptr &&
      std::ranges::all_of(sessions, [&](const std::string& id) { return has(*user, id); });
  return are_there ? *user : store;
}

}  // namespace bmad_mem
