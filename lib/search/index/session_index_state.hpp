// session_index_state.hpp - what a SessionIndex knows, for its two source files.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/analyzer.hpp"
#include "search/segment.hpp"
#include "search/session_index.hpp"
#include "session_table.hpp"

namespace bmad_mem {

/// All that an index knows. A new one for each start from nothing.
struct SessionIndex::State {
  bool opened = false;
  /// What a segment knew: the table has its columns, and this its postings.
  std::shared_ptr<SegmentPart> base;
  /// Where the logs are others by now: its slots in the table, kNoOrdinal for what has gone. Else
  /// slots are ordinals.
  std::optional<std::vector<Ordinal>> moved;
  /// The segment holds times, ids and rows of the first `told` entries. The columns of the table
  /// hold those of the others.
  Ordinal told = 0;
  decltype(SessionTableBuilder::Known::text) known_text;  // Then, too.
  std::uint64_t base_bytes = 0;                           // Of the logs.
  LogCovers covers;
  SessionTable table;
  std::optional<Analyzer> analyzer;
  std::unique_ptr<SessionTableBuilder> builder;  // Uses the two above.
  bool frozen = false;  // What only additions need is gone: they begin with a new scan.

  // Filled by load() and postings() under their own mutexes, since many may ask at once.
  std::mutex load_mutex;
  std::optional<SlotTable> slots;
  std::mutex cache_mutex;
  std::unordered_map<std::string, Postings> cache;
  std::uint64_t cache_used = 0;
  // See hide_those_in(); under cache_mutex, too.
  std::shared_ptr<const std::vector<std::uint8_t>> hidden;
  std::vector<std::uint64_t> hidden_as_of;

  /// Of a slot of the base, kNoOrdinal when it has gone.
  [[nodiscard]] Ordinal ordinal_of(std::uint32_t slot) const {
    assert(!moved || slot < moved->size());
    return moved ? (*moved)[slot] : slot;
  }

  /// Adds what is under a key in the base to `list`.
  void add_told(std::span<const SessionPostings> under, std::vector<Posting>& list) const {
    for (const SessionPostings& session : under) {
      for (const SlotPosting& posting : session.postings) {
        if (const Ordinal ordinal = ordinal_of(posting.slot); ordinal != kNoOrdinal) {
          list.push_back({.ordinal = ordinal, .frequency = posting.frequency});
        }
      }
    }
  }

  /// The session in the segment. There is one where `told` is more than 0.
  [[nodiscard]] IndexedSession& told_session() const { return *base->sessions().front(); }

  /// Makes `slots`. Many may ask at once.
  void load() {
    const std::scoped_lock guard(load_mutex);
    if (!slots) {
      slots = build_slots(table.columns);
    }
  }

  /// Ends what scans began. A memory may have ten thousand small sessions: of 45 KB that one took,
  /// 40 were there for the next entry, which is soon scanned together with those before it.
  void finish_scans() {
    constexpr std::uint64_t kSmall = 64U << 10U;
    if (builder == nullptr) {
      return;
    }
    builder->finish();
    if (base == nullptr && sum_of(covers, &LogCover::bytes) <= kSmall) {
      builder.reset();
      analyzer.reset();
      table.memtable.freeze();
      table.columns.shrink();
      table.statements.shrink_to_fit();
      frozen = true;
    }
  }

  void forget_derived() {
    slots.reset();
    cache.clear();
    cache_used = 0;
  }
};

}  // namespace bmad_mem
