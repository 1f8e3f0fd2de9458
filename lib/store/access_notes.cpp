#include "store/access_notes.hpp"

#include <utility>

#include "store/access_log.hpp"

namespace bmad_mem {

void AccessNotes::note(const std::string& session_id, const std::string& id, Timestamp now) {
  const std::lock_guard guard(mutex_);
  ids_[session_id].push_back(id);
  ++count_;
  last_ = now;
}

void AccessNotes::write_if_many(FileSystem& files, const Clock& clock) {
  {
    const std::lock_guard guard(mutex_);
    if (count_ < kMany) {
      return;
    }
  }
  write(files, clock);
}

void AccessNotes::write(FileSystem& files, const Clock& clock) {
  std::map<std::string, std::vector<std::string>, std::less<>> ids;
  Timestamp at;
  {
    const std::lock_guard guard(mutex_);
    ids = std::exchange(ids_, {});
    count_ = 0;
    at = last_;
  }
  for (const auto& [session_id, of_session] : ids) {
    static_cast<void>(append_accesses(files, clock, session_id, of_session, at));
  }
}

}  // namespace bmad_mem
