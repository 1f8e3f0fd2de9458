// reads.cpp - get, history and list: by the indexes, which tell where an entry is; by reading the
// logs where all versions, all entries or those of the past are asked for. No lock is taken.
#include "search/reads.hpp"

#include <algorithm>
#include <iterator>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "search/field_filter.hpp"
#include "search/held_indexes.hpp"
#include "search/search.hpp"
#include "search/session_sources.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/present_sessions.hpp"
#include "store/return_lines.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// An entry and the session that holds it.
struct Located {
  std::string session_id;
  TableEntry entry;
};

Result<std::vector<TableEntry>> read_source(const Store& store, const SessionSource& source,
                                            std::span<const EntryType> types, Versions versions,
                                            std::optional<Timestamp> as_of) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files,
                  as_of ? past_files(store, source, *as_of) : source.files(store));
  BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                  load_entries(*files, source.session_id, types, versions));
  BMAD_TRY(source.check_still_there(store));
  for (TableEntry& entry : entries) {
    entry.archived = source.is_archived();
    entry.evicted = source.is_evicted();
  }
  return entries;
}

/// Nothing of a session that can't be read, which is left out. Errors: one that is_not_found() when
/// the session has left its place meanwhile.
Result<std::vector<TableEntry>> load_source(const Store& store, const SessionSource& source,
                                            std::span<const EntryType> types, Versions versions,
                                            std::optional<Timestamp> as_of) {
  Result<std::vector<TableEntry>> entries = read_source(store, source, types, versions, as_of);
  if (!entries) {
    BMAD_TRY(source.leave_out(store, std::move(entries).error()));
    return std::vector<TableEntry>();
  }
  return entries;
}

/// The greatest comes first: the newest, and what was evicted behind all others. Equal times by
/// session and id, so that the order never depends on chance.
auto rank_of(const Entry& entry) {
  return std::tuple(!entry.evicted, entry.timestamp, std::string_view(entry.session_id),
                    std::string_view(entry.id));
}
auto rank_of(const Located& located) {
  return std::tuple(!located.entry.evicted, located.entry.timestamp,
                    std::string_view(located.session_id), std::string_view(located.entry.id));
}

template <typename T>
void sort_newest_first(std::vector<T>& items) {
  std::ranges::sort(items, [](const T& a, const T& b) { return rank_of(a) > rank_of(b); });
}

/// What passes a filter, of one source after the other.
class FilteredEntries {
 public:
  FilteredEntries(const Store& store, const EntryFilter& filter) : store_(store), filter_(filter) {}

  Status add(const SessionSource& source) {
    BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                    load_source(store_, source, filter_.types, Versions::kLatest, filter_.as_of));
    for (TableEntry& entry : entries) {
      if (passes(filter_, entry)) {
        note_time(entry.timestamp);
        found_.push_back({.session_id = source.session_id, .entry = std::move(entry)});
      }
    }
    return {};
  }

  /// Those of what was evicted that are not in their sessions again.
  Status add_evicted(std::span<const SessionSource> sources) {
    std::set<std::tuple<std::string, EntryType, std::string>> known;
    for (const Located& each : found_) {
      known.emplace(each.session_id, each.entry.type, each.entry.id);
    }
    const std::size_t before = found_.size();
    for (const SessionSource& source : sources) {
      BMAD_TRY(add(source));
    }
    const auto came_back = [&](const Located& each) {
      return known.contains({each.session_id, each.entry.type, each.entry.id});
    };
    found_.erase(std::remove_if(found_.begin() + static_cast<std::ptrdiff_t>(before), found_.end(),
                                came_back),
                 found_.end());
    return {};
  }

  [[nodiscard]] bool is_full() const {
    return filter_.limit != 0 && newest_.size() >= filter_.limit;
  }
  std::vector<Located> take() { return std::move(found_); }

 private:
  void note_time(Timestamp time) {
    newest_.push(time);
    if (filter_.limit != 0 && newest_.size() > filter_.limit) {
      newest_.pop();
    }
  }

  const Store& store_;
  const EntryFilter& filter_;
  std::vector<Located> found_;
  /// The oldest of the newest is on top.
  std::priority_queue<Timestamp, std::vector<Timestamp>, std::greater<>> newest_;
};

Result<std::vector<Located>> load_filtered(const Store& store, const EntryFilter& filter) {
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> evicted,
                  evicted_sources(store, filter.sessions));
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> sessions,
                  session_sources(store, filter.sessions, filter.archived));
  FilteredEntries found(store, filter);
  for (const SessionSource& source : sessions) {
    BMAD_TRY(found.add(source));
  }
  if (filter.archived != ArchivedSessions::kWithout && !found.is_full()) {
    BMAD_TRY(found.add_evicted(evicted));
  }
  BMAD_TRY(check_evicted(store, filter.sessions, evicted));
  return found.take();
}

template <typename T>
void cut_to(std::vector<T>& items, std::size_t limit) {
  if (limit != 0 && items.size() > limit) {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(limit), items.end());
  }
}

Result<std::vector<Entry>> load_all(const Store& store, std::span<const std::string> wanted,
                                    std::span<const EntryType> types, Versions versions,
                                    ArchivedSessions archived) {
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> sessions,
                  session_sources(store, wanted, archived));
  std::vector<Entry> found;
  JsonParser parser;
  for (const SessionSource& source : sessions) {
    BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                    load_source(store, source, types, versions, {}));
    for (TableEntry& entry : entries) {
      found.push_back(to_entry(parser, source.session_id, std::move(entry)));
    }
  }
  return found;
}

/// Looks for entries by their ids.
class EntriesById {
 public:
  /// Those of `types`, or of all. What was evicted is of any type.
  EntriesById(const Store& store, std::span<const std::string> ids,
              std::span<const std::string> wanted, std::span<const EntryType> types,
              Versions versions, std::optional<Timestamp> as_of)
      : store_(store),
        ids_(ids),
        wanted_(wanted),
        types_(types),
        versions_(versions),
        as_of_(as_of) {}

  Result<std::vector<Entry>> run() {
    BMAD_TRY_ASSIGN(const std::vector<SessionSource> evicted, evicted_sources(store_, wanted_));
    BMAD_TRY_ASSIGN(const std::vector<SessionSource> sessions, session_sources(store_, wanted_));
    BMAD_TRY(look_into(sessions));
    if (versions_ == Versions::kAll) {
      BMAD_TRY(add_older_versions(evicted));
    } else {
      BMAD_TRY(look_into(evicted));
    }
    BMAD_TRY(check_evicted(store_, wanted_, evicted));
    return std::move(found_);
  }

 private:
  using Place = std::tuple<std::string, EntryType, std::string>;

  [[nodiscard]] bool is_wanted(std::string_view id) const {
    return std::ranges::find(ids_, id) != ids_.end();
  }

  /// What is in the sessions counts, and is looked at first.
  Status look_into(std::span<const SessionSource> sources) {
    const std::set<Place> known = known_;
    for (const SessionSource& source : sources) {
      BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                      load_source(store_, source, types_, versions_, as_of_));
      for (TableEntry& entry : entries) {
        Place place(source.session_id, entry.type, entry.id);
        if (is_wanted(entry.id) && !known.contains(place)) {
          found_.push_back(to_entry(parser_, source.session_id, std::move(entry)));
          known_.insert(std::move(place));
        }
      }
    }
    return {};
  }

  /// Of what was evicted, all versions, and in front of those that came later.
  Status add_older_versions(std::span<const SessionSource> sources) {
    std::vector<Entry> older;
    for (const SessionSource& source : sources) {
      const Result<std::vector<EvictedLine>> lines = read_evicted(*store_.files, source.session_id);
      BMAD_TRY(source.check_still_there(store_));
      if (!lines) {
        BMAD_TRY(source.packed->files());  // It notes the damage.
        return lines.error();
      }
      BMAD_TRY_ASSIGN(const GoneEntries gone, gone_entries(store_, source.session_id));
      std::uint64_t number = 0;
      for (const EvictedLine& line : *lines) {
        ++number;
        const Result<JsonValue> value = parser_.parse(line.line);
        if (value && is_wanted(entry_id(*value)) && !gone.hold(line, entry_id(*value))) {
          older.push_back(evicted_entry(source.session_id, line, *value, number));
        }
      }
    }
    for (Entry& entry : older) {
      entry.versions = 1;
    }
    found_.insert(found_.begin(), std::make_move_iterator(older.begin()),
                  std::make_move_iterator(older.end()));
    return {};
  }

  static Entry evicted_entry(const std::string& session_id, const EvictedLine& line,
                             JsonValue value, std::uint64_t number) {
    const EntryHead head = entry_head(line.type, value);
    return Entry{.session_id = session_id,
                 .type = line.type,
                 .id = std::string(head.id),
                 .timestamp = head.timestamp,
                 .who = std::string(head.who),
                 .headline = entry_headline(line.type, value),
                 .json = line.line,
                 .line = number,
                 .versions = 1,
                 .pinned = head.pinned,
                 .sensitive = head.sensitive,
                 .archived = false,
                 .evicted = true};
  }

  const Store& store_;
  std::span<const std::string> ids_;
  std::span<const std::string> wanted_;
  std::span<const EntryType> types_;
  Versions versions_;
  std::optional<Timestamp> as_of_;
  JsonParser parser_;
  std::set<Place> known_;
  std::vector<Entry> found_;
};

}  // namespace

Result<std::vector<Entry>> read_entries(const Store& store, std::span<const std::string> wanted,
                                        std::span<const EntryType> types, bool all_versions,
                                        ArchivedSessions archived) {
  const Versions versions = all_versions ? Versions::kAll : Versions::kLatest;
  return choose_steadily(store, [&] { return load_all(store, wanted, types, versions, archived); });
}

namespace {

/// In the order of their places: sessions, archives, what was evicted; then by type and line.
auto place_of(const Entry& entry) {
  return std::tuple(entry.evicted, entry.archived, std::string_view(entry.session_id), entry.type,
                    entry.line);
}

/// The latest versions with these ids, by the indexes.
Result<std::vector<Entry>> look_up(const Store& store, std::span<const std::string> ids,
                                   std::span<const std::string> wanted) {
  const EntryFilter filter{.sessions = {wanted.begin(), wanted.end()}};
  const std::set<std::string_view> different(ids.begin(), ids.end());
  const auto look = [&](HeldIndexes& indexes) -> Result<std::vector<Entry>> {
    const std::span<IndexedSession* const> sessions = indexes.sessions();
    std::vector<Entry> found;
    for (const SearchedPart& part : parts_of(sessions)) {
      for (const std::string_view id : different) {
        BMAD_TRY_ASSIGN(const auto places, part.part->part_find(id));
        for (const IndexPart::PartEntry& place : places) {
          IndexedSession& session = *sessions[part.first + place.session];
          BMAD_TRY(in_session(session, session.load_slots(0, 0)));
          const auto hidden = session.hidden();
          if (hidden == nullptr || (*hidden)[session.slots().slot(place.ordinal)] == 0) {
            BMAD_TRY_ASSIGN(Entry entry, in_session(session, load_entry(session, place.ordinal)));
            found.push_back(std::move(entry));
          }
        }
      }
    }
    std::ranges::sort(found,
                      [](const Entry& a, const Entry& b) { return place_of(a) < place_of(b); });
    return found;
  };
  return with_indexes(store, filter, look);
}

/// The newest that pass, by the indexes.
Result<std::vector<Entry>> look_up_newest(const Store& store, const EntryFilter& filter) {
  const auto look = [&](HeldIndexes& indexes) -> Result<std::vector<Entry>> {
    const std::span<IndexedSession* const> sessions = indexes.sessions();
    BMAD_TRY_ASSIGN(const std::vector<Newest> newest, find_newest(sessions, filter));
    std::vector<Entry> found;
    IndexedSession::OpenLogs logs;
    const IndexedSession* opened = nullptr;
    for (const Newest& each : newest) {
      IndexedSession& session = *sessions[each.session];
      if (opened != &session) {
        logs = IndexedSession::OpenLogs();
        opened = &session;
      }
      BMAD_TRY_ASSIGN(Entry entry, in_session(session, load_entry(session, each.ordinal, logs)));
      found.push_back(std::move(entry));
    }
    sort_newest_first(found);
    cut_to(found, filter.limit);
    return found;
  };
  return with_indexes(store, filter, look);
}

/// Whether there are no other versions of `found`, which are the latest, anywhere.
Result<bool> are_only_ones(const Store& store, std::span<const Entry> found,
                           std::span<const std::string> their_sessions) {
  const bool are_single = std::ranges::all_of(
      found, [](const Entry& entry) { return entry.versions == 1 && !entry.evicted; });
  if (!are_single) {
    return false;
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> evicted, evicted_sessions(store, their_sessions));
  return evicted.empty();
}

}  // namespace

Result<std::vector<Entry>> find_entries(const Store& store, std::span<const std::string> ids,
                                        std::span<const std::string> wanted, bool all_versions,
                                        std::optional<Timestamp> as_of) {
  const auto read = [&](std::span<const std::string> sessions, std::span<const EntryType> types) {
    const Versions versions = all_versions ? Versions::kAll : Versions::kLatest;
    return choose_steadily(
        store, [&] { return EntriesById(store, ids, sessions, types, versions, as_of).run(); });
  };
  if (as_of || !store.config.indexing.enabled) {
    return read(wanted, {});
  }
  BMAD_TRY_ASSIGN(std::vector<Entry> found, look_up(store, ids, wanted));
  if (!all_versions || found.empty()) {
    return found;
  }
  // The other versions are in the same logs, or were evicted from them.
  std::set<std::string> ids_of_sessions;
  std::set<EntryType> different_types;
  for (const Entry& entry : found) {
    ids_of_sessions.insert(entry.session_id);
    different_types.insert(entry.type);
  }
  const std::vector<std::string> sessions(ids_of_sessions.begin(), ids_of_sessions.end());
  const std::vector<EntryType> types(different_types.begin(), different_types.end());
  BMAD_TRY_ASSIGN(const bool are_all, are_only_ones(store, found, sessions));
  if (are_all) {
    return found;
  }
  Result<std::vector<Entry>> all = read(sessions, types);
  return all ? std::move(all) : read(wanted, {});  // One may have gone meanwhile.
}

Result<std::vector<Entry>> list_entries(const Store& store, const EntryFilter& filter) {
  BMAD_TRY(check_time_range(filter));
  if (!filter.as_of && filter.limit != 0 && store.config.indexing.enabled) {
    return look_up_newest(store, filter);
  }
  BMAD_TRY_ASSIGN(std::vector<Located> found,
                  choose_steadily(store, [&] { return load_filtered(store, filter); }));
  sort_newest_first(found);
  cut_to(found, filter.limit);
  std::vector<Entry> entries;
  entries.reserve(found.size());
  JsonParser parser;
  for (Located& located : found) {
    entries.push_back(to_entry(parser, located.session_id, std::move(located.entry)));
  }
  return entries;
}

}  // namespace bmad_mem
