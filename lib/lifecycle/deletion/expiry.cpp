// expiry.cpp - entries that are past their own expires_at go for good.
//
//   index: which, in logs, archives, and of what was evicted -> deleted/ -> a purge of their ids
#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "deletion_steps.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/deletion.hpp"
#include "model/entry.hpp"
#include "search/archive_reader.hpp"
#include "search/reads.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<std::vector<LogLine>> look_into_logs(FileSystem& files, const std::string& folder,
                                            Verdicts& verdicts,
                                            const std::vector<std::string>& ids) {
  const std::unordered_set<std::string_view> wanted(ids.begin(), ids.end());
  std::vector<LogLine> lines;
  const auto take = [&](const ScannedEntry& entry) {
    if (wanted.empty() || wanted.contains(entry_id(entry.value))) {
      verdicts.note(entry.type, entry.value, entry.text);
      lines.push_back(log_line(entry));
    }
  };
  BMAD_TRY(scan_logs(files, folder, {.on_entry = take, .on_encrypted = take}));
  std::erase_if(lines,
                [&](const LogLine& line) { return verdicts.of(line.type, line.id) != true; });
  return lines;
}

namespace {

/// Which entries are past their own expires_at at `now`.
Verdicts expired_at(Timestamp now) {
  return Verdicts([now](EntryType type, JsonValue entry, std::string_view) {
    return has_expired(entry_head(type, entry).expires_at, now);
  });
}

/// The entries of one session that are not valid any more.
struct Invalid {
  std::set<std::string> ids;
  std::vector<Retired> places;

  void add(const std::string& session_id, std::string_view place, EntryType type,
           const std::string& id) {
    ids.insert(id);
    auto at = std::ranges::find(places, place, &Retired::place);
    if (at == places.end()) {
      places.push_back({.session_id = session_id, .place = std::string(place)});
      at = std::prev(places.end());
    }
    ++at->entries[static_cast<std::size_t>(type)];
  }
};

/// By session.
using AllInvalid = std::map<std::string, Invalid>;

/// What was deleted and can still be brought back: entries, and sessions as a whole.
Status find_invalid_deleted(const Store& store, Timestamp now, AllInvalid& all) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, sessions_with_deletions(files));
  for (const std::string& session_id : sessions) {
    Verdicts verdicts = expired_at(now);
    std::vector<LogLine> found;
    BMAD_TRY_ASSIGN(const std::vector<DeletedLine> lines, read_deleted(files, session_id));
    for (const DeletedLine& line : lines) {
      if (!line.is_damaged && line.line.contains(kExpiresField)) {
        verdicts.note_line(line.type, line.line);
      }
    }
    for (const DeletedLine& line : lines) {
      if (std::optional<std::string> id = verdicts.id_if_it_goes(line.type, line.line)) {
        found.push_back({.type = line.type, .id = *std::move(id)});
      }
    }
    BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(files, session_id));
    for (const Deletion& deletion : record.deletions) {
      if (deletion.whole_session) {
        BMAD_TRY_ASSIGN(
            std::vector<LogLine> of_session,
            look_into_logs(files, deleted_session_folder(session_id, deletion.deletion_id),
                           verdicts));
        std::ranges::move(of_session, std::back_inserter(found));
      }
    }
    std::set<std::pair<EntryType, std::string>> known;
    for (const LogLine& line : found) {
      if (known.emplace(line.type, line.id).second) {
        all[session_id].add(session_id, "deleted", line.type, line.id);
      }
    }
  }
  return {};
}

/// What is past its time by the lines of a session, its archive and what was evicted of it: no
/// index has what is encrypted, and its `expires_at` is in clear. Takes out of `invalid` what has a
/// later version there that is valid.
Status find_invalid_lines(const Store& store, const std::string& session_id, Timestamp now,
                          Invalid& invalid) {
  Verdicts verdicts = expired_at(now);
  BMAD_TRY_ASSIGN(const std::vector<EvictedLine> evicted, read_evicted(*store.files, session_id));
  verdicts.note_lines(evicted);
  std::shared_ptr<FileSystem> archive;
  if (is_archived(store, session_id)) {
    BMAD_TRY_ASSIGN(archive, archive_files(store, session_id));
  }
  BMAD_TRY_ASSIGN(const std::vector<LogLine> in_logs,
                  look_into_logs(archive == nullptr ? *store.files : *archive,
                                 session_folder(session_id), verdicts));
  std::erase_if(invalid.ids, [&](const std::string& id) {
    return std::ranges::any_of(kEntryTypes,
                               [&](EntryType type) { return verdicts.of(type, id) == false; });
  });
  for (const LogLine& line : in_logs) {
    if (!invalid.ids.contains(line.id)) {
      invalid.add(session_id, archive == nullptr ? "log" : "archive", line.type, line.id);
    }
  }
  for (const EvictedLine& line : evicted) {
    const std::optional<std::string> id = verdicts.id_if_it_goes(line.type, line.line);
    if (id && !invalid.ids.contains(*id)) {
      invalid.add(session_id, "evicted", line.type, *id);
    }
  }
  return {};
}

/// A purge is by id: one that something valid has as well, such as an entry of another type, stays.
Status spare_valid(const Store& store, const std::string& session_id, Timestamp now,
                   Invalid& invalid) {
  const std::vector<std::string> ids(invalid.ids.begin(), invalid.ids.end());
  BMAD_TRY_ASSIGN(const std::vector<Entry> there, find_entries(store, ids, {}, false));
  for (const Entry& entry : there) {
    if (entry.session_id == session_id && !has_expired(entry.expires_at, now)) {
      invalid.ids.erase(entry.id);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Retired>> purge_invalid(Store& store, Timestamp now, bool dry_run,
                                           std::vector<Error>& problems) {
  AllInvalid all;
  BMAD_TRY_ASSIGN(const std::vector<ExpiredEntry> expired, expired_entries(store, now));
  for (const ExpiredEntry& entry : expired) {
    const std::string_view place = entry.evicted ? "evicted" : entry.archived ? "archive" : "log";
    all[entry.session_id].add(entry.session_id, place, entry.type, entry.id);
  }
  if (store.encryption->is_on()) {
    BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, all_session_ids(store));
    for (const std::string& session_id : sessions) {
      const Status found = find_invalid_lines(store, session_id, now, all[session_id]);
      if (!found) {
        problems.push_back(found.error());
      }
    }
  }
  BMAD_TRY(find_invalid_deleted(store, now, all));
  std::vector<Retired> done;
  if (all.empty()) {
    return done;
  }
  const ViewsDropped views(store, !dry_run);
  BMAD_TRY(views.status());
  for (auto& [session_id, invalid] : all) {
    BMAD_TRY(spare_valid(store, session_id, now, invalid));
    if (invalid.ids.empty()) {
      continue;
    }
    if (!dry_run) {
      const DeletionCriteria criteria{.ids = {invalid.ids.begin(), invalid.ids.end()},
                                      .sessions = {session_id}};
      const auto purged = purge_entries(store, criteria, {.purge = true}, "past their expires_at");
      if (!purged) {
        problems.push_back(purged.error());
        continue;
      }
    }
    assert(!invalid.places.empty() && "each id was found in a place");
    std::ranges::move(invalid.places, std::back_inserter(done));
  }
  return done;
}

}  // namespace bmad_mem
