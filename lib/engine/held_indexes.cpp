#include "held_indexes.hpp"

#include <algorithm>
#include <set>

#include "core/parallel.hpp"

namespace bmad_mem {

Result<std::optional<CheckpointReport>> write_new_checkpoint(const IndexingConfig& config,
                                                             SessionIndex& index) {
  if (config.update_strategy == "full") {
    BMAD_TRY(index.rebuild());
  }
  return index.write_checkpoint();
}

HeldIndexes::HeldIndexes(const Store& store, std::span<const std::string> session_ids)
    : store_(store) {
  std::set<std::string_view> known;
  for (const std::string& id : session_ids) {
    if (known.insert(id).second) {  // `session:a session:a`
      owned_.push_back(store.index(id));
      sessions_.push_back(owned_.back().get());
    }
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
    if (sessions_[i]->wants_checkpoint(entries_max)) {
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
