#include "session_choice.hpp"

#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "json_members.hpp"
#include "json_text.hpp"

namespace bmad_mem::cli {
namespace {

Error no_session(const std::vector<std::string>& open) {
  static constexpr std::size_t kShownMax = 5;
  if (open.empty()) {
    return {.code = ErrorCode::E_SESSION_NOT_FOUND,
            .message =
                "no session is open; make one with `bmad-mem session new`, or name one with "
                "--session ID or $BMAD_SESSION"};
  }
  std::string names;
  for (std::size_t i = 0; i < open.size() && i < kShownMax; ++i) {
    names += (i == 0 ? "" : ", ") + open[i];
  }
  names += open.size() > kShownMax ? ", ..." : "";
  return {.code = ErrorCode::E_SESSION_NOT_FOUND,
          .message = fmt::format("{} sessions are open ({}); say which with --session ID or "
                                 "$BMAD_SESSION",
                                 open.size(), names)};
}

}  // namespace

Result<std::string> choose_session(Tool& tool, const MemoryManager& memory) {
  // An empty --session is a script whose variable is empty: it must not mean some other session.
  if (const auto id = tool.args().maybe("session")) {
    return std::string(*id);
  }
  if (const std::string_view id = environment("BMAD_SESSION"); !id.empty()) {
    return std::string(id);
  }
  BMAD_TRY_ASSIGN(const std::vector<Session> sessions, memory.list_sessions());
  std::vector<std::string> open;
  for (const Session& session : sessions) {
    if (!session.closed_at && !session.problem) {
      open.push_back(session.session_id);
    }
  }
  if (open.size() != 1) {
    return no_session(open);
  }
  return open.front();
}

std::string_view session_state(const MemoryManager& memory, const Session& session) {
  if (session.problem) {
    return "damaged";
  }
  return session.closed_at ? "closed" : session_state_name(memory.session_state(session));
}

std::string session_as_json(const MemoryManager& memory, const Session& session) {
  JsonWriter json;
  json.begin_object().member("session_id", session.session_id);
  json.member("state", session_state(memory, session));
  if (session.problem) {
    json.key("problem").raw(error_as_json(*session.problem));
    json.end_object();
    return json.take();
  }
  json.member("created_at", format_rfc3339(session.created_at));
  json.member("last_write", format_rfc3339(session.last_write));
  if (session.closed_at) {
    json.member("closed_at", format_rfc3339(*session.closed_at));
  }
  add_text(json, "user_id", session.user_id);
  add_list(json, "agent_ids", session.agent_ids);
  add_text(json, "project_name", session.project_name);
  add_text(json, "session_type", session.session_type);
  add_list(json, "tags", session.tags);
  json.member("size_bytes", session.size_bytes);
  json.end_object();
  return json.take();
}

}  // namespace bmad_mem::cli
