// hub_project.cpp - what a hub knows beside lines: its projects, members, rules, and what is gone.
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/settings.hpp"
#include "cli/entry_options.hpp"
#include "cli/filters.hpp"
#include "cli/hub_interface.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "exchange/git/git_program.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// A setting that is a text; empty when it is not set.
Result<std::string> text_setting(const MemoryManager& memory, std::string_view name) {
  BMAD_TRY_ASSIGN(const std::vector<SettingInfo> found, list_settings(memory, name));
  const std::string text = found.empty() ? "" : found.front().value;
  return text.size() > 2 ? text.substr(1, text.size() - 2) : std::string();  // Its quotes.
}

/// The service that the command or config.json names.
Result<std::string> chosen_service(Tool& tool) {
  if (const std::string_view named = tool.args().value("service"); !named.empty()) {
    return std::string(named);
  }
  if (const Result<MemoryManager> memory = tool.open()) {
    BMAD_TRY_ASSIGN(std::string service, text_setting(*memory, "hub.service"));
    if (!service.empty()) {
      return service;
    }
  }
  return bad_value(
      "service",
      "config.json has no hub.service; name a service of pg_service.conf with --service NAME");
}

struct ProjectAtHub {
  std::string service;
  std::string project;
};

/// The project that the command names, that this memory has joined, or that config.json names.
Result<ProjectAtHub> chosen_project(Tool& tool) {
  ProjectAtHub chosen{.service = std::string(tool.args().value("service")),
                      .project = std::string(tool.args().value("project"))};
  if (tool.find_root()) {
    BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());  // Also whether it may be asked.
    const Result<MirrorReport> mirror = mirror_report(memory);
    if (!mirror && mirror.error().code != ErrorCode::E_HUB_NOT_FOUND) {
      return mirror.error();
    }
    for (const auto& [text, joined, setting] :
         {std::tuple(&chosen.service, &MirrorReport::service, "hub.service"),
          std::tuple(&chosen.project, &MirrorReport::project, "hub.project")}) {
      if (text->empty() && mirror) {
        *text = *mirror.*joined;
      } else if (text->empty()) {
        BMAD_TRY_ASSIGN(*text, text_setting(memory, setting));
      }
    }
  }
  if (chosen.service.empty() || chosen.project.empty()) {
    return bad_value(chosen.service.empty() ? "service" : "project",
                     "this memory has joined no hub, and config.json names none; name it with "
                     "--service NAME and --project NAME");
  }
  return chosen;
}

}  // namespace

Result<ExitStatus> run_hub_init(Tool& tool) {
  BMAD_TRY_ASSIGN(HubInterface* const to_hub, open_interface(tool));
  BMAD_TRY_ASSIGN(const std::string service, chosen_service(tool));
  std::string project(tool.args().value("project"));
  if (project.empty()) {
    project = project_name(tool.root_to_create());
  }
  BMAD_TRY(to_hub->init(service, project));
  return show(tool, "hub_init", object_of("service", service, "project", project));
}

Result<ExitStatus> run_hub_member(Tool& tool) {
  BMAD_TRY_ASSIGN(const ProjectAtHub at, chosen_project(tool));
  BMAD_TRY_ASSIGN(HubInterface* const to_hub, open_interface(tool));
  const HubMember member{.who = std::string(tool.args().positional(0)),
                         .rights = std::string(tool.args().maybe("rights").value_or("write"))};
  BMAD_TRY(to_hub->set_member(at.service, at.project, member));
  return tool.note(member.rights == "none"
                       ? fmt::format("{} is no member any more", printable(member.who))
                       : fmt::format("{} may {}", printable(member.who), printable(member.rights)));
}

Result<ExitStatus> run_hub_policy(Tool& tool) {
  BMAD_TRY_ASSIGN(HubInterface* const to_hub, open_interface(tool));
  BMAD_TRY_ASSIGN(const std::string service, chosen_service(tool));
  const std::string path(tool.args().positional(0));
  if (path.empty()) {
    BMAD_TRY_ASSIGN(const std::string policy, to_hub->policy(service));
    tool.out().write(policy);
    if (policy.empty()) {
      tool.note("the hub has no rules of its own; `bmad-mem hub policy FILE` sets some");
    }
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const std::string policy, read_whole_file(path));
  if (!policy.empty()) {
    BMAD_TRY_ASSIGN(const RulesTrial trial, try_rules_file(path, ""));
    tool.report_all(trial.warnings);
  }
  BMAD_TRY(to_hub->set_policy(service, policy));
  return tool.note(policy.empty()
                       ? "the hub has no rules of its own any more"
                       : "all machines apply these rules from their next sync on; what the file "
                         "allows, disables or extends has no effect");
}

Result<ExitStatus> run_hub_upgrade(Tool& tool) {
  BMAD_TRY_ASSIGN(HubInterface* const to_hub, open_interface(tool));
  BMAD_TRY_ASSIGN(const std::string service, chosen_service(tool));
  BMAD_TRY_ASSIGN(const int before, to_hub->upgrade(service));
  return show(tool, "hub_upgrade", object_of("before", before, "version", kHubVersion));
}

namespace {

/// Why the hub has not heard of all that was purged here, by the sync that was to tell it; empty:
/// it has.
std::string unreached_text(const SyncReport& report) {
  if (report.waiting_operations > 0) {
    return waiting_text(report);
  }
  return report.problems.empty()
             ? std::string()
             : format_count(report.problems.size(), "session waits", "sessions wait") +
                   " here, as said before";
}

}  // namespace

void pull_to_verify(Tool& tool) {
  if (Result<Joined> joined = open_joined(tool)) {
    static_cast<void>(sync_with_hub(joined->memory, *joined->hub, {.pushes = false}));
  }
}

Result<ExitStatus> verify_at_hub(Tool& tool, const Result<ExitStatus>& before) {
  BMAD_TRY(before ? Status() : Status(before.error()));
  Result<Joined> joined = open_joined(tool);
  if (!joined && joined.error().code == ErrorCode::E_HUB_NOT_FOUND) {
    return before;
  }
  BMAD_TRY(joined ? Status() : Status(joined.error()));
  BMAD_TRY_ASSIGN(const SyncReport report, sync_with_hub(joined->memory, *joined->hub));
  tool.report_all(report.problems);
  const std::string unreached = unreached_text(report);
  BMAD_TRY_ASSIGN(const ForgottenRows rows,
                  hub_interface()->forgotten(joined->mirror.service, joined->mirror.project));
  BMAD_TRY_ASSIGN(const std::vector<HubReplica> replicas, joined->hub->replicas());
  std::vector<HubReplica> confirmed;
  std::vector<HubReplica> waiting;
  for (const HubReplica& replica : replicas) {
    const bool has_heard = unreached.empty() && replica.cursor >= rows.last_purge;
    (has_heard ? confirmed : waiting).push_back(replica);
  }
  // The hub doesn't know yet of what it should have none.
  const RawJson left = raw_json(unreached.empty() ? std::to_string(rows.with_content) : "null");
  show(tool, "hub_forgotten",
       object_of(
           "verified_at_hub",
           object_of("left", left, "reached", unreached.empty(), "why_not", unreached, "vacuumed",
                     rows.is_vacuumed, "confirmed", shaped(shape::confirming_replica, confirmed),
                     "waiting", shaped(shape::confirming_replica, waiting))));
  const bool is_gone = unreached.empty() && rows.with_content == 0 && waiting.empty();
  return is_gone ? *before : ExitStatus::kFailed;
}

Result<ExitStatus> delete_and_verify(Tool& tool, MemoryManager& memory,
                                     const DeletionCriteria& criteria,
                                     const DeleteOptions& options) {
  BMAD_TRY_ASSIGN(const ExitStatus status, delete_and_tell(tool, memory, criteria, options));
  return tool.args().has("verify") && status == ExitStatus::kDone
             ? verify_at_hub(tool, verify_gone(tool, memory, criteria.match))
             : status;
}

}  // namespace bmad_mem::cli
