// deletion_steps.hpp - what deleting, purging and undeleting share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "lifecycle/log_lines.hpp"
#include "store/deletion_record.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// All versions of the entries in the logs of `session_id` that answer to `criteria`, by type and
/// line. The last version decides; of a text, any version that holds it.
Result<std::vector<LogLine>> find_doomed_lines(FileSystem& files, const std::string& session_id,
                                               const DeletionCriteria& criteria);

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

/// Takes the deletions of which no line is in `left` out of the record.
Status drop_finished_deletions(FileSystem& files, const std::string& session_id,
                               const std::vector<DeletedLine>& left);

/// delete_entries() with DeleteOptions::purge.
Result<DeletionReport> purge_entries(Store& store, const DeletionCriteria& criteria,
                                     const DeleteOptions& options);

/// Brings back session `session_id` if it was deleted as a whole and is not there.
Status bring_back_session(Store& store, const std::string& session_id, UndeleteReport& report);

}  // namespace bmad_mem
