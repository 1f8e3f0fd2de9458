// reads.cpp - get, history and list, by reading the logs. No lock is taken.
#include <algorithm>
#include <memory>

#include "bmad_mem/json_parser.hpp"
#include "entry_filter.hpp"
#include "index/entry_table.hpp"
#include "packed_session.hpp"
#include "query/question.hpp"
#include "store.hpp"

namespace bmad_mem {
namespace {

/// Where the entries of a session are read: in its folder, or in what was kept or archived of it.
struct Source {
  std::string session_id;
  std::shared_ptr<FileSystem> packed;  // Null for a folder.

  [[nodiscard]] FileSystem& files(const Store& store) const {
    return packed == nullptr ? *store.files : *packed;
  }
};

/// Of the sessions `wanted`, or of all, those that are kept among them; with `archived` archived
/// ones as a whole.
Result<std::vector<Source>> sources(const Store& store, std::span<const std::string> wanted,
                                    bool archived) {
  std::vector<Source> found;
  const PackedKind kind = archived ? PackedKind::kArchive : PackedKind::kKept;
  const auto add_packed = [&](const std::string& id) -> Status {
    BMAD_TRY_ASSIGN(std::shared_ptr<FileSystem> files, packed_files(store, id, kind));
    found.push_back({.session_id = id, .packed = std::move(files)});
    return {};
  };
  if (wanted.empty()) {
    BMAD_TRY_ASSIGN(const PresentSessions present, present_sessions(store, kind));
    for (const std::string& id : present.live) {
      found.push_back({.session_id = id, .packed = nullptr});
    }
    for (const std::string& id : present.packed) {
      BMAD_TRY(add_packed(id));
    }
    return found;
  }
  for (const std::string& id : wanted) {
    Status there = check_session(store, id);
    if (!there && archived && there.error().code == ErrorCode::E_SESSION_ARCHIVED) {
      BMAD_TRY(add_packed(id));
      continue;
    }
    BMAD_TRY(std::move(there));
    found.push_back({.session_id = id, .packed = nullptr});
  }
  return found;
}

/// An entry and the session that holds it.
struct Located {
  std::string session_id;
  TableEntry entry;
};

/// Errors: one that is_not_found() when the session has left its folder meanwhile.
Result<std::vector<TableEntry>> load_source(const Store& store, const Source& source,
                                            std::span<const EntryType> types, Versions versions) {
  BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                  load_entries(source.files(store), source.session_id, types, versions));
  if (source.packed == nullptr) {
    BMAD_TRY(check_still_there(store, source.session_id));
  }
  return entries;
}

/// Newest first; equal times by session and id, so that the order never depends on chance.
bool is_newer(const Located& a, const Located& b) {
  if (a.entry.timestamp != b.entry.timestamp) {
    return a.entry.timestamp > b.entry.timestamp;
  }
  if (a.session_id != b.session_id) {
    return a.session_id > b.session_id;
  }
  return a.entry.id > b.entry.id;
}

Result<std::vector<Located>> load_filtered(const Store& store, const EntryFilter& filter) {
  BMAD_TRY_ASSIGN(const std::vector<Source> sessions,
                  sources(store, filter.sessions, filter.archived));
  std::vector<Located> found;
  for (const Source& source : sessions) {
    BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                    load_source(store, source, filter.types, Versions::kLatest));
    for (TableEntry& entry : entries) {
      if (passes(filter, entry)) {
        found.push_back({.session_id = source.session_id, .entry = std::move(entry)});
      }
    }
  }
  return found;
}

template <typename T>
void cut_to(std::vector<T>& items, std::size_t limit) {
  if (limit != 0 && items.size() > limit) {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(limit), items.end());
  }
}

Result<std::vector<Entry>> load_all(const Store& store, std::span<const std::string> wanted,
                                    std::span<const EntryType> types, Versions versions) {
  BMAD_TRY_ASSIGN(const std::vector<Source> sessions, sources(store, wanted, false));
  std::vector<Entry> found;
  JsonParser parser;
  for (const Source& source : sessions) {
    BMAD_TRY_ASSIGN(std::vector<TableEntry> entries, load_source(store, source, types, versions));
    for (TableEntry& entry : entries) {
      found.push_back(to_entry(parser, source.session_id, std::move(entry)));
    }
  }
  return found;
}

}  // namespace

Result<std::vector<Entry>> read_entries(const Store& store, std::span<const std::string> wanted,
                                        std::span<const EntryType> types, bool all_versions) {
  const Versions versions = all_versions ? Versions::kAll : Versions::kLatest;
  return choose_steadily([&] { return load_all(store, wanted, types, versions); });
}

Result<std::vector<Entry>> list_entries(const Store& store, const EntryFilter& filter) {
  BMAD_TRY(check_time_range(filter));
  BMAD_TRY_ASSIGN(std::vector<Located> found,
                  choose_steadily([&] { return load_filtered(store, filter); }));
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
