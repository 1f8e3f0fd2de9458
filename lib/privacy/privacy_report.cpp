// privacy_report.cpp - reports which entries are stored, for how long, and what was redacted.
#include <algorithm>
#include <cassert>
#include <map>
#include <string>
#include <utility>

#include "bmad_mem/json.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/text.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/entry.hpp"
#include "privacy/redaction.hpp"
#include "privacy/redactor.hpp"
#include "search/reads.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"
#include "store/retention.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

class PrivacySurvey {
 public:
  explicit PrivacySurvey(const Store& store) : store_(store) {
    report_.redacts = store.config.privacy.auto_redaction;
    for (const EntryType type : kEntryTypes) {
      RetainedEntries& kept = report_.kept[static_cast<std::size_t>(type)];
      kept.type = type;
      kept.retention_days = store.config.privacy.retention_days.of(type);
    }
  }

  Result<PrivacyReport> run(std::span<const std::string> wanted) {
    BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store_.selected_sessions(wanted));
    report_.sessions = sessions.size();
    for (const std::string& session_id : sessions) {
      look_at(session_id, load_manifest(*store_.files, session_id), /*is_live=*/true);
    }
    BMAD_TRY_ASSIGN(const std::vector<ArchivedSession> archived, list_archived(store_));
    BMAD_TRY_ASSIGN(std::vector<Deletion> deleted, list_deletions(store_));
    const auto is_wanted = [&](const std::string& session_id) {
      return wanted.empty() || is_among(wanted, session_id);
    };
    for (const ArchivedSession& each : archived) {
      if (is_wanted(each.session_id)) {
        ++report_.archived_sessions;
        if (!is_session_there(*store_.files, each.session_id).value_or(false)) {
          look_at(each.session_id, parse_manifest(each.manifest, each.session_id), false);
        }  // Else its folder counts.
      }
    }
    std::erase_if(deleted, [&](const Deletion& each) { return !is_wanted(each.session_id); });
    report_.deleted = std::move(deleted);
    return std::move(report_);
  }

 private:
  void look_at(const std::string& session_id, const Result<Manifest>& manifest, bool is_live) {
    if (!manifest) {
      report_.problems.push_back(manifest.error());
      return;
    }
    const RetentionDays& days = retention_of(store_.config, *manifest);
    for (const EntryType type : kEntryTypes) {
      if (is_live) {
        look_at_log(session_id, type, retention_start(*manifest), days);
      }
    }
    look_at_archive_entries(session_id, retention_start(*manifest), days);
    if (!is_live) {
      return;
    }
    if (const auto evicted = read_evicted(*store_.files, session_id)) {
      report_.evicted_entries += evicted->size();
    } else {
      report_.problems.push_back(evicted.error());
    }
  }

  /// What is in the session's archive, and what was evicted: as the index knows it.
  void look_at_archive_entries(const std::string& session_id, Timestamp created_at,
                               const RetentionDays& days) {
    const Result<std::vector<ArchiveEntry>> entries = archive_entries(store_, session_id);
    if (!entries) {
      report_.problems.push_back(entries.error());
      return;
    }
    const Timestamp now = store_.clock.now();
    for (const ArchiveEntry& entry : *entries) {
      RetainedEntries& kept = report_.kept[static_cast<std::size_t>(entry.type)];
      ++(entry.evicted ? kept.evicted : kept.archived);
      const auto end =
          expires_at(entry.type, std::max(entry.timestamp, created_at), entry.pinned, days);
      kept.expired += has_expired(end, now) || has_expired(entry.expires_at, now) ? 1 : 0;
    }
  }

  /// Of an entry with several versions the newest counts; placeholders count wherever they are.
  void look_at_log(const std::string& session_id, EntryType type, Timestamp created_at,
                   const RetentionDays& days) {
    struct Newest {
      Timestamp timestamp{};
      bool sensitive = false;
      bool pinned = false;
      std::optional<Timestamp> expires_at;
    };
    std::map<std::string, Newest, std::less<>> newest;
    RetainedEntries& kept = report_.kept[static_cast<std::size_t>(type)];
    assert(kept.type == type && "the constructor has set the type of each");
    JsonParser parser;
    const auto take = [&](const ScannedEntry& entry) {
      const EntryHead head = entry_head(type, entry.value);
      newest[std::string(head.id)] = {head.timestamp, head.sensitive, head.pinned, head.expires_at};
      kept.bytes += entry.line_size;
      count_placeholders(store_.config.privacy.redaction, entry.text, report_.redacted);
    };
    const std::string path = session_file(session_id, entry_type_info(type).log_file);
    if (const auto scan = scan_log(*store_.files, path, type, parser, {.on_entry = take}); !scan) {
      report_.problems.push_back(scan.error());
    }
    const Timestamp now = store_.clock.now();
    for (const auto& [id, entry] : newest) {
      ++kept.entries;
      kept.oldest = std::min(kept.oldest.value_or(entry.timestamp), entry.timestamp);
      const auto end = expires_at(type, std::max(entry.timestamp, created_at), entry.pinned, days);
      kept.expired += has_expired(end, now) || has_expired(entry.expires_at, now) ? 1 : 0;
      if (entry.sensitive) {
        ++kept.sensitive;
        report_.sensitive.push_back({.session_id = session_id, .type = type, .id = id});
      }
    }
  }

  const Store& store_;
  PrivacyReport report_;
};

}  // namespace

Result<PrivacyReport> report_privacy(const Store& store, std::span<const std::string> wanted) {
  return PrivacySurvey(store).run(wanted);
}

}  // namespace bmad_mem
