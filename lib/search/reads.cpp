// reads.cpp - get, history and list: by the indexes, or by the logs for all versions and the past.
#include "search/reads.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "encrypted_reads.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "search/cached_indexes.hpp"
#include "search/field_filter.hpp"
#include "search/holding.hpp"
#include "search/search.hpp"
#include "search/session_sources.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/present_sessions.hpp"
#include "store/return_lines.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

Result<std::vector<TableEntry>> read_source(const Store& store, const SessionSource& source,
                                            std::span<const EntryType> types, Versions versions,
                                            std::optional<Timestamp> as_of, bool opened) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files,
                  as_of ? past_files(store, source, *as_of) : source.files(store));
  BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                  load_entries(*files, source.session_id, types, versions, {},
                               as_of || !opened ? nullptr : store.encryption.get()));
  BMAD_TRY(source.check_still_there(store));
  for (TableEntry& entry : entries) {
    entry.archived = source.is_archived();
    entry.evicted = source.is_evicted();
  }
  return entries;
}

/// Nothing of a session that can't be read, which is left out. Errors: one that is_not_found() when
/// the session has left its place meanwhile. With `opened`, encrypted entries are among them as far
/// as the key opens them: nobody may write down what they say.
Result<std::vector<TableEntry>> load_source(const Store& store, const SessionSource& source,
                                            std::span<const EntryType> types, Versions versions,
                                            std::optional<Timestamp> as_of = {},
                                            bool opened = false) {
  Result<std::vector<TableEntry>> entries =
      read_source(store, source, types, versions, as_of, opened);
  if (!entries) {
    BMAD_TRY(source.leave_out(store, std::move(entries).error()));
    return std::vector<TableEntry>();
  }
  return entries;
}

/// An entry and the session that holds it.
struct Located {
  std::string session_id;
  TableEntry entry;
  std::optional<std::size_t> statement = {};  ///< See ValidStatements.
};

/// What passes and is `wanted`, by the logs: what can't be read hides nothing else. Where as many
/// were found as the filter wants, nothing of what was evicted, which comes behind all others.
template <typename Wanted>
Result<std::vector<Located>> load_latest(const Store& store, const EntryFilter& filter,
                                         const Wanted& wanted) {
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> evicted,
                  evicted_sources(store, filter.sessions));
  const bool with_archives = filter.archived != ArchivedSessions::kWithout;
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> sources,
                  session_sources(store, filter.sessions,
                                  with_archives ? ArchivedSessions::kWith : filter.archived));
  std::vector<Located> found;
  ValidStatements held(store.origins.get());
  // What was evicted and came back counts in its session, and the newest of what was evicted.
  std::map<std::string, std::set<std::pair<EntryType, std::string>>> known;
  for (const SessionSource& source : evicted) {
    known.try_emplace(source.session_id);
  }
  const auto add = [&](const SessionSource& source) -> Status {
    const auto its = known.find(source.session_id);
    const bool is_asked = filter.archived != ArchivedSessions::kOnly || source.packed != nullptr;
    if (!is_asked && its == known.end()) {
      return {};
    }
    BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                    load_source(store, source, filter.types, Versions::kLatest, filter.as_of,
                                store.encryption->opens()));
    for (TableEntry& entry : entries) {
      if ((its != known.end() && !its->second.emplace(entry.type, entry.id).second) || !is_asked) {
        continue;
      }
      std::optional<std::size_t> statement;
      if (!filter.with_outdated &&
          wanted(source.session_id, entry)) {  // What has expired replaces nothing.
        statement = held.hear(source.session_id, entry);
      }
      if (passes(filter, source.session_id, entry) && wanted(source.session_id, entry)) {
        found.push_back(
            {.session_id = source.session_id, .entry = std::move(entry), .statement = statement});
      }
    }
    return {};
  };
  for (const SessionSource& source : sources) {
    BMAD_TRY(add(source));
  }
  const auto drop_replaced = [&] {
    held.settle();
    std::erase_if(found, [&](const Located& each) {
      return each.statement && held.is_replaced(*each.statement);
    });
  };
  drop_replaced();
  const bool are_enough = filter.limit != 0 && found.size() >= filter.limit;
  if (with_archives && !are_enough) {
    for (const SessionSource& source : evicted) {
      BMAD_TRY(add(source));
    }
  }
  BMAD_TRY(check_evicted(store, filter.sessions, evicted));
  drop_replaced();
  return found;
}

std::vector<Entry> to_entries(std::vector<Located> found) {
  std::vector<Entry> entries;
  entries.reserve(found.size());
  JsonParser parser;
  for (Located& each : found) {
    entries.push_back(to_entry(parser, each.session_id, std::move(each.entry)));
  }
  return entries;
}

/// The first `limit` (0: all), the newest first, and what was evicted behind all others; equal
/// times by session and id, so that the order never depends on chance.
template <typename T, typename EntryOf>
void keep_newest(std::vector<T>& items, std::size_t limit, const EntryOf& entry_of) {
  const auto rank = [&](const T& item) {
    const auto& entry = entry_of(item);
    return std::tuple(!entry.evicted, entry.timestamp, std::string_view(item.session_id),
                      std::string_view(entry.id));
  };
  if (!std::ranges::is_sorted(items, std::greater(), rank)) {  // From indexes they come in order.
    std::ranges::sort(items, std::greater(), rank);
  }
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
    BMAD_TRY_ASSIGN(std::vector<TableEntry> entries, load_source(store, source, types, versions));
    for (TableEntry& entry : entries) {
      found.push_back(to_entry(parser, source.session_id, std::move(entry)));
    }
  }
  return found;
}

/// Looks for all versions of entries by their ids.
class EntriesById {
 public:
  /// Those of `types`, or of all. What was evicted is of any type.
  EntriesById(const Store& store, std::span<const std::string> ids,
              std::span<const std::string> wanted, std::span<const EntryType> types)
      : store_(store), ids_(ids), wanted_(wanted), types_(types) {}

  Result<std::vector<Entry>> run() {
    BMAD_TRY_ASSIGN(const std::vector<SessionSource> evicted, evicted_sources(store_, wanted_));
    BMAD_TRY_ASSIGN(const std::vector<SessionSource> sessions, session_sources(store_, wanted_));
    BMAD_TRY(look_into(sessions));
    BMAD_TRY(add_older_versions(evicted));
    BMAD_TRY(check_evicted(store_, wanted_, evicted));
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_wanted(std::string_view id) const {
    return std::ranges::find(ids_, id) != ids_.end();
  }

  Status look_into(std::span<const SessionSource> sources) {
    for (const SessionSource& source : sources) {
      BMAD_TRY_ASSIGN(
          std::vector<TableEntry> entries,
          load_source(store_, source, types_, Versions::kAll, {}, store_.encryption->opens()));
      for (TableEntry& entry : entries) {
        if (is_wanted(entry.id)) {
          found_.push_back(to_entry(parser_, source.session_id, std::move(entry)));
        }
      }
    }
    return {};
  }

  /// Of what was evicted, all versions, and in front of those that came later.
  Status add_older_versions(std::span<const SessionSource> sources) {
    std::vector<Entry> older;
    std::set<std::string> known;  // Lines that are there twice.
    for (const SessionSource& source : std::views::reverse(sources)) {
      assert(source.is_evicted());
      const Result<std::vector<EvictedLine>> lines =
          read_evicted(*store_.files, source.session_id, source.packed->place().part);
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
        if (value && is_wanted(entry_id(*value)) && !gone.hold(line, entry_id(*value)) &&
            known.insert(line.line).second) {
          add_evicted(older, source.session_id, line, *value, number);
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

  /// Leaves out an encrypted one that does not open.
  void add_evicted(std::vector<Entry>& older, const std::string& session_id,
                   const EvictedLine& line, JsonValue value, std::uint64_t number) {
    if (!is_encrypted(value) || !check_entry(line.type, value)) {
      older.push_back(evicted_entry(session_id, line, value, number));
      return;
    }
    EvictedLine inner = line;
    Result<std::string> opened = store_.encryption->open(session_id, line.type, value);
    inner.line = opened ? *std::move(opened) : std::string();
    if (const Result<JsonValue> entry = inner_parser_.parse(inner.line)) {
      older.push_back(evicted_entry(session_id, inner, *entry, number));
    }
  }

  static Entry evicted_entry(const std::string& session_id, const EvictedLine& line,
                             JsonValue value, std::uint64_t number) {
    Entry entry = to_entry(session_id, line.type, value);
    entry.json = line.line;
    entry.line = number;
    entry.evicted = true;
    return entry;
  }

  const Store& store_;
  std::span<const std::string> ids_;
  std::span<const std::string> wanted_;
  std::span<const EntryType> types_;
  JsonParser parser_;
  JsonParser inner_parser_;
  std::vector<Entry> found_;
};

/// In the order of their places: sessions, archives, what was evicted; then by type and line.
auto place_of(const Entry& entry) {
  return std::tuple(entry.evicted, entry.archived, std::string_view(entry.session_id), entry.type,
                    entry.line);
}

/// The latest versions with these ids: by the indexes, or by the logs where there are none.
Result<std::vector<Entry>> look_up(const Store& store, std::span<const std::string> ids,
                                   std::span<const std::string> wanted,
                                   std::optional<Timestamp> as_of) {
  const EntryFilter filter{.sessions = {wanted.begin(), wanted.end()},
                           .as_of = as_of,
                           .with_outdated = true,
                           .limit = 0};
  const std::set<std::string_view> different(ids.begin(), ids.end());
  const auto look = [&](CachedIndexes& indexes) -> Result<std::vector<Entry>> {
    EncryptedSessions encrypted;
    BMAD_TRY(encrypted.add(store, indexes, {.ids = ids}));
    std::vector<Entry> found;
    for (const std::string_view id : different) {
      BMAD_TRY_ASSIGN(std::vector<Entry> its, entries_with_id(indexes.sessions(), id));
      std::erase_if(its, [&](const Entry& entry) { return encrypted.replace(entry); });
      std::ranges::move(its, std::back_inserter(found));
      BMAD_TRY_ASSIGN(std::vector<Entry> opened, entries_with_id(encrypted.sessions(), id));
      std::ranges::move(opened, std::back_inserter(found));
    }
    return found;
  };
  const auto read = [&]() -> Result<std::vector<Entry>> {
    BMAD_TRY_ASSIGN(std::vector<Located> found,
                    load_latest(store, filter, [&](const auto&, const auto& entry) {
                      return different.contains(entry.id);
                    }));
    return to_entries(std::move(found));
  };
  BMAD_TRY_ASSIGN(std::vector<Entry> found, !as_of && store.config.indexing.enabled
                                                ? with_indexes(store, filter, look)
                                                : choose_steadily(store, read));
  std::ranges::sort(found, {}, place_of);
  return found;
}

/// Whether there are no other versions of `found`, which are the latest, anywhere.
Result<bool> are_only_ones(const Store& store, std::span<const Entry> found,
                           std::span<const std::string> their_sessions) {
  if (!std::ranges::all_of(
          found, [](const Entry& entry) { return entry.versions == 1 && !entry.evicted; })) {
    return false;
  }
  BMAD_TRY_ASSIGN(const EvictedParts evicted, evicted_sessions(store, their_sessions));
  return evicted.empty();
}

/// See list_entries(); of this memory alone.
Result<std::vector<Entry>> list_own(const Store& store, const EntryFilter& filter) {
  const Timestamp now = filter.as_of.value_or(store.clock.now());
  const auto look = [&](CachedIndexes& indexes) -> Result<std::vector<Entry>> {
    EncryptedSessions encrypted;  // No index has what is encrypted.
    BMAD_TRY(encrypted.add(store, indexes, {.types = filter.types}));
    if (encrypted.damaged > 0 && store.on_problem) {
      store.on_problem({.code = ErrorCode::E_STORAGE_CORRUPT,
                        .message = fmt::format(
                            "encrypted lines that the key does not open: {}; `bmad-mem verify` "
                            "names each",
                            encrypted.damaged)});
    }
    std::vector<IndexedSession*> sessions(indexes.sessions().begin(), indexes.sessions().end());
    const std::size_t first_encrypted = sessions.size();
    sessions.insert(sessions.end(), encrypted.sessions().begin(), encrypted.sessions().end());
    BMAD_TRY_ASSIGN(const std::vector<Newest> newest,
                    find_newest(sessions, filter, now, store.origins.get()));
    std::vector<Entry> found;
    for (const Newest& each : newest) {
      assert(each.session < sessions.size());
      IndexedSession& session = *sessions[each.session];
      BMAD_TRY_ASSIGN(Entry entry, in_session(session, load_entry(session, each.ordinal)));
      if (each.session >= first_encrypted || !encrypted.replace(entry)) {
        found.push_back(std::move(entry));
      }
    }
    return found;
  };
  if (!filter.as_of && filter.limit != 0 && store.config.indexing.enabled) {
    BMAD_TRY_ASSIGN(std::vector<Entry> entries, with_indexes(store, filter, look));
    keep_newest(entries, filter.limit, std::identity());
    return entries;
  }
  BMAD_TRY_ASSIGN(std::vector<Located> found, choose_steadily(store, [&] {
                    return load_latest(
                        store, filter, [&](const auto& session_id, const TableEntry& entry) {
                          return !has_expired(entry.expires_at, now) &&
                                 !store.past_retention.hides(session_id, entry.type,
                                                             entry.timestamp, entry.pinned, now);
                        });
                  }));
  keep_newest(found, filter.limit,
              [](const Located& each) -> const TableEntry& { return each.entry; });
  return to_entries(std::move(found));
}

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
  const auto read = [&](std::span<const std::string> sessions, std::span<const EntryType> types) {
    return choose_steadily(store, [&] { return EntriesById(store, ids, sessions, types).run(); });
  };
  BMAD_TRY_ASSIGN(std::vector<Entry> found, look_up(store, ids, wanted, as_of));
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
  if (are_all &&
      !store.encryption->is_on()) {  // What is encrypted and what is in clear count apart.
    return found;
  }
  Result<std::vector<Entry>> all = read(sessions, types);
  return all ? std::move(all) : read(wanted, {});  // One may have gone meanwhile.
}

Result<std::uint64_t> count_closed(const Store& store, const EntryFilter& filter) {
  return with_indexes(store, filter, [&](CachedIndexes& indexes) -> Result<std::uint64_t> {
    EncryptedSessions encrypted;
    BMAD_TRY(encrypted.add(store, indexes, {.types = filter.types, .counts_only = true}));
    if (encrypted.key_problem && encrypted.closed > 0) {
      return *std::move(encrypted.key_problem);
    }
    return encrypted.closed;
  });
}

Result<std::uint64_t> count_encrypted(const Store& store, const EntryFilter& filter) {
  return with_indexes(store, filter, [](const CachedIndexes& indexes) -> Result<std::uint64_t> {
    return indexes.encrypted_lines();
  });
}

Result<std::vector<Entry>> list_entries(const Store& store, const EntryFilter& filter) {
  BMAD_TRY(check_time_range(filter));
  BMAD_TRY_ASSIGN(std::vector<Entry> entries, list_own(store, filter));
  if (const std::vector<std::string> others = store.checkout_sessions();
      filter.sessions.empty() && !others.empty()) {
    EntryFilter its = filter;
    its.sessions = others;
    BMAD_TRY_ASSIGN(std::vector<Entry> more, list_own(*store.checkout(), its));
    std::ranges::move(more, std::back_inserter(entries));
    keep_newest(entries, filter.limit, std::identity());
  }
  return entries;
}

}  // namespace bmad_mem
