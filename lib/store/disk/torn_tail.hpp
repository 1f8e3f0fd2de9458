// torn_tail.hpp - what to do with bytes after a log's last newline: a crash left them.
#pragma once

#include <cstdint>
#include <string>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"

namespace bmad_mem {

/// A log that does not end in a newline.
struct TornLog {
  std::string path;
  std::string quarantine_path;
  std::uint64_t size = 0;  ///< Of the log, above 0.
};

/// Offset just behind the last newline before `size`; 0 when there is none.
Result<std::uint64_t> last_line_start(File& log, std::uint64_t size);

/// Makes `log`, open for appending, end in a newline. A complete JSON object gets its newline;
/// anything else is copied to the quarantine, durably, and then cut off. Returns the new size.
/// The caller holds the session's lock.
Result<std::uint64_t> mend_torn_tail(FileSystem& files, File& log, const TornLog& torn,
                                     Timestamp now);

}  // namespace bmad_mem
