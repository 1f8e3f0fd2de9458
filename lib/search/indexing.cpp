// indexing.cpp - rebuilds indexes, encodes entries, and writes index.json.
#include "search/indexing.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>

#include <fmt/format.h>

#include "encoder/encoder_choice.hpp"
#include "encoder/packed_vectors.hpp"
#include "search/cached_indexes.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<IndexAge> index_age(const Store& store) {
  IndexAge age{.enabled = store.config.indexing.enabled};
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.session_ids());
  age.sessions = sessions.size();
  age.exists = store.files->info(kIndexCurrentFile).has_value();
  std::vector<RootIndex::Candidate> candidates;
  candidates.reserve(sessions.size());
  for (const std::string& session_id : sessions) {
    candidates.push_back({.id = session_id});
  }
  static_cast<void>(store.root_index->sweep(candidates));
  age.behind = static_cast<std::uint64_t>(
      std::ranges::count(candidates, false, &RootIndex::Candidate::is_covered));
  return age;
}

namespace {

Result<std::shared_ptr<TextEncoder>> encoder_at_hand(const Store& store,
                                                     TextEncoder::Deadline deadline) {
  BMAD_TRY_ASSIGN(std::shared_ptr<TextEncoder> encoder, encoder_of(store, deadline));
  if (encoder == nullptr) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message =
                     "there is no encoder; install the package bmad-mem-encoder, or see "
                     "memory_config.encoder (an empty $BMAD_MEM_ENCODER means none)"};
  }
  return encoder;
}

/// How long each log is that holds something, as index.json says it.
std::string log_sizes(FileSystem& files, const std::string& session_id) {
  std::string sizes;
  for (const std::string& log : log_files()) {
    const Result<FileInfo> info = files.info(session_file(session_id, log));
    if (info && info->size > 0) {
      sizes += fmt::format("{}\"{}\": {}", sizes.empty() ? "" : ", ", log, info->size);
    }
  }
  return fmt::format("\"logs\": {{{}}}", sizes);
}

/// Whether index.json is of logs of these `sizes`. It says so at its begin.
bool is_index_of(FileSystem& files, const std::string& session_id, const std::string& sizes) {
  std::string head(1024, '\0');
  const Result<std::unique_ptr<File>> file = files.open(index_path(session_id), OpenMode::kRead);
  head.resize(file ? (*file)->read_at(0, std::span(head)).value_or(0) : 0);
  return head.contains(sizes);
}

/// Rebuilds the indexes of some sessions, a few at a time.
class IndexRebuild {
 public:
  IndexRebuild(Store& store, bool only_one, const MemoryManager::Progress& on_progress)
      : store_(store), only_one_(only_one), on_progress_(on_progress) {}

  Result<std::vector<IndexReport>> run(const std::vector<std::string>& sessions) {
    for (const std::string& session_id : sessions) {
      total_ += session_footprint(*store_.files, session_id, log_files()).value_or(0);
    }
    for (const std::string& session_id : sessions) {
      Status rebuilt = rebuild(session_id);
      BMAD_TRY(rebuilt     ? Status()
               : only_one_ ? std::move(rebuilt)
                           : store_.leave_out(session_id, std::move(rebuilt).error()));
    }
    store_.root_index->flush(held_, FlushWhen::kAny);
    held_.clear();
    flush_index(store_, FlushWhen::kAny);  // Archives, and what was evicted.
    if (on_progress_) {
      on_progress_(total_, total_);
    }
    return std::move(reports_);
  }

 private:
  Status rebuild(const std::string& session_id) {
    const auto begin = std::chrono::steady_clock::now();
    const Result<Manifest> manifest = load_manifest(*store_.files, session_id);
    if (!manifest && manifest.error().code == ErrorCode::E_NEWER_VERSION) {
      return manifest.error();
    }
    const std::shared_ptr<SessionIndex> index = passing_index(store_, session_id);
    BMAD_TRY(index->rebuild([&](std::uint64_t bytes) {
      if (on_progress_) {
        on_progress_(std::min(done_ + bytes, total_), total_);
      }
    }));
    {
      // Nobody purges meanwhile what it would hold afterwards.
      BMAD_TRY_ASSIGN(const FileLock::Guard guard, store_.lock_session(session_id, "index"));
      BMAD_TRY_ASSIGN(IndexReport report, write_readable_index(store_, *index));
      report.took = std::chrono::steady_clock::now() - begin;
      done_ += report.log_bytes;
      cached_bytes_ += report.log_bytes;
      reports_.push_back(std::move(report));
    }
    held_.push_back(index);
    constexpr std::uint64_t kCachedMax = 16U << 20U;
    if (cached_bytes_ >= kCachedMax) {
      store_.root_index->flush(held_, FlushWhen::kAny);
      held_.clear();
      cached_bytes_ = 0;
    }
    return {};
  }

  Store& store_;
  bool only_one_;
  const MemoryManager::Progress& on_progress_;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
  std::vector<std::shared_ptr<SessionIndex>> held_;  // Not flushed yet.
  std::uint64_t cached_bytes_ = 0;
  std::vector<IndexReport> reports_;
};

}  // namespace

Result<EncodeReport> encode_entries(const Store& store, const EncodeOptions& options,
                                    const MemoryManager::Progress& on_progress) {
  TextEncoder::Deadline deadline;
  if (options.time_max) {
    deadline = std::chrono::steady_clock::now() + *options.time_max;
  }
  BMAD_TRY_ASSIGN(const std::shared_ptr<TextEncoder> encoder, encoder_at_hand(store, deadline));
  flush_index(store, options.all ? FlushWhen::kAny : FlushWhen::kSome);
  EncodeWish wish{.of = vectors_of(*encoder, store.config.encoder.sensitive), .deadline = deadline};
  BMAD_TRY_ASSIGN(const EncodedCount before, count_encoded(store, wish.of));
  Encoded done{.has_changed = true};
  wish.on_progress = [&](std::uint64_t encoded) {
    if (on_progress) {
      on_progress(
          std::min(before.entries - before.waiting + done.encoded + encoded, before.entries),
          before.entries);
    }
  };
  while (done.has_changed) {
    BMAD_TRY_ASSIGN(const Encoded more, store.root_index->encode(*encoder, wish));
    done.encoded += more.encoded;
    done.refused += more.refused;
    done.is_elsewhere = more.is_elsewhere;
    done.has_changed = more.has_changed;
  }
  BMAD_TRY_ASSIGN(const EncodedCount count, count_encoded(store, wish.of));
  return EncodeReport{.encoder = encoder->name(),
                      .encoded = done.encoded,
                      .refused = done.refused,
                      .waiting = count.waiting,
                      .entries = count.entries,
                      .is_elsewhere = done.is_elsewhere};
}

Result<EncodedCount> count_encoded(const Store& store, const VectorsOf& of) {
  EncodedCount counted;
  BMAD_TRY_ASSIGN(ChosenIndexes chosen, chosen_indexes(store, {}));
  CachedIndexes indexes(store, std::move(chosen));
  BMAD_TRY(indexes.run([&]() -> Status {
    counted = {};
    for (IndexedSession* const session : indexes.sessions()) {
      BMAD_TRY_ASSIGN(const SlotTotals totals, in_session(*session, session->totals()));
      BMAD_TRY_ASSIGN(const VectorRange range, in_session(*session, session->vectors()));
      const auto vectors = range.segment != nullptr ? range.segment->vectors() : nullptr;
      std::uint64_t encoded = 0;
      if (vectors != nullptr && vectors->of() == of) {
        assert(range.slots.empty() || range.slots.size() == range.count);
        const std::uint8_t* row = vectors->rows(range.first, range.first + range.count);
        for (std::uint32_t i = 0; i < range.count; ++i, row += vectors->row_size()) {
          const bool is_live = range.slots.empty() || range.slots[i] != SlotTable::kNoSlot;
          encoded += is_live && is_packed(row) ? 1 : 0;
        }
      }
      counted.entries += totals.entries;
      counted.waiting += totals.entries - std::min(encoded, totals.entries);
    }
    return {};
  }));
  return counted;
}

bool maintain_index(const Store& store, std::chrono::milliseconds time_max, FlushWhen when,
                    OtherVectors others) {
  const bool encodes = may_have_encoder(store);
  if (store.indexes_at_the_end) {
    store.needs_index = store.needs_index || encodes || when == FlushWhen::kAny;
    store.flushes_any = store.flushes_any || when == FlushWhen::kAny;
    store.replaces_vectors = store.replaces_vectors || others == OtherVectors::kReplace;
    return store.needs_index;
  }
  flush_index(store, store.is_index_due ? FlushWhen::kAny : encodes ? when : FlushWhen::kMany);
  // Only the encoder itself tells whose vectors are not its own.
  if (!encodes || (others == OtherVectors::kKeep && !store.root_index->wants_vectors())) {
    return false;
  }
  const auto deadline = std::chrono::steady_clock::now() + time_max;
  const auto encoder = encoder_at_hand(store, deadline);
  if (!encoder) {
    return false;
  }
  const Result<Encoded> done = store.root_index->encode(
      **encoder, {.of = vectors_of(**encoder, store.config.encoder.sensitive),
                  .others = others,
                  .deadline = deadline});
  return done && done->encoded > 0 && store.root_index->wants_vectors();
}

Result<ReadableIndex> readable_index(const Store& store, SessionIndex& index) {
  BMAD_TRY_ASSIGN(const auto guard, index.fresh());
  return make_readable_index(index, store.clock, store.config.indexing.language);
}

bool renew_readable_index(Store& store, const std::string& session_id) {
  const std::string sizes = log_sizes(*store.files, session_id);
  if (sizes.ends_with("{}") || is_index_of(*store.files, session_id, sizes)) {
    return false;
  }
  // No purge runs meanwhile, so it has nothing that is purged.
  const Result<FileLock::Guard> guard = store.lock_session(session_id, "index");
  return guard && write_readable_index(store, *passing_index(store, session_id));
}

Result<IndexReport> write_readable_index(const Store& store, SessionIndex& index) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string sizes = log_sizes(*store.files, index.session_id());
  BMAD_TRY_ASSIGN(ReadableIndex made, readable_index(store, index));
  constexpr std::string_view kBefore = ",\n  \"inverted_index\"";
  assert(made.text.contains(kBefore));
  made.text.insert(made.text.find(kBefore), fmt::format(",\n  {}", sizes));
  BMAD_TRY(replace_derived_file(*store.files, index_path(index.session_id()), made.text));
  IndexReport report{.session_id = index.session_id(),
                     .entries = made.entries,
                     .terms = made.terms,
                     .index_bytes = made.text.size()};
  report.log_bytes = sum_of(index.covers(), &LogCover::bytes);
  report.took = std::chrono::steady_clock::now() - begin;
  return report;
}

Result<std::vector<IndexReport>> rebuild_indexes(Store& store, std::span<const std::string> wanted,
                                                 const MemoryManager::Progress& on_progress) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.selected_sessions(wanted));
  const std::shared_ptr<const void> vectors = store.root_index->keep_vectors();
  BMAD_TRY(wanted.empty() ? store.root_index->clear() : store.root_index->remove(sessions));
  return IndexRebuild(store, wanted.size() == 1, on_progress).run(sessions);
}

void refresh_index(Store& store, const std::string& session_id) {
  refresh_indexes(store, {&session_id, 1});
}

void refresh_indexes(Store& store, std::span<const std::string> session_ids) {
  constexpr std::size_t kCachedMax = 64;
  std::vector<std::shared_ptr<SessionIndex>> held;
  for (const std::string& session_id : session_ids) {
    // It tells what was before.
    static_cast<void>(store.files->remove(index_path(session_id)));
    if (!store.config.indexing.enabled || !check_session(store, session_id)) {
      continue;
    }
    const std::shared_ptr<SessionIndex> index = passing_index(store, session_id);
    if (index->refresh()) {
      held.push_back(index);
    }
    if (held.size() == kCachedMax) {
      store.root_index->flush(held, FlushWhen::kMany);
      held.clear();
    }
  }
  if (!held.empty()) {
    store.root_index->flush(held, FlushWhen::kMany);
  }
}

}  // namespace bmad_mem
