#include "validity.hpp"

#include <optional>
#include <string_view>
#include <tuple>

#include "bmad_mem/json_parser.hpp"
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
  const SlotView slots = session.slots();
  const EntryType type = flag_type(slots.flags[slots.slot(ordinal)]);
  use(statement_head(type, value), type, line.number);
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
