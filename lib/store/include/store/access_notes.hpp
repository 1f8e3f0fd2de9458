// access_notes.hpp - which entries were returned, gathered in memory and written now and then.
//
// Nobody waits for it: a note is one line for each session that had something to return, without
// waiting or sync, after many notes or at the end of the process. What gets lost is no loss.
// Threads: safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"

namespace bmad_mem {

class AccessNotes {
 public:
  /// Notes that entry `id` of `session_id` was returned at `now`.
  void note(const std::string& session_id, const std::string& id, Timestamp now);
  /// Writes what was noted if it is much.
  void write_if_many(FileSystem& files, const Clock& clock);
  /// Writes what was noted.
  void write(FileSystem& files, const Clock& clock);

 private:
  static constexpr std::size_t kMany = 512;  // 20 hits each: about one write in 25 queries.

  std::mutex mutex_;                                                  // Guards what follows.
  std::map<std::string, std::vector<std::string>, std::less<>> ids_;  // By session.
  std::size_t count_ = 0;
  Timestamp last_{};
};

}  // namespace bmad_mem
