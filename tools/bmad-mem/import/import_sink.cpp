#include "import/import_sink.hpp"

#include <numeric>
#include <utility>

namespace bmad_mem::cli {

std::uint64_t ImportReport::written_in_all() const {
  return std::accumulate(written.begin(), written.end(), std::uint64_t{0});
}

Status ImportSink::need_session(const SessionParams& params) {
  if (report_.sessions.contains(params.session_id)) {
    return {};
  }
  if (memory_ != nullptr) {
    const Result<Session> session = memory_->load_session(params.session_id);
    if (!session && session.error().code != ErrorCode::E_SESSION_NOT_FOUND) {
      return session.error();
    }
    if (!session) {
      BMAD_TRY(memory_->create_session(params));
    }
  }
  report_.sessions.insert(params.session_id);
  return {};
}

Status ImportSink::add(std::string_view session_id, EntryType type, std::string json,
                       KnownEntries known, const ImportOrigin& origin) {
  if (memory_ == nullptr) {
    ++report_.written[static_cast<std::size_t>(type)];
    return {};
  }
  pending_bytes_ += json.size();
  pending_[Key(session_id, type, known)].push_back(
      {.json = std::move(json), .file = std::string(origin.file), .line = origin.line});
  return pending_bytes_ < kBytesMax ? Status() : flush();
}

void ImportSink::refuse(Error error, const ImportOrigin& origin) {
  ++report_.refused;
  error.path = origin.file;
  error.line = origin.line;
  on_refused_(error);
}

Status ImportSink::flush() {
  std::map<Key, std::vector<Pending>> pending = std::exchange(pending_, {});
  pending_bytes_ = 0;
  // One session that is full or locked must not cost the others their entries.
  Status first_problem;
  for (const auto& [key, entries] : pending) {
    if (Status status = write(key, entries); !status && first_problem) {
      first_problem = std::move(status);
    }
  }
  return first_problem;
}

Status ImportSink::write(const Key& key, const std::vector<Pending>& entries) {
  const auto& [session_id, type, known] = key;
  std::vector<std::string_view> lines;
  lines.reserve(entries.size());
  for (const Pending& entry : entries) {
    lines.emplace_back(entry.json);
  }
  BMAD_TRY_ASSIGN(
      const BatchReport batch,
      memory_->add_batch(session_id, type, lines, {.keep_going = true, .known = known}));
  report_.written[static_cast<std::size_t>(type)] += batch.ids.size();
  report_.known += batch.skipped;
  for (const RejectedLine& rejected : batch.rejected) {
    const Pending& entry = entries[rejected.line - 1];
    Error error = rejected.error;
    error.column = 0;  // It counts in the text that was made from the line, not in the line.
    refuse(std::move(error), {.file = entry.file, .line = entry.line});
  }
  return {};
}

}  // namespace bmad_mem::cli
