// setup.cpp - connects the hosts of this machine, and tries each.
#include <algorithm>
#include <charconv>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tool.hpp"
#include "install/install_plan.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// A client that is here, and what became of it.
struct Host {
  const ClientFacts* client;
  std::string found = {};  ///< Its program, or the folder of its settings.
  bool is_connected = false;
  std::string problem = {};  ///< A sentence; empty: it works.
  std::vector<std::string_view> steps = {};
  std::vector<std::string> warnings = {};

  [[nodiscard]] bool records() const {
    return is_connected && problem.empty() && client->has_hooks();
  }
};

bool is_for_user_settings(const Tool& tool) { return tool.args().maybe("scope") == "user"; }

std::vector<Host> hosts_here() {
  std::vector<Host> hosts;
  for (const ClientFacts& client : all_clients()) {
    std::string found = find_host(client);
    if (!found.empty()) {
      hosts.push_back({.client = &client, .found = std::move(found)});
    }
  }
  return hosts;
}

Status connect(Tool& tool, Host& host) {
  BMAD_TRY_ASSIGN(const InstallPlan plan,
                  plan_install(tool, *host.client, /*is_install=*/true, is_for_user_settings(tool),
                               /*advises=*/false));
  BMAD_TRY(carry_out(plan));
  host.is_connected = true;
  host.warnings = plan.warnings;
  host.steps = plan.steps;
  host.problem = host_problem(plan);
  return {};
}

/// The numbers of a list from 1 that `answer` names, each in its place; "all": each.
std::vector<bool> picked(std::string_view answer, std::size_t count) {
  std::vector<bool> is_picked(count, answer == "all");
  while (!answer.empty()) {
    std::size_t number = 0;
    const char* const end = answer.data() + answer.size();
    const char* const rest = std::from_chars(answer.data(), end, number).ptr;
    if (number >= 1 && number <= count) {
      is_picked[number - 1] = true;
    }
    answer.remove_prefix(std::max<std::size_t>(1, static_cast<std::size_t>(rest - answer.data())));
  }
  return is_picked;
}

void print_hosts(Tool& tool, const std::vector<Host>& hosts) {
  const auto with_hooks = [](const Host& host) { return host.client->has_hooks(); };
  show(tool, "setup",
       object_of("scope", is_for_user_settings(tool) ? "user" : "project", "recording",
                 std::ranges::count_if(hosts, &Host::records), "hosts", shaped(shape::host, hosts)),
       "with_hooks", std::ranges::count_if(hosts, with_hooks), "shown",
       shaped(shape::shown_host, hosts));
}

/// Takes out what `install` and `setup` wrote in this scope.
Result<ExitStatus> undo(Tool& tool) {
  std::vector<Host> hosts;
  ExitStatus status = ExitStatus::kDone;
  for (const ClientFacts& client : all_clients()) {
    const Result<InstallPlan> plan = plan_install(tool, client, /*is_install=*/false,
                                                  is_for_user_settings(tool), /*advises=*/false);
    const bool is_there = plan && std::ranges::any_of(plan->files, &PlannedFile::is_changed);
    const Status done = !plan ? Status(plan.error()) : is_there ? carry_out(*plan) : Status();
    if (!done) {
      tool.report(done.error());
      status = ExitStatus::kFailed;
    } else if (is_there) {
      hosts.push_back({.client = &client});
    }
  }
  const auto name_of = [](const Host& host) { return host.client->name; };
  const auto title_of = [](const Host& host) { return host.client->title; };
  show(tool, "disconnected", object_of("disconnected", hosts | std::views::transform(name_of)),
       "titles", hosts | std::views::transform(title_of));
  return status;
}

}  // namespace

Result<ExitStatus> run_setup(Tool& tool) {
  if (tool.args().has("undo")) {
    return undo(tool);
  }
  std::vector<Host> hosts = hosts_here();
  if (hosts.empty()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message =
                     "no host was found on this machine; `bmad-mem install CLIENT` connects "
                     "one by its name"};
  }
  const bool connects = tool.args().has("yes");
  if (!connects) {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      describe(tool, "host_found", "number", i + 1, "title", hosts[i].client->title, "found",
               hosts[i].found);
    }
  }
  if (!connects && !is_asked(tool)) {
    if (tool.json()) {
      print_hosts(tool, hosts);
    }
    return tool.wrong_usage("nothing was changed; --yes connects all of these hosts");
  }
  const std::vector<bool> is_picked =
      picked(connects ? "all" : asked(tool, "Connect which (numbers, or all)?"), hosts.size());
  std::vector<Host> chosen;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!is_picked[i]) {
      continue;
    }
    if (const Status done = connect(tool, hosts[i]); !done) {
      hosts[i].problem = done.error().to_string();
    }
    chosen.push_back(std::move(hosts[i]));
  }
  if (chosen.empty()) {
    return tool.note("nothing was changed");
  }
  print_hosts(tool, chosen);
  const bool is_well = std::ranges::all_of(chosen, &std::string::empty, &Host::problem);
  return is_well ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace bmad_mem::cli
