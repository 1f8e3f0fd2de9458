#include "validity.hpp"

#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/hash.hpp"
#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "search/entry_columns.hpp"

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
  const Place place{.session = session, .ordinal = ordinal};
  if (!have_gathered()) {
    BMAD_TRY_ASSIGN(const std::string subject, subject_of(place));
    {
      const std::lock_guard guard(mutex_);
      const auto known = holders_.find(subject);
      if (known != holders_.end()) {
        return known->second != place;
      }
    }
    BMAD_TRY_ASSIGN(const std::optional<Place> holder, holder_of(subject));
    const std::lock_guard guard(mutex_);
    if (holder) {
      holders_.emplace(subject, *holder);
      return *holder != place;
    }
    if (!holding_) {
      BMAD_TRY(gather());
    }
  }
  BMAD_TRY_ASSIGN(const IndexRow row,
                  in_session(*sessions_[session], sessions_[session]->row(ordinal)));
  const std::lock_guard guard(mutex_);
  return !holding_->contains({session, flag_type(flags), row.row.line});
}

bool Validity::have_gathered() {
  const std::lock_guard guard(mutex_);
  return holding_.has_value();
}

/// Whether it is time to gather: looking up has taken, with `lines` more to read, as long as that
/// would. Of a million entries an eighth are statements, whose rows take 36 million instructions.
bool Validity::is_too_much(std::size_t lines) {
  constexpr std::uint64_t kFree = 32;
  constexpr std::uint64_t kEntriesALine = 512;
  const std::lock_guard guard(mutex_);
  if (most_lines_ == 0) {
    std::uint64_t entries = 0;
    for (IndexedSession* const session : sessions_) {
      const Result<SlotTotals> totals = session->totals();
      entries += totals ? totals->entries : 0;
    }
    most_lines_ = kFree + entries / kEntriesALine;
  }
  lines_ += lines;
  return lines_ > most_lines_;
}

Status Validity::gather() {
  using Rank = std::tuple<bool, bool, Timestamp, std::string_view, EntryType, std::uint32_t>;
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
          outline.review == Review::kDropped || outline.expires_at <= now_) {
        continue;
      }
      const Rank rank(outline.trust >= kLowTrust, number < first_of_user_, outline.at,
                      session.session_id(), outline.type, row.row.line);
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

/// Of those that the index has under the hash of the subject, those that are about it. Nothing when
/// that is_too_much().
Result<std::optional<Validity::Place>> Validity::holder_of(const std::string& subject) {
  using Rank = std::tuple<bool, bool, Timestamp, std::string_view, EntryType, std::uint64_t>;
  const std::string key = statement_key(subject);
  std::optional<Rank> best;
  Place holder;
  for (const SearchedPart& part : parts_of(sessions_)) {
    BMAD_TRY_ASSIGN(const PartPostings found, part.part->part_postings(PostingKind::kTerm, key));
    constexpr std::size_t kLinesALook = 4;  // To look a key up takes as long as to read so many.
    std::size_t lines = kLinesALook;
    for (const SessionPostings& each : found.sessions) {
      lines += each.postings.size();
    }
    if (is_too_much(lines)) {
      return std::optional<Place>();
    }
    for (const SessionPostings& each : found.sessions) {
      const std::size_t number = part.first + each.session;
      IndexedSession& session = *sessions_[number];
      BMAD_TRY(in_session(session, session.load_slots(0, 0)));
      for (const SlotPosting& posting : each.postings) {
        const Ordinal ordinal = session.slots().ordinal(posting.slot);
        const auto weigh = [&](const StatementHead& head, EntryType type, std::uint64_t line) {
          const Rank rank(head.trust >= kLowTrust, number < first_of_user_, head.at,
                          session.session_id(), type, line);
          if (head.subject() == subject && !has_expired(head.expires_at, now_) &&
              (!best || rank > *best)) {
            best = rank;
            holder = {.session = number, .ordinal = ordinal};
          }
        };
        BMAD_TRY(read_statement(session, ordinal, weigh));
      }
    }
  }
  return std::optional(holder);
}

}  // namespace bmad_mem
