// indexing.cpp - when indexes are written: by appends that made a tail long, and on demand.
#include <algorithm>
#include <chrono>

#include "held_indexes.hpp"
#include "storage/layout.hpp"
#include "store.hpp"

namespace bmad_mem {

Result<std::vector<IndexReport>> rebuild_indexes(const Store& store,
                                                 std::span<const std::string> wanted,
                                                 const MemoryManager::Progress& on_progress) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.selected_sessions(wanted));
  std::uint64_t total = 0;
  for (const std::string& session_id : sessions) {
    const Result<SessionFootprint> footprint =
        session_footprint(*store.files, session_id, log_files());
    total += footprint ? footprint->size : 0;
  }
  if (wanted.empty()) {
    BMAD_TRY(store.root_index->clear());
  } else {
    BMAD_TRY(store.root_index->remove(sessions));
  }
  std::vector<IndexReport> reports;
  std::uint64_t done = 0;
  for (const std::string& session_id : sessions) {
    const auto begin = std::chrono::steady_clock::now();
    Result<Manifest> manifest = load_manifest(*store.files, session_id);
    if (!manifest && manifest.error().code == ErrorCode::E_NEWER_VERSION) {
      BMAD_TRY(wanted.size() == 1 ? Status(std::move(manifest).error())
                                  : store.leave_out(session_id, std::move(manifest).error()));
      continue;
    }
    const std::shared_ptr<SessionIndex> index = store.passing_index(session_id);
    Status rebuilt = index->rebuild([&](std::uint64_t bytes) {
      if (on_progress) {
        on_progress(std::min(done + bytes, total), total);
      }
    });
    if (!rebuilt) {
      BMAD_TRY(wanted.size() == 1 ? std::move(rebuilt)
                                  : store.leave_out(session_id, std::move(rebuilt).error()));
      continue;
    }
    BMAD_TRY_ASSIGN(const std::optional<CheckpointReport> written, index->write_checkpoint());
    if (!written) {
      continue;  // Another process is writing it at this moment, from the same logs.
    }
    done += written->log_bytes;
    reports.push_back({.session_id = session_id,
                       .entries = written->entries,
                       .terms = written->terms,
                       .log_bytes = written->log_bytes,
                       .index_bytes = written->index_bytes,
                       .took = std::chrono::steady_clock::now() - begin});
  }
  seal_index(store, true);
  if (on_progress) {
    on_progress(total, total);
  }
  return reports;
}

void refresh_index(Store& store, const std::string& session_id) {
  if (!store.config.indexing.enabled || !check_session(store, session_id)) {
    return;
  }
  const std::shared_ptr<SessionIndex> index = store.passing_index(session_id);
  if (index->refresh()) {
    store.root_index->seal({&index, 1});
  }
}

}  // namespace bmad_mem
