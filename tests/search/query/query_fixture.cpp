#include "search/query/query_fixture.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "store/layout.hpp"

namespace bmad_mem::test {

void SmallMemory::add(const std::string& session, EntryType type, const std::string& line) {
  if (std::ranges::find(ids_, session) == ids_.end()) {
    ids_.push_back(session);
    files.make_folders(session_folder(session));
  }
  const std::string path = session_file(session, entry_type_info(type).log_file);
  logs_[path] += line + "\n";
  files.write(path, logs_[path]);
}

void SmallMemory::say(const std::string& session, std::string_view who, std::string_view content,
                      std::string_view role) {
  add(session, EntryType::kConversation,
      fmt::format(R"({{"id":"m{}","timestamp":"2026-01-11T10:00:00Z","agent_id":"{}",)"
                  R"("role":"{}","content":"{}"}})",
                  ++last_id_, who, role, content));
}

void SmallMemory::know(const std::string& session, std::string_view content,
                       std::string_view members, std::string_view time) {
  add(session, EntryType::kFact,
      fmt::format(R"({{"id":"f{}","timestamp":"{}","content":"{}"{}{}}})", ++last_id_, time,
                  content, members.empty() ? "" : ",", members));
}

std::span<IndexedSession* const> SmallMemory::sessions() {
  indexes_.clear();
  pointers_.clear();
  for (const std::string& id : ids_) {
    indexes_.push_back(
        std::make_unique<SessionIndex>(files, clock, SessionIndex::Options{.session_id = id}));
    if (!indexes_.back()->refresh() || !indexes_.back()->load()) {
      throw std::runtime_error("the logs can't be indexed");
    }
    pointers_.push_back(indexes_.back().get());
  }
  return pointers_;
}

}  // namespace bmad_mem::test
