// known_entries.cpp - a log and what was evicted of it, by id, against the entries of a batch.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <memory>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/return_lines.hpp"
#include "store/sessions.hpp"

namespace bmad_mem {
namespace {

/// The hashes of the lines of an entry.
struct KnownEntry {
  std::unordered_set<std::uint64_t> lines;
  std::uint64_t newest = 0;
};

/// What a log holds already, or held before compaction made room, by id. What was evicted was
/// imported once; taking it in again would evict something else.
using KnownLines = std::unordered_map<std::string, KnownEntry>;

Result<KnownLines> known_lines(const Store& store, const std::string& session_id, EntryType type) {
  KnownLines known;
  JsonParser parser;
  const auto take = [&](const ScannedEntry& entry) {
    KnownEntry& its = known[std::string(entry_id(entry.value))];
    its.newest = xxh3(entry.text);
    its.lines.insert(its.newest);
  };
  std::unique_ptr<LineOpener>
      opener;  // Made for the first encrypted line, of which a copy may come.
  const auto take_encrypted = [&](const ScannedEntry& entry) {
    if (opener == nullptr) {
      Result<std::unique_ptr<LineOpener>> made = store.encryption->opener();
      opener = made ? *std::move(made) : nullptr;
    }
    const Result<std::string> line = opener == nullptr
                                         ? Result<std::string>(Error{})
                                         : opener->open(session_id, type, entry.value);
    ScannedEntry opened = entry;
    opened.text = line ? std::string_view(*line) : entry.text;
    take(opened);
  };
  BMAD_TRY(scan_log(*store.files, log_path(session_id, type), type, parser,
                    {.on_entry = take, .on_encrypted = take_encrypted}));
  // A damaged archive is for verify to name; it must not prevent a write. One part at a
  // time, the newest version first.
  BMAD_TRY_ASSIGN(const GoneEntries gone, gone_entries(store, session_id));
  for (std::uint32_t part = evicted_parts(*store.files, session_id).value_or(0); part > 0; --part) {
    const auto lines =
        read_evicted(*store.files, session_id, part).value_or(std::vector<EvictedLine>());
    for (const EvictedLine& line : std::views::reverse(lines)) {
      const Result<JsonValue> value = parser.parse(line.line);
      if (line.type == type && value && !gone.hold(line, entry_id(*value))) {
        KnownEntry& its = known[std::string(entry_id(*value))];
        its.newest = its.lines.empty() ? xxh3(line.line) : its.newest;
        its.lines.insert(xxh3(line.line));
        assert(its.lines.contains(its.newest));
      }
    }
  }
  return known;
}

/// Errors: E_CONCURRENT_MOD for the first entry whose id was purged, or has another newest line.
Status refuse_known(const Store& store, const KnownLines& known,
                    const std::vector<std::string>& purged_ids,
                    std::span<const CompleteEntry> entries, const std::string& session_id) {
  for (const CompleteEntry& entry : entries) {
    const auto found = known.find(entry.id);
    const bool is_purged = is_purged_id(store, purged_ids, entry.id);
    if (is_purged || (found != known.end() && found->second.newest != xxh3(entry.line))) {
      return field_error(
          ErrorCode::E_CONCURRENT_MOD, "id",
          is_purged ? fmt::format("the entry {} was purged from session {}, so none of that "
                                  "id comes back; leave the id out",
                                  entry.id, session_id)
                    : fmt::format("session {} has an entry {} already; `bmad-mem edit {} "
                                  "--set FIELD=VALUE` changes it, --replace stores a version "
                                  "that says nothing else",
                                  session_id, entry.id, entry.id));
    }
  }
  return {};
}

/// What is encrypted is ordered by its times, which are in clear: an entry that says none of its
/// own, as a clock in the past may date it, is later than what it replaces.
Status date_versions(const Store& store, const std::string& session_id, EntryType type,
                     std::vector<CompleteEntry>& entries) {
  std::unordered_map<std::string_view, Timestamp> newest;
  for (const CompleteEntry& each : entries) {
    newest.emplace(each.id, Timestamp::min());
  }
  JsonParser parser;
  const auto take = [&](const ScannedEntry& entry) {
    if (const auto found = newest.find(entry_id(entry.value)); found != newest.end()) {
      found->second = std::max(found->second, entry_written_time(entry.value));
    }
  };
  BMAD_TRY(scan_log(*store.files, log_path(session_id, type), type, parser,
                    {.on_entry = take, .on_encrypted = take}));
  for (CompleteEntry& each : entries) {
    const Timestamp before = newest.at(each.id);
    BMAD_TRY_ASSIGN(const JsonValue entry, parser.parse(each.line));
    if (entry_written_time(entry) <= before && !entry["updated_at"].present() &&
        !entry[kWrittenField].present()) {
      ObjectText object(entry, each.line);
      object.set_string("updated_at", format_rfc3339(before + std::chrono::milliseconds(1)));
      each.line = object.to_line();
    }
  }
  return {};
}

}  // namespace

Status drop_known(const Store& store, const std::string& session_id, EntryType type,
                  KnownEntries rule, std::vector<CompleteEntry>& entries, BatchReport& report) {
  const bool refuses = rule == KnownEntries::kRefuse;
  const bool appends = rule == KnownEntries::kAppendVersion;
  const bool may_be_known =
      (!refuses && !appends) || std::ranges::any_of(entries, &CompleteEntry::has_own_id);
  if ((appends && !store.encryption->is_on()) || !may_be_known) {
    return {};
  }
  if (appends) {
    return date_versions(store, session_id, type, entries);
  }
  BMAD_TRY_ASSIGN(const GoneEntries gone, gone_entries(store, session_id, /*with_sessions=*/true));
  const auto is_gone = [&](const CompleteEntry& entry) { return gone.hold(entry.id); };
  if (rule == KnownEntries::kSkipDeleted && std::ranges::none_of(entries, is_gone)) {
    return {};  // Spares reading the log.
  }
  BMAD_TRY_ASSIGN(KnownLines known, known_lines(store, session_id, type));
  BMAD_TRY(refuses ? refuse_known(store, known, gone.purged, entries, session_id) : Status());
  report.skipped += std::erase_if(entries, [&](const CompleteEntry& entry) {
    const bool is_purged = is_purged_id(store, gone.purged, entry.id);
    const bool is_deleted = !is_purged && !refuses && is_gone(entry) && !known.contains(entry.id);
    report.deleted += is_deleted ? 1 : 0;
    if (is_purged || is_deleted || rule == KnownEntries::kSkipDeleted) {
      return is_purged || is_deleted;
    }
    const auto [lines, is_new] = known.try_emplace(entry.id);
    const bool line_is_new = lines->second.lines.insert(xxh3(entry.line)).second;
    return rule == KnownEntries::kSkipId ? !is_new : !line_is_new;
  });
  return {};
}

namespace {

/// Versions of entries. A rewrite may change a line, as decay does, but neither of these.
using EntryVersions = std::set<std::pair<std::string, Timestamp>>;

void note_version(EntryVersions& versions, JsonValue entry) {
  versions.emplace(entry_id(entry), entry_timestamp(entry));
}

template <typename Line>
void note_lines(EntryVersions& versions, EntryType type, const std::vector<Line>& lines) {
  JsonParser parser;
  for (const Line& line : lines) {
    const Result<JsonValue> value = parser.parse(line.line);
    if (line.type == type && value) {
      note_version(versions, *value);
    }
  }
}

Result<EntryVersions> retained_versions(const Store& store, const std::string& session_id,
                                        EntryType type) {
  FileSystem& files = *store.files;
  EntryVersions versions;
  JsonParser parser;
  BMAD_TRY(scan_log(
      files, log_path(session_id, type), type, parser,
      {.on_entry = [&](const ScannedEntry& entry) { note_version(versions, entry.value); },
       .on_encrypted = [&](const ScannedEntry& entry) { note_version(versions, entry.value); }}));
  if (const Result<std::vector<EvictedLine>> evicted = read_evicted(files, session_id)) {
    note_lines(versions, type, *evicted);
  }
  BMAD_TRY_ASSIGN(const std::vector<DeletedLine> deleted, read_deleted(files, session_id));
  note_lines(versions, type, deleted);
  return versions;
}

}  // namespace

Result<std::vector<CompleteEntry>> lost_entries(const Store& store, const std::string& session_id,
                                                EntryType type,
                                                std::span<const CompleteEntry> entries) {
  BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store.files, session_id));
  BMAD_TRY_ASSIGN(const bool is_live, is_session_there(*store.files, session_id));
  if (!is_live && std::ranges::any_of(record.deletions, &Deletion::whole_session)) {
    return std::vector<CompleteEntry>();  // They went along.
  }
  BMAD_TRY_ASSIGN(const EntryVersions kept, retained_versions(store, session_id, type));
  std::vector<CompleteEntry> lost;
  JsonParser parser;
  for (const CompleteEntry& entry : entries) {
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.line));
    if (!kept.contains({entry.id, entry_timestamp(value)}) &&
        !is_purged_id(store, record.purged_ids, entry.id)) {
      lost.push_back(entry);
    }
  }
  return lost;
}

}  // namespace bmad_mem
