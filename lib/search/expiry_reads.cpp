// expiry_reads.cpp - what retention asks the indexes: how old the packed entries are, and which
// entries have expired.
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/entry.hpp"
#include "search/held_indexes.hpp"
#include "search/reads.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<std::vector<PackedEntry>> packed_entries(const Store& store, const std::string& session_id) {
  const EntryFilter filter{.sessions = {session_id}, .archived = ArchivedSessions::kOnly};
  return with_indexes(store, filter, [](HeldIndexes& indexes) -> Result<std::vector<PackedEntry>> {
    std::vector<PackedEntry> found;
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
        const OddEntry* const odd = (flags & kFlagExpires) != 0 ? session->odd(ordinal) : nullptr;
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
  const auto look = [&](HeldIndexes& indexes) -> Result<std::vector<ExpiredEntry>> {
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
