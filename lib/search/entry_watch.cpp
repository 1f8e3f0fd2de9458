// entry_watch.cpp - follows the logs of sessions, and gives the entries that are new.
#include "bmad_mem/entry_watch.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "query/plan.hpp"
#include "search/cached_indexes.hpp"
#include "search/field_filter.hpp"
#include "search/search.hpp"
#include "store/access.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {

namespace {

/// A session, or what it was: what was seen of one that has left its folder is not given when it
/// comes back.
struct FollowedSession {
  std::vector<LogFollower> logs;
  bool is_watched = false;
  /// Only what isn't older is given: of a session that was archived when the watch began.
  std::optional<Timestamp> since;
};

using EntryKey = std::pair<EntryType, std::string>;

/// A live query that takes longer is too slow to be asked with every entry.
constexpr std::chrono::milliseconds kMatchTime{2000};

/// The entries of the session that `plan`, which names no other, finds.
Result<std::set<EntryKey>> found_in_session(const Store& store, Plan plan,
                                            const std::string& session_id,
                                            const SearchSettings& settings) {
  plan.query.filter.sessions = {session_id};
  const auto find = [&](CachedIndexes& indexes) -> Result<std::set<EntryKey>> {
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

struct EntryWatch::Impl {
  const MemoryManager& memory;
  const Store& store;
  std::string query;  // Empty: every entry.
  EntryFilter filter;
  FolderWatch folders;
  Timestamp opened_at{};
  std::vector<std::string> archived;  // When the watch began.
  std::map<std::string, FollowedSession> sessions;
  std::vector<std::string> unread;  // Those whose long logs were only noted: see wait().
  std::vector<Entry> pending;       // Seen when a wait failed; the logs don't give them again.
  bool rewritten = false;
  bool sessions_watched = false;  // Whether the folder of all sessions is there and watched.
  JsonParser parser;

  Status begin();
  Status find_sessions(bool begins, std::vector<Entry>& entries);
  Result<FollowedSession*> follow(const std::string& session_id, bool begins);
  Status look_at(const std::string& session_id, std::vector<Entry>* entries);
  Status look_into(const std::string& session_id, std::vector<Entry>* entries);
  Status look_where(const FolderChanges& changes, std::vector<Entry>& entries);
  Status read_next(std::vector<Entry>& entries);
  Status keep_found(std::vector<Entry>& entries) const;
  [[nodiscard]] bool wants(const std::string& session_id, const TableEntry& entry) const;
};

/// Leaves what the query finds.
Status EntryWatch::Impl::keep_found(std::vector<Entry>& entries) const {
  if (query.empty() || entries.empty()) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<bool> matched, match_entries(memory, query, entries));
  assert(matched.size() == entries.size());
  auto its = matched.begin();
  std::erase_if(entries, [&](const Entry&) { return !*its++; });
  return {};
}

bool EntryWatch::Impl::wants(const std::string& session_id, const TableEntry& entry) const {
  const FollowedSession& session = sessions.at(session_id);
  return passes(filter, session_id, entry) && (!session.since || entry.timestamp >= *session.since);
}

Result<FollowedSession*> EntryWatch::Impl::follow(const std::string& session_id, bool begins) {
  FollowedSession& session = sessions[session_id];
  if (session.logs.empty()) {
    for (const EntryType type : filter.types) {
      session.logs.emplace_back(log_path(session_id, type), type);
    }
    if (!begins && is_among(archived, session_id)) {
      session.since = opened_at;
    }
  }
  // Watched before it is looked at: what is written in between is told, at worst for nothing.
  BMAD_TRY_ASSIGN(session.is_watched, folders.add(session_folder(session_id)));
  return &session;
}

/// As look_into(); what can't be read is left out.
Status EntryWatch::Impl::look_at(const std::string& session_id, std::vector<Entry>* entries) {
  Status looked = look_into(session_id, entries);
  return looked || filter.sessions.size() == 1
             ? std::move(looked)
             : store.leave_out(session_id, std::move(looked).error());
}

/// `entries` is null when the logs hold nothing new.
Status EntryWatch::Impl::look_into(const std::string& session_id, std::vector<Entry>* entries) {
  FollowedSession& session = sessions[session_id];
  for (LogFollower& log : session.logs) {
    std::vector<TableEntry> added;
    BMAD_TRY(entries == nullptr ? log.note(*store.files, parser, opened_at)
                                : log.look(*store.files, parser, &added));
    rewritten = log.take_rewritten() || rewritten;
    for (TableEntry& entry : added) {
      if (wants(session_id, entry)) {
        entries->push_back(to_entry(parser, session_id, std::move(entry)));
      }
    }
  }
  return {};
}

/// Sessions that nobody watches yet. `begins`: what is in them is not new.
Status EntryWatch::Impl::find_sessions(bool begins, std::vector<Entry>& entries) {
  if (!sessions_watched) {
    BMAD_TRY_ASSIGN(sessions_watched, folders.add(kSessionsFolder));
  }
  // Remains are watched, too: a session that is made again in its folder makes no folder.
  BMAD_TRY_ASSIGN(std::vector<std::string> ids, store.session_folders());
  for (const std::string& session_id : ids) {
    const auto known = sessions.find(session_id);
    if ((!filter.sessions.empty() && !is_among(filter.sessions, session_id)) ||
        (known != sessions.end() && known->second.is_watched)) {
      continue;
    }
    BMAD_TRY(follow(session_id, begins));
    BMAD_TRY(look_at(session_id, begins ? nullptr : &entries));
    if (begins) {
      unread.push_back(session_id);
    }
  }
  return {};
}

Status EntryWatch::Impl::begin() {
  BMAD_TRY_ASSIGN(const bool is_there, folders.add(""));
  if (!is_there) {
    return path_error(ErrorCode::E_SESSION_NOT_FOUND, store.root, "the memory has gone");
  }
  opened_at = store.clock.now();
  BMAD_TRY_ASSIGN(archived, archived_session_ids(*store.files));
  std::vector<Entry> none;
  return find_sessions(true, none);
}

Status EntryWatch::Impl::look_where(const FolderChanges& changes, std::vector<Entry>& entries) {
  const std::string all = kSessionsFolder;
  const std::string prefix = all + "/";
  for (const std::string& folder : changes.gone) {
    if (folder.empty()) {
      return path_error(ErrorCode::E_SESSION_NOT_FOUND, store.root,
                        "the memory was removed or moved while it was watched");
    }
    if (folder == all) {
      sessions_watched = false;
    } else {
      assert(folder.starts_with(prefix));
      sessions[folder.substr(prefix.size())].is_watched = false;
    }
  }
  for (const std::string& folder : changes.changed) {
    if (folder.starts_with(prefix)) {
      BMAD_TRY(look_at(folder.substr(prefix.size()), &entries));
    }
  }
  if (changes.everything) {
    for (auto& [session_id, session] : sessions) {
      BMAD_TRY(look_at(session_id, &entries));
    }
  }
  return find_sessions(false, entries);
}

Status EntryWatch::Impl::read_next(std::vector<Entry>& entries) {
  const std::string session_id = std::move(unread.back());
  unread.pop_back();
  return look_at(session_id, &entries);
}

Result<EntryWatch> EntryWatch::open(const MemoryManager& memory, EntryFilter filter,
                                    std::string query) {
  if (!query.empty()) {  // What can't be read is refused now.
    BMAD_TRY(match_entries(memory, query, {}));
  }
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(memory, "watch"));
  if (!filter.sessions.empty()) {
    BMAD_TRY(store->selected_sessions(filter.sessions));
  }
  BMAD_TRY_ASSIGN(filter, readable(*store, std::move(filter)));
  if (filter.types.empty()) {
    filter.types.assign(kEntryTypes.begin(), kEntryTypes.end());
  }
  filter.pinned_only = false;
  BMAD_TRY_ASSIGN(FolderWatch folders, FolderWatch::open(store->root));
  auto impl = std::make_unique<Impl>(memory, *store, std::move(query), std::move(filter),
                                     std::move(folders));
  BMAD_TRY(impl->begin());
  return EntryWatch(std::move(impl));
}

EntryWatch::EntryWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EntryWatch::EntryWatch(EntryWatch&&) noexcept = default;
EntryWatch& EntryWatch::operator=(EntryWatch&&) noexcept = default;
EntryWatch::~EntryWatch() = default;

Result<std::vector<Entry>> EntryWatch::wait(std::chrono::milliseconds timeout) {
  using Steady = std::chrono::steady_clock;
  const Steady::time_point end = Steady::now() + timeout;
  std::vector<Entry> entries;
  while (true) {
    const bool has_pending = !impl_->pending.empty();
    const bool is_busy = has_pending || !impl_->unread.empty();
    const auto left = std::max(std::chrono::ceil<std::chrono::milliseconds>(
                                   is_busy ? Steady::duration(0) : end - Steady::now()),
                               std::chrono::milliseconds(0));
    BMAD_TRY_ASSIGN(const FolderChanges changes, impl_->folders.wait(left));
    if (impl_->folders.is_stopped()) {
      return entries;
    }
    const bool anything =
        has_pending || changes.everything || !changes.changed.empty() || !changes.gone.empty();
    // While nothing happens, the next log that was only noted is read.
    const bool reads_on = !anything && !impl_->unread.empty() && Steady::now() < end;
    if (anything || reads_on) {
      entries = std::exchange(impl_->pending, {});
      Status looked = reads_on ? impl_->read_next(entries) : impl_->look_where(changes, entries);
      looked = looked ? impl_->keep_found(entries) : std::move(looked);
      if (!looked) {
        impl_->pending = std::move(entries);
        return std::move(looked).error();
      }
    }
    if (!entries.empty() || Steady::now() >= end) {
      return entries;
    }
  }
}

bool EntryWatch::take_rewritten() { return std::exchange(impl_->rewritten, false); }

void EntryWatch::stop() noexcept { impl_->folders.stop(); }

bool EntryWatch::is_stopped() const noexcept { return impl_->folders.is_stopped(); }

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
