// reads.cpp - get, history and list, by reading the logs. No lock is taken. Of what is packed, the
// index beside it tells where an entry is.
#include <algorithm>
#include <iterator>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "entry_filter.hpp"
#include "index/entry_table.hpp"
#include "lifecycle/evicted_file.hpp"
#include "model/entry.hpp"
#include "past_files.hpp"
#include "query/question.hpp"
#include "session_sources.hpp"
#include "store.hpp"

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

/// The time of the newest entry of each packed one, by what their indexes say.
Result<std::vector<std::pair<Timestamp, const SessionSource*>>> newest_first(
    std::span<const SessionSource> sources) {
  BMAD_TRY(refresh_packed(sources));
  std::vector<std::pair<Timestamp, const SessionSource*>> found;
  for (const SessionSource& source : sources) {
    if (source.packed != nullptr) {
      const auto guard = source.packed->index().lock();
      found.emplace_back(source.packed->index().facts().newest, &source);
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater(),
                           &std::pair<Timestamp, const SessionSource*>::first);
  return found;
}

/// Newest first; equal times by session and id, so that the order never depends on chance.
bool is_newer(const Located& a, const Located& b) {
  if (a.entry.evicted != b.entry.evicted) {
    return b.entry.evicted;  // Behind all others.
  }
  if (a.entry.timestamp != b.entry.timestamp) {
    return a.entry.timestamp > b.entry.timestamp;
  }
  if (a.session_id != b.session_id) {
    return a.session_id > b.session_id;
  }
  return a.entry.id > b.entry.id;
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

  /// Those of archives, as long as they can be among the newest.
  Status add_packed(std::span<const SessionSource> sources) {
    BMAD_TRY_ASSIGN(const auto packed, newest_first(sources));
    for (const auto& [newest, source] : packed) {
      if (is_full() && newest < newest_.top()) {
        return {};
      }
      BMAD_TRY(add(*source));
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
  // What the indexes of archives say of their newest entries is not about the past.
  for (const SessionSource& source : sessions) {
    BMAD_TRY(source.packed == nullptr || filter.as_of ? found.add(source) : Status());
  }
  BMAD_TRY(filter.as_of ? Status() : found.add_packed(sessions));
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
  EntriesById(const Store& store, std::span<const std::string> ids,
              std::span<const std::string> wanted, Versions versions,
              std::optional<Timestamp> as_of)
      : store_(store), ids_(ids), wanted_(wanted), versions_(versions), as_of_(as_of) {}

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
    BMAD_TRY(as_of_ ? Status() : refresh_packed(sources));
    const std::set<Place> known = known_;
    for (const SessionSource& source : sources) {
      Result<std::vector<TableEntry>> entries = look_up(source);
      if (!entries) {
        entries = load_source(store_, source, {}, versions_, as_of_);
      }
      BMAD_TRY(entries);
      for (TableEntry& entry : *entries) {
        Place place(source.session_id, entry.type, entry.id);
        if (is_wanted(entry.id) && !known.contains(place)) {
          found_.push_back(to_entry(parser_, source.session_id, std::move(entry)));
          known_.insert(std::move(place));
        }
      }
    }
    return {};
  }

  /// What the index of a packed one says of them, which reads their lines alone. An error says that
  /// all has to be read.
  Result<std::vector<TableEntry>> look_up(const SessionSource& source) {
    const Error unknown{.code = ErrorCode::E_STORAGE_CORRUPT, .message = "has no index"};
    if (source.packed == nullptr || as_of_) {
      return unknown;
    }
    SessionIndex& index = source.packed->index();
    const auto guard = index.lock();
    BMAD_TRY_ASSIGN(const bool may_hold, index.may_hold(ids_));
    std::vector<TableEntry> entries;
    if (!may_hold) {
      return entries;
    }
    if (versions_ == Versions::kAll) {
      return unknown;
    }
    for (const std::string_view id : std::set<std::string_view>(ids_.begin(), ids_.end())) {
      BMAD_TRY_ASSIGN(const std::vector<Ordinal> ordinals, index.find(id));
      for (const Ordinal ordinal : ordinals) {
        BMAD_TRY_ASSIGN(const SessionIndex::LoadedLine line, index.line(ordinal));
        BMAD_TRY_ASSIGN(const JsonValue value, parser_.parse(line.text));
        const SlotView slots = index.slots();
        TableEntry entry = to_table_entry({.type = flag_type(slots.flags[slots.slot(ordinal)]),
                                           .value = value,
                                           .text = line.text,
                                           .line = line.number});
        const OddEntry* odd = index.odd(ordinal);
        entry.versions = odd == nullptr ? 1 : odd->versions;
        entry.archived = source.is_archived();
        entry.evicted = source.is_evicted();
        entries.push_back(std::move(entry));
      }
    }
    BMAD_TRY(source.check_still_there(store_));
    std::ranges::sort(entries, {},
                      [](const TableEntry& entry) { return std::pair(entry.type, entry.line); });
    return entries;
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

Result<std::vector<Entry>> find_entries(const Store& store, std::span<const std::string> ids,
                                        std::span<const std::string> wanted, bool all_versions,
                                        std::optional<Timestamp> as_of) {
  const Versions versions = all_versions ? Versions::kAll : Versions::kLatest;
  return choose_steadily(store,
                         [&] { return EntriesById(store, ids, wanted, versions, as_of).run(); });
}

Result<std::vector<Entry>> list_entries(const Store& store, const EntryFilter& filter) {
  BMAD_TRY(check_time_range(filter));
  BMAD_TRY_ASSIGN(std::vector<Located> found,
                  choose_steadily(store, [&] { return load_filtered(store, filter); }));
  std::ranges::sort(found, is_newer);
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
