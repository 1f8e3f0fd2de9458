#include "held_indexes.hpp"

#include <algorithm>
#include <set>

#include "core/parallel.hpp"
#include "packed_session.hpp"

namespace bmad_mem {

Result<std::optional<CheckpointReport>> write_new_checkpoint(const IndexingConfig& config,
                                                             SessionIndex& index) {
  if (config.update_strategy == "full") {
    BMAD_TRY(index.rebuild());
  }
  return index.write_checkpoint();
}

Result<ChosenIndexes> chosen_indexes(const Store& store, const EntryFilter& filter) {
  ChosenIndexes chosen;
  const PackedKind kind = filter.archived ? PackedKind::kArchive : PackedKind::kKept;
  const auto add_live = [&](const std::string& id) {
    chosen.indexes.push_back(store.index(id));
    chosen.live.push_back(id);
  };
  const auto add_packed = [&](const std::string& id) -> Status {
    BMAD_TRY_ASSIGN(auto index, packed_index(store, id, kind));
    chosen.indexes.push_back(std::move(index));
    return {};
  };
  if (filter.sessions.empty()) {
    BMAD_TRY_ASSIGN(const PresentSessions present, present_sessions(store, kind));
    std::ranges::for_each(present.live, add_live);
    for (const std::string& id : present.packed) {
      BMAD_TRY(add_packed(id));
    }
    return chosen;
  }
  std::set<std::string_view> known;
  for (const std::string& id : filter.sessions) {
    if (!known.insert(id).second) {
      continue;  // `session:a session:a`
    }
    Status there = check_session(store, id);
    if (there) {
      add_live(id);
    } else if (filter.archived && there.error().code == ErrorCode::E_SESSION_ARCHIVED) {
      BMAD_TRY(add_packed(id));
    } else {
      return std::move(there).error();
    }
  }
  return chosen;
}

HeldIndexes::HeldIndexes(const Store& store, std::vector<std::shared_ptr<SessionIndex>> indexes)
    : store_(store), owned_(std::move(indexes)) {
  for (const std::shared_ptr<SessionIndex>& index : owned_) {
    sessions_.push_back(index.get());
  }
}

/// Errors: as SessionIndex::refresh(), the first in the order of the sessions.
Status HeldIndexes::hold() {
  locks_.clear();
  std::vector<Status> done(sessions_.size());
  for_each_parallel(sessions_.size(), [&](std::size_t i) { done[i] = sessions_[i]->refresh(); });
  for (Status& each : done) {
    BMAD_TRY(std::move(each));
  }
  for (SessionIndex* session : sessions_) {
    locks_.push_back(session->lock());
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
  for_each_parallel(sessions_.size(), [&](std::size_t i) {
    if (sessions_[i]->has_checkpoint_file() && sessions_[i]->wants_checkpoint(entries_max)) {
      static_cast<void>(write_new_checkpoint(config, *sessions_[i]));
    }
  });
}

bool HeldIndexes::is_about_an_index(const Error& error) {
  return error.code == ErrorCode::E_STORAGE_CORRUPT || error.code == ErrorCode::E_CONCURRENT_MOD;
}

SessionIndex& HeldIndexes::named(std::string_view session_id) {
  const auto found = std::ranges::find(sessions_, session_id, &SessionIndex::session_id);
  return found == sessions_.end() ? *sessions_.front() : **found;
}

std::shared_ptr<SessionIndex> Store::index(const std::string& session_id) const {
  const std::lock_guard guard(indexes_mutex);
  std::shared_ptr<SessionIndex>& slot = indexes[session_id];
  if (slot == nullptr) {
    slot = std::make_shared<SessionIndex>(
        *files, clock,
        SessionIndex::Options{.session_id = session_id,
                              .language = config.indexing.language,
                              .use_checkpoint = config.indexing.enabled,
                              .cache_size = config.index_cache_size_bytes()});
  }
  return slot;
}

}  // namespace bmad_mem
