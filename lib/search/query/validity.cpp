// validity.cpp - finds which statement about a subject is in force.
#include "validity.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "search/entry_columns.hpp"

namespace bmad_mem {
namespace {

/// Calls `use(head, line, value)` with what the entry states, and its line.
template <typename Use>
Status read_statement(const IndexedSession& session, Ordinal ordinal, const Use& use) {
  BMAD_TRY_ASSIGN(const IndexedSession::LoadedLine line,
                  in_session(session, session.line(ordinal)));
  BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(line.text));
  use(statement_head(line.type, *value), line, *value);
  return {};
}

/// Of each entry of `session` the last version, by a hash of its id: it has no other slot.
Result<std::unordered_map<std::uint64_t, StatementRow>> latest_statements(IndexedSession& session) {
  std::unordered_map<std::uint64_t, StatementRow> latest;
  BMAD_TRY(in_session(session, session.for_statements([&](const StatementRow& row) {
    const std::uint64_t id = row.outline.id_hash ^ static_cast<std::uint64_t>(row.outline.type);
    latest.insert_or_assign(id, row);
  })));
  return latest;
}

}  // namespace

Result<bool> Validity::is_outdated(std::size_t session, Ordinal ordinal, std::uint32_t flags) {
  assert(session < sessions_.size());
  if ((flags & (kFlagKeyed | kFlagUnreviewed)) == 0 || flag_states_nothing(flags)) {
    return false;
  }
  if ((flags & kFlagUnreviewed) != 0) {
    return true;
  }
  const Place place{.session = session, .ordinal = ordinal};
  if (!have_gathered()) {
    const std::size_t scope = scope_of(session);
    std::string subject;
    BMAD_TRY(read_statement(*sessions_[session], ordinal,
                            [&](const StatementHead& head, const auto& /*line*/,
                                JsonValue /*value*/) { subject = head.subject(); }));
    {
      const std::lock_guard guard(mutex_);
      const auto known = holders_.find({scope, subject});
      if (known != holders_.end()) {
        return known->second != place;
      }
    }
    BMAD_TRY_ASSIGN(const std::optional<Place> holder, holder_of(scope, subject));
    const std::lock_guard guard(mutex_);
    if (holder) {
      holders_.emplace(std::pair(scope, subject), *holder);
      return *holder != place;
    }
    if (!holding_) {
      BMAD_TRY(gather());
    }
  }
  BMAD_TRY_ASSIGN(const IndexRow row,
                  in_session(*sessions_[session], sessions_[session]->row(ordinal)));
  const std::lock_guard guard(mutex_);
  assert(holding_ && "gather() comes first");
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
  assert(most_lines_ > 0);
  lines_ += lines;
  return lines_ > most_lines_;
}

Rival Validity::rival_of(std::size_t session) const {
  const SearchedRoot& root = settings_.roots[settings_.root_of(session)];
  return {.rank = {.of_project = root.kind != MemoryKind::kUser,
                   .session_id = sessions_[session]->session_id()},
          .origins = root.origins,
          .session = session};
}

Status Validity::gather() {
  struct Stated {
    std::pair<std::size_t, std::uint64_t> subject;  // With its scope.
    StatementOutline outline;
  };
  std::vector<Stated> stated;
  std::vector<Rival> rivals;
  for (std::size_t number = 0; number < sessions_.size(); ++number) {
    IndexedSession& session = *sessions_[number];
    const std::size_t scope = scope_of(number);
    BMAD_TRY_ASSIGN(const auto latest, latest_statements(session));
    for (const auto& [id, row] : latest) {
      const StatementOutline& outline = row.outline;
      if (outline.key_hash == 0 || !is_in_force(outline.review) || outline.expires_at <= now_) {
        continue;
      }
      Rival rival = rival_of(number);
      rival.rank.at = outline.at;
      rival.rank.type = outline.type;
      rival.rank.line = row.row.line;
      rival.claimed = outline.trust;
      rivals.push_back(rival);
      const std::uint64_t subject =
          xxh3({reinterpret_cast<const char*>(&outline.key_hash), sizeof outline.key_hash}) +
          static_cast<std::uint64_t>(outline.category);
      stated.push_back({.subject = {scope, subject}, .outline = outline});
    }
  }
  std::vector<std::size_t> order(stated.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(stated[i].subject, i); });
  holding_.emplace();
  std::vector<Rival> contested;  // Who wrote it decides only there: nearly all are alone.
  std::vector<std::size_t> ends;
  const auto hold = [&](const Rival& best) {
    holding_->emplace(best.session, best.rank.type, static_cast<std::uint32_t>(best.rank.line));
  };
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && stated[order[end]].subject == stated[order[begin]].subject) {
      ++end;
    }
    if (end - begin == 1) {
      hold(rivals[order[begin]]);
    }
    for (std::size_t i = begin; end - begin > 1 && i < end; ++i) {
      Rival& rival = contested.emplace_back(rivals[order[i]]);
      if (rival.origins != nullptr && rival.origins->provenance() != nullptr) {
        rival.tag = rival.origins->provenance()->statement_tag(rival.rank.session_id,
                                                               stated[order[i]].outline);
      }
    }
    if (end - begin > 1) {
      ends.push_back(contested.size());
    }
    begin = end;
  }
  judge(contested);
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    hold(*std::ranges::max_element(std::span(contested).subspan(begin, end - begin), {},
                                   &Rival::rank));
    begin = end;
  }
  return {};
}

/// Of those that the index has under the hash of the subject, those that are about it. Nothing when
/// that is_too_much().
Result<std::optional<Validity::Place>> Validity::holder_of(std::size_t scope,
                                                           const std::string& subject) {
  const std::string key = statement_key(subject);
  std::vector<Rival> rivals;
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
      if (scope_of(number) != scope) {
        continue;
      }
      IndexedSession& session = *sessions_[number];
      BMAD_TRY(in_session(session, session.load_slots(0, 0)));
      for (const SlotPosting& posting : each.postings) {
        const Ordinal ordinal = session.slots().ordinal(posting.slot);
        const auto hear = [&](const StatementHead& head, const IndexedSession::LoadedLine& line,
                              JsonValue value) {
          if (head.subject() != subject || has_expired(head.expires_at, now_)) {
            return;
          }
          Rival rival = rival_of(number);
          rival.rank.at = head.at;
          rival.rank.type = line.type;
          rival.rank.line = line.number;
          rival.claimed = head.trust;
          rival.ordinal = ordinal;
          if (rival.origins != nullptr && rival.origins->provenance() != nullptr) {
            rival.tag =
                rival.origins->provenance()->line_tag(session.session_id(), value, line.text);
          }
          rivals.push_back(rival);
        };
        BMAD_TRY(read_statement(session, ordinal, hear));
      }
    }
  }
  if (rivals.size() > 1) {
    judge(rivals);
  }
  if (rivals.empty()) {
    return std::optional(Place());
  }
  const Rival& best = *std::ranges::max_element(rivals, {}, &Rival::rank);
  return std::optional(Place{.session = best.session, .ordinal = best.ordinal});
}

}  // namespace bmad_mem
