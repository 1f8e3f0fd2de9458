// audit_log.cpp - writes and reads audit logs, and lists the records of all sessions.

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <utility>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

std::string to_line(const AuditRecord& record) {
  assert(!record.action.empty() && "a line without an action is read as none");
  JsonWriter out;
  out.begin_object()
      .member("at", format_rfc3339(record.at))
      .member_unless_empty("agent_id", record.agent_id)
      .member("action", record.action)
      .member("count", record.count);
  if (!record.ids.empty()) {
    const std::span named(record.ids.begin(), std::min(record.ids.size(), kAuditIdsMax));
    out.key("ids").raw(list_json(named));
  }
  out.member_unless_empty("detail", record.detail).end_object();
  return out.take() + '\n';
}

/// Makes the log end in a line: one that a crash left torn tells of nothing that was done, and
/// goes, unless only its end is missing.
Status mend_end(File& file) {
  BMAD_TRY_ASSIGN(const FileInfo info, file.info());
  if (info.size == 0) {
    return {};
  }
  std::array<char, 1> last{};
  BMAD_TRY(file.read_at(info.size - 1, last));
  if (last[0] == '\n') {
    return {};
  }
  constexpr std::uint64_t kTornSizeMax = 1U << 20U;  // Above any record.
  const std::uint64_t begin = info.size - std::min(info.size, kTornSizeMax);
  std::string end(static_cast<std::size_t>(info.size - begin), '\0');
  BMAD_TRY_ASSIGN(const std::size_t got, file.read_at(begin, end));
  end.resize(got);
  const std::size_t start = end.rfind('\n') + 1;  // 0 without a newline.
  assert(begin + start <= info.size && "a file is only made shorter");
  const ParsedJson record(std::string_view(end).substr(start));
  return record && record->is_object() ? write_all(file, "\n") : file.truncate(begin + start);
}

AuditRecord to_record(JsonValue line, const std::string& session_id) {
  return {.at = try_parse_rfc3339(line["at"].string()).value_or(Timestamp{}),
          .session_id = session_id,
          .agent_id = std::string(line["agent_id"].string()),
          .action = std::string(line["action"].string()),
          .count = line["count"].natural(),
          .ids = json_strings(line["ids"]),
          .detail = std::string(line["detail"].string())};
}

thread_local bool is_local_audit = false;

bool is_wanted(const std::vector<std::string>& wanted, const std::string& text) {
  return wanted.empty() || is_among(wanted, text);
}

/// Of a session that is in an archive, or under deleted/ as a whole.
Status add_archive(const Store& store, const std::string& session_id,
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
    const std::string path =
        deleted_session_folder(session_id, deletion.deletion_id) + "/" + kAuditName;
    add(read_file(files, path, kAuditSizeMax).value_or(""));
  }
  return {};
}

}  // namespace

LocalAudit::LocalAudit(bool is_on) : before_(std::exchange(is_local_audit, is_on)) {}

LocalAudit::~LocalAudit() { is_local_audit = before_; }

Status append_audit(FileSystem& files, const AuditRecord& record) {
  const bool has_session =
      !is_local_audit && is_session_there(files, record.session_id).value_or(true);
  BMAD_TRY(is_local_audit ? make_deleted_folder(files, record.session_id) : Status());
  const std::string path =
      has_session ? audit_path(record.session_id) : deleted_audit_path(record.session_id);
  const bool is_new = !files.info(path).has_value();
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kAppend));
  BMAD_TRY(mend_end(*file));
  BMAD_TRY(write_all(*file, to_line(record)));
  BMAD_TRY(file->sync_data());
  return is_new ? files.sync_directory(parent_folder(path)) : Status();
}

Status append_audit(const Store& store, AuditRecord record) {
  record.at = store.clock.now();
  record.agent_id = store.agent_id;
  return append_audit(*store.files, record);
}

std::uint64_t audit_size(const AuditRecord& record) { return to_line(record).size(); }

std::vector<AuditRecord> parse_audit(std::string_view text, const std::string& session_id) {
  std::vector<AuditRecord> records;
  JsonParser parser;
  for_each_text_line(text, [&](std::string_view each) {
    const Result<JsonValue> line = parser.parse(each);
    if (line && !(*line)["action"].string().empty()) {
      records.push_back(to_record(*line, session_id));
    }
  });
  return records;
}

Result<std::vector<AuditRecord>> read_audit(FileSystem& files, const std::string& session_id) {
  std::vector<AuditRecord> records;
  for (const std::string& path : {audit_path(session_id), deleted_audit_path(session_id)}) {
    BMAD_TRY_ASSIGN(const std::string text, read_if_there(files, path, kAuditSizeMax));
    std::ranges::move(parse_audit(text, session_id), std::back_inserter(records));
  }
  std::ranges::stable_sort(records, {}, &AuditRecord::at);
  return records;
}

// What was done to sessions, wherever they are now.

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
    BMAD_TRY(add_archive(store, session_id, records));
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
  assert(filter.limit == 0 || records.size() <= filter.limit);
  return records;
}

}  // namespace bmad_mem
