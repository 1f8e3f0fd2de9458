// live_query.cpp - which of the entries that were just written a query finds: the query itself,
// asked of their sessions, so that the same words match as anywhere.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "bmad_mem/entry_watch.hpp"
#include "query/plan.hpp"
#include "search/held_indexes.hpp"
#include "search/search.hpp"
#include "store/access.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

using EntryKey = std::pair<EntryType, std::string>;

/// A live query that takes longer is too slow to be asked with every entry.
constexpr std::chrono::milliseconds kMatchTime{2000};

/// The entries of the session that `plan`, which names no other, finds.
Result<std::set<EntryKey>> found_in_session(const Store& store, Plan plan,
                                            const std::string& session_id,
                                            const SearchSettings& settings) {
  plan.query.filter.sessions = {session_id};
  const auto find = [&](HeldIndexes& indexes) -> Result<std::set<EntryKey>> {
    std::set<EntryKey> found;
    BMAD_TRY_ASSIGN(const SearchResult result, search_sessions(indexes.sessions(), plan, settings));
    for (const Found& each : result.found) {
      const IndexedSession& session = *indexes.sessions()[each.session];
      BMAD_TRY_ASSIGN(std::string id, in_session(session, session.id(each.type, each.ordinal)));
      found.emplace(each.type, std::move(id));
    }
    return found;
  };
  Result<std::set<EntryKey>> found = with_indexes(store, plan.query.filter, find);
  const bool has_gone = !found && (found.error().code == ErrorCode::E_SESSION_NOT_FOUND ||
                                   found.error().code == ErrorCode::E_SESSION_ARCHIVED);
  return has_gone ? Result<std::set<EntryKey>>(std::set<EntryKey>()) : std::move(found);
}

}  // namespace

Result<std::vector<bool>> match_entries(const MemoryManager& memory, std::string_view query,
                                        std::span<const Entry> entries) {
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(memory, "watch"));
  SearchSettings settings = search_settings(*store);
  settings.literal = true;
  Query asked{.text = std::string(query), .filter = {.limit = 0}, .sort = SortOrder::kTimeDesc};
  asked.ranking = TextRanking::kPlain;
  asked.snippet_size = 0;
  asked.ids_only = true;
  asked.timeout = kMatchTime;
  settings.deadline = std::chrono::steady_clock::now() + kMatchTime;
  BMAD_TRY_ASSIGN(Plan plan, read_query(asked, settings.now));
  BMAD_TRY_ASSIGN(plan.query.filter, readable(*store, std::move(plan.query.filter)));
  std::map<std::string, Timestamp> oldest;  // By session.
  for (const Entry& entry : entries) {
    if (entry.session_id.empty()) {
      continue;  // It is none.
    }
    const auto place = oldest.try_emplace(entry.session_id, entry.timestamp).first;
    place->second = std::min(place->second, entry.timestamp);
  }
  std::map<std::string, std::set<EntryKey>> found;
  const std::vector<std::string> named = plan.query.filter.sessions;
  const std::optional<Timestamp> since = plan.query.filter.since;
  for (const auto& [session_id, first] : oldest) {
    if (named.empty() || std::ranges::find(named, session_id) != named.end()) {
      plan.query.filter.since =
          std::max(since.value_or(first), first);  // Others are not asked for.
      BMAD_TRY_ASSIGN(found[session_id], found_in_session(*store, plan, session_id, settings));
    }
  }
  std::vector<bool> matched;
  matched.reserve(entries.size());
  for (const Entry& entry : entries) {
    matched.push_back(found[entry.session_id].contains({entry.type, entry.id}));
  }
  return matched;
}

}  // namespace bmad_mem
