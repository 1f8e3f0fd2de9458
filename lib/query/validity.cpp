#include "validity.hpp"

#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "bmad_mem/json_parser.hpp"
#include "core/hash.hpp"
#include "index/statement_row.hpp"
#include "model/statement.hpp"

namespace bmad_mem {
namespace {

/// Calls `use(head, type, line)` with what the entry states and where it stands.
template <typename Use>
Status read_statement(const IndexedSession& session, Ordinal ordinal, const Use& use) {
  BMAD_TRY_ASSIGN(const IndexedSession::LoadedLine line,
                  in_session(session, session.line(ordinal)));
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(line.text));
  use(statement_head(line.type, value), line.type, line.number);
  return {};
}

}  // namespace

Result<bool> Validity::is_outdated(std::size_t session, Ordinal ordinal, std::uint32_t flags) {
  if ((flags & (kFlagKeyed | kFlagUnreviewed)) == 0) {
    return false;
  }
  if ((flags & kFlagUnreviewed) != 0) {
    return true;
  }
  {
    constexpr std::size_t kLookedUpMax = 8;
    const std::lock_guard guard(mutex_);
    if (!holding_ && ++asked_ > kLookedUpMax) {
      BMAD_TRY(gather());
    }
    if (holding_) {
      BMAD_TRY_ASSIGN(const IndexRow row,
                      in_session(*sessions_[session], sessions_[session]->row(ordinal)));
      return !holding_->contains({session, flag_type(flags), row.row.line});
    }
  }
  const Place place{.session = session, .ordinal = ordinal};
  BMAD_TRY_ASSIGN(const std::string subject, subject_of(place));
  {
    const std::lock_guard guard(mutex_);
    const auto known = holders_.find(subject);
    if (known != holders_.end()) {
      return known->second != place;
    }
  }
  BMAD_TRY_ASSIGN(const Place holder, holder_of(subject));
  const std::lock_guard guard(mutex_);
  holders_.emplace(subject, holder);
  return holder != place;
}

Status Validity::gather() {
  using Rank = std::tuple<bool, Timestamp, std::string_view, EntryType, std::uint32_t>;
  struct Holder {
    Rank rank;
    LinePlace place;
  };
  std::unordered_map<std::uint64_t, Holder> holders;
  for (std::size_t number = 0; number < sessions_.size(); ++number) {
    IndexedSession& session = *sessions_[number];
    // Of each entry the last version only: it has no other slot.
    std::unordered_map<std::uint64_t, StatementRow> latest;
    BMAD_TRY(in_session(session, session.for_statements([&](const StatementRow& row) {
      const std::uint64_t id = row.outline.id_hash ^ static_cast<std::uint64_t>(row.outline.type);
      latest.insert_or_assign(id, row);
    })));
    for (const auto& [id, row] : latest) {
      const StatementOutline& outline = row.outline;
      if (outline.key_hash == 0 || outline.review == Review::kCandidate ||
          outline.review == Review::kDropped) {
        continue;
      }
      const Rank rank(outline.trust >= kLowTrust, outline.at, session.session_id(), outline.type,
                      row.row.line);
      const LinePlace place(number, outline.type, row.row.line);
      const std::uint64_t subject =
          xxh3({reinterpret_cast<const char*>(&outline.key_hash), sizeof outline.key_hash}) +
          static_cast<std::uint64_t>(outline.category);
      const auto [known, is_new] = holders.try_emplace(subject, Holder{rank, place});
      if (!is_new && known->second.rank < rank) {
        known->second = {rank, place};
      }
    }
  }
  holding_.emplace();
  for (const auto& [subject, holder] : holders) {
    holding_->insert(holder.place);
  }
  return {};
}

Result<std::string> Validity::subject_of(const Place& place) const {
  std::string subject;
  BMAD_TRY(read_statement(*sessions_[place.session], place.ordinal,
                          [&](const StatementHead& head, EntryType /*type*/,
                              std::uint64_t /*line*/) { subject = head.subject(); }));
  return subject;
}

/// Of those that the index has under the hash of the subject, those that are about it.
Result<Validity::Place> Validity::holder_of(const std::string& subject) const {
  using Rank = std::tuple<bool, Timestamp, std::string_view, EntryType, std::uint64_t>;
  const std::string key = statement_key(subject);
  std::optional<Rank> best;
  Place holder;
  for (const SearchedPart& part : parts_of(sessions_)) {
    BMAD_TRY_ASSIGN(const PartPostings found, part.part->part_postings(PostingKind::kTerm, key));
    for (const SessionPostings& each : found.sessions) {
      const std::size_t number = part.first + each.session;
      IndexedSession& session = *sessions_[number];
      BMAD_TRY(in_session(session, session.load_slots(0, 0)));
      for (const SlotPosting& posting : each.postings) {
        const Ordinal ordinal = session.slots().ordinal(posting.slot);
        const auto weigh = [&](const StatementHead& head, EntryType type, std::uint64_t line) {
          const Rank rank(head.trust >= kLowTrust, head.at, session.session_id(), type, line);
          if (head.subject() == subject && (!best || rank > *best)) {
            best = rank;
            holder = {.session = number, .ordinal = ordinal};
          }
        };
        BMAD_TRY(read_statement(session, ordinal, weigh));
      }
    }
  }
  return holder;
}

}  // namespace bmad_mem
