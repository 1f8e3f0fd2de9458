// hand_edits.hpp - what waits for a review, as hand.jsonl in the state folder has it, a line each
// and without the text:
//
//   {"session_id":"s1","type":"fact","change":"changed_line","line":3,"hash":…,"old":…,…}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

std::vector<HandEdit> read_edits(std::string_view text);
std::string to_text(std::span<const HandEdit> edits);

/// Seals a log as it is now. The caller holds the session's lock.
Status seal_as_it_is(FileSystem& files, const std::string& session_id, const std::string& log_file);

}  // namespace bmad_mem
