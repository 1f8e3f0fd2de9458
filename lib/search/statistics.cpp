// statistics.cpp - counts the lines of a session, and lists packed and expired entries.
#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "search/cached_indexes.hpp"
#include "search/log_cover.hpp"
#include "search/reads.hpp"
#include "search/root_index.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {

namespace {

Result<std::uint64_t> count_lines(FileSystem& files, const std::string& path) {
  BMAD_TRY_ASSIGN(const auto file, if_there(files.open(path, OpenMode::kRead)));
  if (!file) {
    return std::uint64_t{0};
  }
  LineReader reader(**file, kEntrySizeMax);
  Line line;
  std::uint64_t count = 0;
  while (true) {
    BMAD_TRY_ASSIGN(const bool more, reader.next(line));
    if (!more) {
      return count;
    }
    ++count;
  }
}

void widen(SessionStatistics& statistics, Timestamp time) {
  statistics.oldest = std::min(statistics.oldest.value_or(time), time);
  statistics.newest = std::max(statistics.newest.value_or(time), time);
}

/// A session as a segment knows it, whose logs are as they were.
struct SummedSession {
  SessionBase base;
  const SessionSums* sums = nullptr;

  [[nodiscard]] IndexedSession& session() const { return *base.part->sessions().front(); }
  /// Whether each line of the log is that of a live entry or of an older version of one, and
  /// nothing is torn.
  [[nodiscard]] bool has_all_of(EntryType type) const {
    const auto i = static_cast<std::size_t>(type);
    return base.covers[i].lines == sums->lines[i] &&
           base.covers[i].bytes == base.covers[i].file.size;
  }
};

std::optional<SummedSession> summed_session(const Store& store, const std::string& session_id) {
  RootIndex::Candidate candidate{.id = session_id};
  const auto parts = store.root_index->sweep({&candidate, 1});
  std::optional<SessionBase> base =
      candidate.is_covered ? store.root_index->base_of(session_id) : std::nullopt;
  if (!base) {
    return std::nullopt;
  }
  assert(base->part->sessions().size() == 1 && "a base is of one session");
  const Result<const SessionSums*> sums = base->part->sessions().front()->sums();
  return sums ? std::optional(SummedSession{.base = *std::move(base), .sums = *sums})
              : std::nullopt;
}

/// Fills in the types that a segment counts. The logs of the others have a line that is damaged,
/// blank, torn or encrypted: only they tell.
std::set<EntryType> count_by_index(const Store& store, SessionStatistics& statistics) {
  std::set<EntryType> types;
  const std::optional<SummedSession> covered = summed_session(store, statistics.session_id);
  const SessionFacts facts = covered ? covered->session().facts() : SessionFacts();
  if (facts.newest <= Timestamp()) {
    return types;  // It has no entries, or they are of before 1970.
  }
  widen(statistics, facts.oldest);
  widen(statistics, facts.newest);
  for (const EntryType type : kEntryTypes) {
    if (covered->has_all_of(type)) {
      const auto i = static_cast<std::size_t>(type);
      statistics.types[i] = {.type = type,
                             .entries = covered->sums->entries(type),
                             .versions = covered->sums->lines[i],
                             .bytes = covered->base.covers[i].bytes};
      types.insert(type);
    }
  }
  return types;
}

Status count_log(const Store& store, EntryType type, SessionStatistics& statistics) {
  JsonParser parser;
  std::unordered_set<std::string> ids;
  const auto take = [&](const ScannedEntry& entry) {
    ids.emplace(entry_id(entry.value));
    widen(statistics, entry_timestamp(entry.value));
  };
  const std::string path = log_path(statistics.session_id, type);
  BMAD_TRY_ASSIGN(const LogScan scan,
                  scan_log(*store.files, path, type, parser, {.on_entry = take}));
  statistics.types[static_cast<std::size_t>(type)] = {.type = type,
                                                      .entries = ids.size(),
                                                      .versions = scan.entries,
                                                      .encrypted_lines = scan.encrypted,
                                                      .damaged_lines = scan.damaged,
                                                      .bytes = scan.whole_end + scan.torn_size,
                                                      .torn_bytes = scan.torn_size};
  return {};
}

}  // namespace

std::uint64_t SessionStatistics::entries() const { return sum_of(types, &TypeStatistics::entries); }
std::uint64_t SessionStatistics::versions() const {
  return sum_of(types, &TypeStatistics::versions);
}
std::uint64_t SessionStatistics::encrypted_lines() const {
  return sum_of(types, &TypeStatistics::encrypted_lines);
}
std::uint64_t SessionStatistics::damaged_lines() const {
  return sum_of(types, &TypeStatistics::damaged_lines);
}

std::optional<std::string> newest_line(const Store& store, const std::string& session_id,
                                       EntryType type, std::string_view id) {
  const std::optional<SummedSession> covered = summed_session(store, session_id);
  if (!covered || !covered->has_all_of(type)) {
    return std::nullopt;
  }
  const auto found = covered->base.part->part_candidates(entry_id_hash(type, id));
  for (const IndexPart::PartEntry& each : found ? *found : std::vector<IndexPart::PartEntry>()) {
    Result<IndexedSession::LoadedLine> line = covered->session().line(each.ordinal);
    if (line && line->type == type &&
        covered->session().id(type, each.ordinal).value_or("") == id) {
      return std::move(line->text);
    }
  }
  return std::nullopt;
}

Result<SessionStatistics> count_session(const Store& store, const std::string& session_id) {
  BMAD_TRY(check_session(store, session_id));
  SessionStatistics statistics;
  statistics.session_id = session_id;
  statistics.size_max_bytes = store.config.max_session_size_bytes();
  const std::set<EntryType> known = count_by_index(store, statistics);
  for (const EntryType type : kEntryTypes) {
    if (!known.contains(type)) {
      BMAD_TRY(count_log(store, type, statistics));
    }
  }
  BMAD_TRY_ASSIGN(statistics.size_bytes, session_footprint(*store.files, session_id, log_files()));
  statistics.is_over_trigger = statistics.size_bytes >= store.config.compaction_start_bytes();
  BMAD_TRY_ASSIGN(statistics.quarantined, count_lines(*store.files, quarantine_path(session_id)));
  return statistics;
}

Result<std::vector<ArchiveEntry>> archive_entries(const Store& store,
                                                  const std::string& session_id) {
  const EntryFilter filter{.sessions = {session_id}, .archived = ArchivedSessions::kOnly};
  return with_indexes(
      store, filter, [](CachedIndexes& indexes) -> Result<std::vector<ArchiveEntry>> {
        std::vector<ArchiveEntry> found;
        for (IndexedSession* const session : indexes.sessions()) {
          BMAD_TRY(in_session(*session, session->load()));
          BMAD_TRY(in_session(*session, session->load_times()));
          const auto hidden = session->hidden();
          const SlotView slots = session->slots();
          for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
            if (hidden != nullptr && (*hidden)[slot] != 0) {
              continue;
            }
            const std::uint32_t flags = slots.flags[slot];
            const Ordinal ordinal = slots.ordinal(slot);
            const OddEntry* const odd =
                (flags & kFlagExpires) != 0 ? session->odd(ordinal) : nullptr;
            found.push_back({.type = flag_type(flags),
                             .timestamp = session->timestamp(ordinal),
                             .pinned = (flags & kFlagPinned) != 0,
                             .evicted = session->is_evicted(),
                             .expires_at = odd == nullptr ? std::nullopt : odd->expires_at});
          }
        }
        return found;
      });
}

Result<std::vector<ExpiredEntry>> expired_entries(const Store& store, Timestamp now) {
  const std::string mark = std::string(kMarkPrefix) + std::string(kExpiresMark);
  const auto look = [&](CachedIndexes& indexes) -> Result<std::vector<ExpiredEntry>> {
    std::vector<ExpiredEntry> found;
    const std::span<IndexedSession* const> sessions = indexes.sessions();
    for (const SearchedPart& part : parts_of(sessions)) {
      BMAD_TRY_ASSIGN(const PartPostings marked,
                      part.part->part_postings(PostingKind::kTerm, mark));
      for (const SessionPostings& each : marked.sessions) {
        IndexedSession& session = *sessions[part.first + each.session];
        BMAD_TRY(in_session(session, session.load()));
        const auto hidden = session.hidden();
        for (const SlotPosting& posting : each.postings) {
          const std::uint32_t flags = session.slots().flags[posting.slot];
          const Ordinal ordinal = session.slots().ordinal(posting.slot);
          if ((hidden == nullptr || (*hidden)[posting.slot] == 0) &&
              has_expired(session, flags, ordinal, now)) {
            BMAD_TRY_ASSIGN(std::string id,
                            in_session(session, session.id(flag_type(flags), ordinal)));
            found.push_back({.session_id = session.session_id(),
                             .type = flag_type(flags),
                             .id = std::move(id),
                             .archived = session.is_archived(),
                             .evicted = session.is_evicted()});
          }
        }
      }
    }
    std::ranges::stable_sort(found, {}, &ExpiredEntry::session_id);
    return found;
  };
  EntryFilter filter;
  BMAD_TRY_ASSIGN(std::vector<std::string> readable, store.session_ids());
  if (std::erase_if(readable, [&](const std::string& id) { return !check_session(store, id); }) >
      0) {
    // Who looks for what is too old need not hear of the others.
    BMAD_TRY_ASSIGN(std::vector<std::string> archived, archived_session_ids(*store.files));
    std::ranges::move(archived, std::back_inserter(readable));
    if (readable.empty()) {
      return std::vector<ExpiredEntry>();  // No names would mean all.
    }
    filter.sessions = std::move(readable);
  }
  return with_indexes(store, filter, look);
}

}  // namespace bmad_mem
