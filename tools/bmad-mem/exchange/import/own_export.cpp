#include "exchange/import/own_export.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "exchange/export/export_lines.hpp"

namespace bmad_mem::cli {
namespace {

/// Gathers the lines of a session.
class LineCollector final : public ExportVisitor {
 public:
  explicit LineCollector(std::function<void(const Entry&)> take) : take_(std::move(take)) {}

  Status on_session(const Session& /*session*/) override { return {}; }
  Status on_entry(const Entry& entry) override {
    take_(entry);
    return {};
  }
  void on_problem(const Error& /*problem*/) override {}  // A damaged line is no known version.

 private:
  std::function<void(const Entry&)> take_;
};

Timestamp time_of(const std::string& line) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(line);
  return value ? version_time(*value) : Timestamp();
}

}  // namespace

OwnExportImport::OwnExportImport(ImportSink& sink, MemoryManager* memory, std::string file,
                                 std::string session_id)
    : sink_(sink), memory_(memory), file_(std::move(file)), session_id_(std::move(session_id)) {}

Status OwnExportImport::take(std::string_view text, JsonValue value, std::uint64_t line) {
  const ImportOrigin origin{.file = file_, .line = line};
  if (value["session"].present() && !value["id"].present()) {
    return begin_session(value["session"], origin);
  }
  const std::optional<EntryType> type = try_parse_entry_type(value["type"].string());
  const std::string id(value["id"].string());
  if (!type || id.empty()) {
    sink_.refuse({.code = ErrorCode::E_INVALID_FORMAT,
                  .message = "the line is neither a session nor an entry with id and type"},
                 origin);
    return {};
  }
  const std::string session =
      session_id_.empty() ? std::string(value["session_id"].string()) : session_id_;
  if (session != current_ || session.empty()) {
    BMAD_TRY(need_session(session, origin));
    if (session != current_) {
      return {};  // It was refused.
    }
  }
  std::string json = stored_entry(text, entry_type_name(*type));
  switch (judge(*type, id, json, value)) {
    case Verdict::kKnown:
      ++sink_.report().known;
      return {};
    case Verdict::kOlder:
      sink_.skip("older versions of entries that are there");
      return {};
    case Verdict::kAgain:
      return sink_.add_again(session, *type, std::move(json), id, origin);
    case Verdict::kNew:
      break;
  }
  return sink_.add(session, *type, std::move(json), KnownEntries::kAppendVersion, origin);
}

Status OwnExportImport::begin_session(JsonValue identity, const ImportOrigin& origin) {
  if (!session_id_.empty()) {
    return {};  // All goes into a session that is somebody else.
  }
  BMAD_TRY(end_session());
  Result<Session> session = read_session_identity(identity);
  if (!session) {
    sink_.refuse(std::move(session).error(), origin);
    return {};
  }
  const bool is_new = !sink_.is_there(session->session_id);
  if (is_new && memory_ != nullptr) {
    // Open as yet: an entry that is written would open it again.
    Session open = *session;
    open.closed_at.reset();
    if (Status made = memory_->adopt_session(open); !made) {
      if (made.error().code != ErrorCode::E_INVALID_FORMAT) {
        return made;
      }
      sink_.refuse(made.error(), origin);
      return {};
    }
  }
  BMAD_TRY(need_session(session->session_id, origin));
  identity_ = std::move(*session);
  return {};
}

Status OwnExportImport::need_session(const std::string& session_id, const ImportOrigin& origin) {
  BMAD_TRY(end_session());
  if (session_id.empty()) {
    sink_.refuse({.code = ErrorCode::E_SESSION_NOT_FOUND,
                  .message = "the line names no session; say where it goes with --session ID",
                  .field = "session_id"},
                 origin);
    return {};
  }
  if (Status made = sink_.need_session({.session_id = session_id}); !made) {
    if (made.error().code != ErrorCode::E_INVALID_FORMAT) {
      return made;
    }
    sink_.refuse(made.error(), origin);
    return {};
  }
  current_ = session_id;
  return read_known();
}

Status OwnExportImport::read_known() {
  known_.clear();
  if (memory_ == nullptr) {
    return {};
  }
  LineCollector collector(
      [&](const Entry& entry) { known_[Key(entry.type, entry.id)].lines.push_back(entry.json); });
  ExportOptions options{.all_versions = true};
  options.filter.sessions = {current_};
  BMAD_TRY(memory_->export_entries(options, collector));
  return {};
}

OwnExportImport::Verdict OwnExportImport::judge(EntryType type, const std::string& id,
                                                const std::string& json, JsonValue value) {
  Versions& versions = known_[Key(type, id)];
  const auto next = versions.lines.begin() + static_cast<std::ptrdiff_t>(versions.next);
  const auto found = std::find(next, versions.lines.end(), json);
  if (found != versions.lines.end()) {
    versions.next = static_cast<std::size_t>(found - versions.lines.begin()) + 1;
    return Verdict::kKnown;
  }
  // The memory has versions that the export does not have here. The later one must stay the last.
  if (next != versions.lines.end() && version_time(value) <= time_of(versions.lines.back())) {
    return Verdict::kOlder;
  }
  const bool again = std::find(versions.lines.begin(), next, json) != next;
  versions.lines.push_back(json);
  versions.next = versions.lines.size();
  return again ? Verdict::kAgain : Verdict::kNew;
}

bool OwnExportImport::holds_nothing_else() const {
  return std::ranges::all_of(
      known_, [](const auto& entry) { return entry.second.next == entry.second.lines.size(); });
}

Status OwnExportImport::end_session() {
  BMAD_TRY(sink_.flush());
  if (identity_ && identity_->closed_at && memory_ != nullptr) {
    BMAD_TRY_ASSIGN(const Session there, memory_->load_session(current_));
    // Closed again as it was, unless it has gone on since.
    if (!there.closed_at && there.created_at == identity_->created_at && holds_nothing_else()) {
      BMAD_TRY(memory_->adopt_session(*identity_));
    }
  }
  identity_.reset();
  current_.clear();
  known_.clear();
  return {};
}

Status OwnExportImport::finish() { return end_session(); }

}  // namespace bmad_mem::cli
