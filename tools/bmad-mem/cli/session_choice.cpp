// session_choice.cpp - chooses the session of a command that names none; finds whole ids.
#include "cli/session_choice.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <ranges>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/question.hpp"
#include "bmad_mem/text.hpp"
#include "cli/json_text.hpp"
#include "cli/options.hpp"
#include "cli/view_text.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

Error no_session(const std::vector<std::string>& open) {
  constexpr std::size_t kShownMax = 5;
  return {.code = ErrorCode::E_SESSION_NOT_FOUND,
          .message = view_line("which_session", json_object("open", open.size(), "names",
                                                            open | std::views::take(kShownMax),
                                                            "more", open.size() > kShownMax))};
}

/// The metadata of the manifest, when somebody put more there than what has members of its own.
std::optional<RawJson> metadata_of(const std::string& manifest) {
  static constexpr std::array<std::string_view, 4> kOwn = {"title", "project_name", "session_type",
                                                           "tags"};
  for (const MemberText& member : json_members(manifest)) {
    const std::vector<MemberText> metadata =
        member.key == "metadata" ? json_members(member.value) : std::vector<MemberText>();
    const auto is_own = [](const MemberText& each) {
      return std::ranges::find(kOwn, each.key) != kOwn.end();
    };
    if (!std::ranges::all_of(metadata, is_own)) {
      return raw_json(json_compact(member.value));
    }
  }
  return std::nullopt;
}

/// --session, else $BMAD_SESSION; nothing without them. An empty --session is a script whose
/// variable is empty: it must not mean some other session.
std::optional<std::string_view> named_session(const Tool& tool) {
  if (const auto id = tool.args().maybe("session")) {
    return id;
  }
  // That one is of the project.
  const std::string_view id = tool.is_for_user() ? "" : environment("BMAD_SESSION");
  return id.empty() ? std::nullopt : std::optional(id);
}

}  // namespace

Result<std::vector<std::string>> whole_ids(const MemoryManager& memory,
                                           std::vector<std::string> ids) {
  const Question question;
  for (std::string& id : ids) {
    // Not get(), which would count as an access.
    const Result<std::vector<Entry>> known = memory.history(id);
    if (id.size() < kWholeNamePrefixMin || !known || !known->empty()) {
      continue;  // What is wrong, the caller says.
    }
    BMAD_TRY_ASSIGN(const std::vector<std::string> begun, memory.ids_that_begin(id));
    BMAD_TRY_ASSIGN(id, whole_name(id, begun, "entries", "id"));
  }
  return ids;
}

namespace {

/// The sessions that are there, are archived, or can be brought back; nothing when that can't be
/// told.
std::vector<std::string> session_names(const Tool& tool) {
  std::vector<std::string> names;
  Result<std::string> root = tool.find_root();
  Result<std::optional<MemoryAccess>> access = tool.access();
  const Result<MemoryManager> memory =
      root && access ? MemoryManager::open({.root = *std::move(root), .access = *std::move(access)})
                     : Error();
  const auto add = [&](const auto& sessions) {
    for (std::size_t i = 0; sessions && i < sessions->size(); ++i) {
      names.push_back((*sessions)[i].session_id);
    }
  };
  if (memory) {
    add(memory->list_sessions());
    add(memory->archived_sessions());
    add(memory->deletions());
  }
  return names;
}

/// Calls `use(value)` with each value of the command line that names a session.
template <typename Use>
Status for_each_session(const Command& command, Arguments& args, const Use& use) {
  for (const Option& option : command.options) {
    if (option.completion == Completion::kSession && args.has(option.name)) {
      for (std::string& value : args.values_of(option.name)) {
        BMAD_TRY(use(value));
      }
    }
  }
  for (std::size_t i = 0; i < args.positionals().size() && !command.positionals.empty(); ++i) {
    const std::size_t place = std::min(i, command.positionals.size() - 1);
    if (command.positionals[place].completion == Completion::kSession) {
      BMAD_TRY(use(args.positional_at(i)));
    }
  }
  return {};
}

}  // namespace

Status complete_session_names(Tool& tool, const Command& command) {
  if (command.name == "import" || command.name == "audit") {
    return {};  // The session that they name need not be there.
  }
  std::optional<std::vector<std::string>> names;
  return for_each_session(command, tool.args_to_complete(), [&](std::string& value) -> Status {
    const Result<std::string> root = tool.find_root();
    std::error_code unknown;
    if (value.size() < kWholeNamePrefixMin || value.contains('/') || !root ||
        std::filesystem::exists(fmt::format("{}/sessions/{}", *root, value), unknown)) {
      return {};  // The usual case costs one look at the disk.
    }
    if (!names) {
      names = session_names(tool);
    }
    BMAD_TRY_ASSIGN(value, whole_name(value, *names, "sessions", "session"));
    return {};
  });
}

Result<std::string> choose_session(Tool& tool, const MemoryManager& memory) {
  if (const auto id = named_session(tool)) {
    return std::string(*id);
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

Result<std::optional<std::string>> choose_or_open_session(
    Tool& tool, MemoryManager& memory, const std::function<Result<bool>()>& is_needed) {
  if (const auto id = named_session(tool)) {
    return std::optional(std::string(*id));
  }
  BMAD_TRY_ASSIGN(UsualSession usual, memory.usual_session({}, is_needed));
  if (usual.session_id.empty()) {
    return std::optional<std::string>();
  }
  if (usual.open_sessions != 1) {
    describe(tool, "usual_session", "session_id", usual.session_id, "open", usual.open_sessions);
  }
  return std::optional(std::move(usual.session_id));
}

std::string_view session_state(const MemoryManager& memory, const Session& session) {
  if (session.problem) {
    return "damaged";
  }
  return session.closed_at ? "closed" : session_state_name(memory.session_state(session));
}

std::string session_as_json(const MemoryManager& memory, const Session& session) {
  return session.problem
             ? json_object(shaped(shape::damaged_session, session))
             : json_object(shaped(shape::session, session, session_state(memory, session),
                                  metadata_of(session.manifest)));
}

}  // namespace bmad_mem::cli
