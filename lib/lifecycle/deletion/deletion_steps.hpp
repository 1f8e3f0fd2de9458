// deletion_steps.hpp - what deleting, purging and undeleting share.
#pragma once

#include <algorithm>
#include <bitset>
#include <cassert>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/result.hpp"
#include "lifecycle/log_lines.hpp"
#include "lifecycle/session_copies.hpp"
#include "model/entry.hpp"
#include "store/deletion_record.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// All versions of the entries in the logs of `session_id` that answer to `criteria`, by type and
/// line. The last version decides; of a text, any version that holds it. `encrypted`: as in
/// EntryMatcher.
Result<std::vector<LogLine>> find_doomed_lines(FileSystem& files, const std::string& session_id,
                                               const DeletionCriteria& criteria,
                                               EncryptedWords* encrypted = nullptr);

/// What an agent may not delete: statements of the person, and accepted ones. Errors:
/// E_ACCESS_DENIED, which names the first.
Status check_may_delete(const Store& store, const DeletionCriteria& criteria);

/// "by id, tag": what stands in the audit of a deletion; never the values.
std::string criteria_kinds(const DeletionCriteria& criteria);

/// A deletion that begins now and ends as the config says.
Deletion new_deletion(Store& store, const std::string& session_id, bool whole_session,
                      std::uint64_t entries);

/// Adds `lines` to `report`.
Status describe_doomed(FileSystem& files, const std::string& session_id,
                       const std::vector<LogLine>& lines, std::string_view reason,
                       bool with_headlines, DeletionReport& report);

/// Notes in the audit log of the session that `lines` went, unless the config says not to.
Status audit_lines(Store& store, const std::string& session_id, std::string_view action,
                   const std::vector<LogLine>& lines, std::string detail);

/// Makes `lines` durable under deleted/, as one deletion; their other members are filled in. Those
/// that are there already, of a deletion that was killed, are not added again. The caller holds the
/// session's lock, or the root's where it is archived, and removes them from where they were. They
/// become part of deletion `deletion_id`, if there is such a one.
Result<Deletion> keep_deleted(Store& store, const std::string& session_id,
                              std::vector<DeletedLine> lines, const std::string& deletion_id = {});

/// Lines that were found while the session was not locked.
struct FoundLines {
  LogMarks logs;  ///< From before the search.
  std::vector<LogLine> lines;
  bool keeps_summary = false;  ///< A summary by rules stays as it is.
};
Result<FoundLines> find_unlocked(FileSystem& files, const std::string& session_id,
                                 const FindLines& find);

/// Moves what was `found` under deleted/, under the session's lock; what `find` finds, if a log has
/// changed since. `first`, if given, is done under the lock before anything goes. Returns the id of
/// the deletion; empty when nothing went.
Result<std::string> delete_softly(Store& store, const std::string& session_id, FoundLines found,
                                  const FindLines& find, std::string detail, DeletionReport& report,
                                  const std::string& audit_session = {},
                                  const UnderLock& first = {});

/// Deletes a session as a whole, if `goes` once its folder is there and locked; else an archived
/// one stays restored. False, too, when there is none any more.
Result<bool> delete_whole_session(Store& store, const std::string& session_id,
                                  const std::string& reason,
                                  const std::function<Result<bool>()>& goes);

/// Of `lines` of a session's logs, those that are all that is in their log.
Result<std::vector<LogLine>> whole_logs(FileSystem& files, const std::string& session_id,
                                        std::vector<LogLine> lines);
/// Removes the logs of these types that are empty.
Status remove_empty_logs(Store& store, const std::string& session_id,
                         const std::bitset<kEntryTypeCount>& types);

/// Adds what was found in the file at `path`, if anything was.
void add_count(std::vector<FileCount>& counts, const FileSystem& files, const std::string& path,
               std::uint64_t lines);

/// Writes the archive of `manifest`, and that, with what is in `members` now.
Status replace_archive(FileSystem& files, const ArchiveManifest& manifest,
                       const std::vector<ArchivedFile>& members);

/// By type and id, whether the version that was noted last goes.
class Verdicts {
 public:
  /// `text` is what `entry` was parsed from.
  using Goes = std::function<bool(EntryType type, JsonValue entry, std::string_view text)>;
  /// With `any_version`, one version that goes takes the others along.
  explicit Verdicts(Goes goes, bool any_version = false)
      : goes_(std::move(goes)), any_version_(any_version) {}

  void note(EntryType type, JsonValue entry, std::string_view text) {
    bool& verdict = verdicts_[{type, std::string(entry_id(entry))}];
    verdict = goes_(type, entry, text) || (any_version_ && verdict);
  }
  /// As note(), of a line; what is no entry is passed over.
  void note_line(EntryType type, std::string_view line) {
    const Result<JsonValue> value = parser_.parse(line);
    if (value && (!check_entry(type, *value) || is_encrypted(*value))) {
      note(type, *value, line);
    }
  }
  template <typename Lines>
  void note_lines(const Lines& lines) {
    for (const auto& each : lines) {
      note_line(each.type, each.line);
    }
  }
  void set(EntryType type, const std::string& id, bool goes) { verdicts_[{type, id}] = goes; }
  /// Nothing of what was not noted.
  [[nodiscard]] std::optional<bool> of(EntryType type, const std::string& id) const {
    const auto found = verdicts_.find({type, id});
    return found == verdicts_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The id of the entry in `line` if it goes.
  [[nodiscard]] std::optional<std::string> id_if_it_goes(EntryType type, std::string_view line) {
    const Result<JsonValue> value = parser_.parse(line);
    std::string id(value ? entry_id(*value) : std::string_view());
    return value && of(type, id) == true ? std::optional(std::move(id)) : std::nullopt;
  }
  /// Of all that was noted.
  [[nodiscard]] bool any_goes() const {
    return std::ranges::any_of(verdicts_, [](const auto& each) { return each.second; });
  }
  [[nodiscard]] bool all_go() const {
    return std::ranges::all_of(verdicts_, [](const auto& each) { return each.second; });
  }

 private:
  Goes goes_;
  bool any_version_;
  JsonParser parser_;
  std::map<std::pair<EntryType, std::string>, bool> verdicts_;
};

/// Lines on their way to deleted/, and of which entries they are.
struct Leaving {
  std::vector<DeletedLine> lines;
  std::vector<LogLine> ids;
  std::optional<Timestamp> expires_at = {};  ///< Of the deletion, once it is made.

  void add(EntryType type, std::string id, std::string line) {
    assert(ids.size() == lines.size());
    ids.push_back({.type = type, .id = std::move(id), .size = line.size() + 1});
    lines.push_back({.type = type, .line = std::move(line)});
  }
};

/// Moves what was evicted of a live session and goes under deleted/, with the older versions of
/// what is `gone` from its logs; only looks with `dry_run`. Returns what goes. `detail`: for the
/// audit. `deletion_id`: as in keep_deleted(). `first`: as in delete_softly().
Result<Leaving> delete_evicted(Store& store, const std::string& session_id, Verdicts verdicts,
                               const std::vector<LogLine>& gone, std::string detail,
                               const std::string& deletion_id, bool dry_run = false,
                               const UnderLock& first = {});

/// All versions of the entries in the logs of `folder` that go, by type and line. With `ids`, of
/// these entries.
Result<std::vector<LogLine>> look_into_logs(FileSystem& files, const std::string& folder,
                                            Verdicts& verdicts,
                                            const std::vector<std::string>& ids = {});

/// delete_entries() with DeleteOptions::purge. `detail` is for the audit; that of the criteria when
/// empty.
Result<DeletionReport> purge_entries(Store& store, const DeletionCriteria& criteria,
                                     const DeleteOptions& options, const std::string& detail = {});

// What a purge means among lines that are no entries: in logs, in quarantine.

struct DamagedFinds {
  std::vector<LogLine> lines;    ///< Of the logs.
  std::vector<std::string> ids;  ///< Of the criteria, where such a line has them.
};

/// The damaged lines of a session that hold the text of `criteria`. Where these ask for ids alone,
/// those that have one of them: as "id":"f1", since such a line has no fields.
Result<DamagedFinds> find_damaged_lines(FileSystem& files, const std::string& session_id,
                                        const DeletionCriteria& criteria);

// A text that goes, where no entry holds it: audits, records and manifests
// tell of entries and sessions, and files beside the sessions belong to nobody.
//
//   "ids":["ann-7"]          ->  "ids":["forgotten:1f3870be27da41e6"]    an id stays the same thing
//   "tags":["ann","x"]       ->  "tags":["[forgotten]","x"]
//   memories/team.md         ->  the file without the lines that hold the text

/// What stands for an id that holds the text.
using HideId = std::function<std::string(std::string_view id)>;

/// Replaces `text` in the strings of `json`: an object, or one a line. Keys stay, and so does
/// session_id, which is the name of a folder. Returns how many strings changed.
std::uint64_t forget_in_json(std::string& json, std::string_view text, const HideId& hide);

/// Takes the lines with `text` out of the files beside the sessions, and what processes that died
/// left at the root as a whole. Adds to `report`. The caller holds the root's lock unless
/// `dry_run`.
Status purge_beside_sessions(Store& store, std::string_view text, bool dry_run,
                             DeletionReport& report);

/// Takes the text of `criteria` out of the copies of a hub's manifests. Adds to `report`. The
/// caller holds no lock. Errors: as drop_mirrored_manifests().
Status purge_mirrored(const Store& store, const DeletionCriteria& criteria, bool dry_run,
                      DeletionReport& report);

}  // namespace bmad_mem
