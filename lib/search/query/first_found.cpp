// first_found.cpp - of what was found the first entries, each once, and with the phrases asked for.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "match_finder.hpp"
#include "model/entry.hpp"
#include "plan.hpp"

namespace bmad_mem {
namespace {

class FirstFound {
 public:
  FirstFound(std::span<IndexedSession* const> sessions, const Plan& plan, ReadingTools& tools)
      : sessions_(sessions), plan_(plan), tools_(tools) {}

  /// Whether `found` is none of those before it, and holds what the plan asks for.
  Result<bool> takes(Found& found) {
    BMAD_TRY_ASSIGN(const bool holds, holds_phrases(found));
    if (!holds || sessions_.size() <= 1) {
      return holds;
    }
    BMAD_TRY_ASSIGN(std::string id, id_of(found));
    return known_.emplace(found.type, std::move(id)).second;
  }

 private:
  Result<std::string> id_of(Found& found) {
    const IndexedSession& session = *sessions_[found.session];
    if (plan_.query.ids_only) {
      return in_session(session, session.id(found.type, found.ordinal));
    }
    BMAD_TRY_ASSIGN(IndexedSession::LoadedLine line,
                    in_session(session, session.line(found.ordinal)));
    BMAD_TRY_ASSIGN(const JsonValue value, tools_.parser.parse(line.text));
    std::string id(entry_id(value));
    found.line = std::make_shared<const IndexedSession::LoadedLine>(std::move(line));
    return id;
  }

  /// Whether the entry holds, word by word, what it must, and has around it what it should.
  Result<bool> holds_phrases(const Found& found) {
    if (!plan_.needs_text()) {
      return true;
    }
    const SlotView slots = sessions_[found.session]->slots();
    const std::uint32_t slot = slots.slot(found.ordinal);
    for (const Requirement& wanted : plan_.requirements) {
      if (!wanted.phrase.empty()) {
        BMAD_TRY_ASSIGN(const bool holds, holds_phrase_at(found.session, slot, wanted));
        if (holds == wanted.excluded) {
          return false;
        }
      }
    }
    for (const Requirement& wanted : plan_.phrases) {
      bool holds = false;
      for (std::uint32_t at = slot - slots.reach[slot].before;
           !holds && at <= slot + slots.reach[slot].after; ++at) {
        BMAD_TRY_ASSIGN(holds, holds_phrase_at(found.session, at, wanted));
      }
      if (!holds) {
        return false;
      }
    }
    return true;
  }

  Result<bool> holds_phrase_at(std::size_t index, std::uint32_t slot, const Requirement& wanted) {
    const auto [place, is_new] = phrase_held_.try_emplace({index, slot, &wanted}, false);
    if (is_new) {
      const IndexedSession& session = *sessions_[index];
      const Ordinal ordinal = session.slots().ordinal(slot);
      BMAD_TRY_ASSIGN(const IndexedSession::LoadedLine line,
                      in_session(session, session.line(ordinal)));
      BMAD_TRY_ASSIGN(const JsonValue value, tools_.parser.parse(line.text));
      tools_.text.clear();
      entry_searchable_text(line.type, value, tools_.text);
      place->second = holds_phrase(tools_.analyzer, wanted.phrase, tools_.text);
    }
    return place->second;
  }

  std::span<IndexedSession* const> sessions_;
  const Plan& plan_;
  ReadingTools& tools_;
  std::set<std::pair<EntryType, std::string>> known_;
  // By session, slot and phrase: whether the entry itself holds it.
  std::map<std::tuple<std::size_t, std::uint32_t, const Requirement*>, bool> phrase_held_;
};

}  // namespace

bool Plan::needs_text() const {
  return !phrases.empty() || std::ranges::any_of(requirements, [](const Requirement& requirement) {
    return !requirement.phrase.empty();
  });
}

Result<std::vector<Found>> choose_first(std::span<IndexedSession* const> sessions, const Plan& plan,
                                        const SearchSettings& settings, ReadingTools& tools,
                                        std::vector<Found> found, std::size_t limit) {
  FirstFound first(sessions, plan, tools);
  std::vector<Found> chosen;
  for (Found& each : found) {
    if (limit != 0 && chosen.size() == limit) {
      break;
    }
    if (settings.is_late()) {
      return query_timeout(plan.query);
    }
    BMAD_TRY_ASSIGN(const bool is_taken, first.takes(each));
    if (is_taken) {
      chosen.push_back(std::move(each));
    }
  }
  return chosen;
}

}  // namespace bmad_mem
