// damaged_lines.hpp - what a purge means among lines that are no entries: in logs, in quarantine.
#pragma once

#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "lifecycle/log_lines.hpp"

namespace bmad_mem {

struct DamagedFinds {
  std::vector<LogLine> lines;    ///< Of the logs.
  std::vector<std::string> ids;  ///< Of the criteria, where such a line has them.
};

/// The damaged lines of a session that hold the text of `criteria`. Where these ask for ids alone,
/// those that have one of them: as "id":"f1", since such a line has no fields.
Result<DamagedFinds> find_damaged_lines(FileSystem& files, const std::string& session_id,
                                        const DeletionCriteria& criteria);

}  // namespace bmad_mem
