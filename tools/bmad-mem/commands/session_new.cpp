// session new - makes a session and prints its id.
#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "maintenance_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_session_new(Tool& tool) {
  const Arguments& args = tool.args();
  SessionParams params;
  if (const auto id = args.maybe("id")) {
    if (id->empty()) {
      // The library would make one up; an empty variable of a script must not go unnoticed.
      return Error{.code = ErrorCode::E_INVALID_FORMAT,
                   .message = "the session id is empty; leave --id out to have one made",
                   .field = "session_id"};
    }
    params.session_id = *id;
  }
  params.user_id = args.value("user");
  params.agent_ids.assign(args.all("agent").begin(), args.all("agent").end());
  params.project_name = args.value("project");
  params.session_type = args.value("type");
  params.tags.assign(args.all("tag").begin(), args.all("tag").end());
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string id, memory.create_session(params));
  note_maintenance(tool, memory);
  if (tool.json()) {
    tool.out().print("{{\"session_id\":{}}}\n", json_quoted(id));
  } else {
    tool.out().print("{}\n", id);
  }
  return ExitStatus::kDone;
}

constexpr Option kSessionNewOptions[] = {
    {.name = "user", .value = "ID", .help = "the user it is for"},
    {.name = "agent", .value = "NAME", .help = "an agent that takes part", .repeatable = true},
    {.name = "project", .value = "NAME", .help = "the project's name"},
    {.name = "type", .value = "TEXT", .help = "what kind of session, such as architecture_review"},
    {.name = "tag", .value = "TAG", .help = "a tag", .repeatable = true},
    {.name = "id",
     .value = "ID",
     .help = "its id: a-z, 0-9, dot, dash and underscore, at most 64",
     .fallback = "one made from the date"},
};

constexpr Example kSessionNewExamples[] = {
    {.command = "S=$(bmad-mem session new --user user-789 --agent architect --tag payments)",
     .says = "make a session and keep its id"},
    {.command = "export BMAD_SESSION=$S", .says = "use it for what follows in this shell"},
};

}  // namespace

const Command kSessionNew = {
    .name = "session new",
    .group = Group::kStart,
    .summary = "make a session, print its id",
    .description =
        "Makes a session, the folder that holds what belongs to one conversation, and "
        "prints its id.",
    .options = kSessionNewOptions,
    .examples = kSessionNewExamples,
    .run = run_session_new,
};

}  // namespace bmad_mem::cli
