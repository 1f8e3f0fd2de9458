// audits.cpp - what was done to sessions, wherever they are now.
#include <algorithm>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/text.hpp"
#include "lifecycle/audit_log.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

bool is_wanted(const std::vector<std::string>& wanted, const std::string& text) {
  return wanted.empty() || is_among(wanted, text);
}

/// Of a session that is in an archive, or under deleted/ as a whole.
Status add_packed(const Store& store, const std::string& session_id,
                  std::vector<AuditRecord>& records) {
  FileSystem& files = *store.files;
  const auto add = [&](std::string_view text) {
    std::ranges::move(parse_audit(text, session_id), std::back_inserter(records));
  };
  BMAD_TRY_ASSIGN(const bool is_live, is_session_there(files, session_id));
  if (!is_live && is_archived(store, session_id)) {
    BMAD_TRY_ASSIGN(const std::vector<ArchivedFile> members,
                    read_session_archive(files, session_id));
    for (const ArchivedFile& member : members) {
      if (member.name == kAuditName) {
        add(member.bytes);
      }
    }
  }
  BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(files, session_id));
  for (const Deletion& deletion : record.deletions) {
    constexpr std::uint64_t kDeletedAuditSizeMax = 64U << 20U;
    const std::string path =
        deleted_session_folder(session_id, deletion.deletion_id) + "/" + kAuditName;
    const Result<std::string> text = read_file(files, path, kDeletedAuditSizeMax);
    if (text) {
      add(*text);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<AuditRecord>> list_audit(const Store& store, const AuditFilter& filter) {
  for (const std::string& session_id : filter.sessions) {
    BMAD_TRY(check_session_id(session_id));
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, all_session_ids(store));
  std::vector<AuditRecord> records;
  for (const std::string& session_id : sessions) {
    if (!is_wanted(filter.sessions, session_id)) {
      continue;
    }
    BMAD_TRY_ASSIGN(std::vector<AuditRecord> of_session, read_audit(*store.files, session_id));
    std::ranges::move(of_session, std::back_inserter(records));
    BMAD_TRY(add_packed(store, session_id, records));
  }
  std::erase_if(records, [&](const AuditRecord& record) {
    return !is_wanted(filter.actions, record.action) ||
           (filter.since && record.at < *filter.since) ||
           (filter.until && record.at > *filter.until);
  });
  std::ranges::stable_sort(records, {}, &AuditRecord::at);
  if (filter.limit != 0 && records.size() > filter.limit) {
    records.erase(records.begin(), records.end() - static_cast<std::ptrdiff_t>(filter.limit));
  }
  return records;
}

}  // namespace bmad_mem
