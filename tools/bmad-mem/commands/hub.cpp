// hub.cpp - many machines, one memory: what they exchange, and who takes part.
#include "bmad_mem/hub.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/settings.hpp"
#include "cli/hub_interface.hpp"
#include "cli/options.hpp"
#include "cli/program.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/view_text.hpp"
#include "install/json_edit.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

constexpr int kFollowMs = 1000;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

/// How much is new here and is not for this role to push.
std::uint64_t waits_here(const SyncReport& report) {
  return report.waiting_lines + report.waiting_operations;
}

void note_waiting(Tool& tool, const SyncReport& report) {
  if (const std::string waits = waiting_text(report); !waits.empty()) {
    tool.note(waits);
  }
}

ExitStatus print_report(Tool& tool, const SyncReport& report, bool dry_run) {
  show(tool, "sync", shaped(shape::sync, report), "dry_run", dry_run, "skew_s",
       std::chrono::abs(report.clock_skew).count());
  tool.report_all(report.problems);
  note_waiting(tool, report);
  return report.problems.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

Result<ExitStatus> exchange_with_hub(Tool& tool, bool pulls, bool pushes) {
  BMAD_TRY_ASSIGN(Joined joined, open_joined(tool));
  const bool dry_run = tool.args().has("dry-run");
  BMAD_TRY_ASSIGN(const SyncReport report,
                  sync_with_hub(joined.memory, *joined.hub,
                                {.pulls = pulls, .pushes = pushes, .dry_run = dry_run}));
  const ExitStatus status = print_report(tool, report, dry_run);
  const bool has_failed = !pulls && !dry_run && waits_here(report) > 0;  // It was to push only.
  return has_failed ? ExitStatus::kFailed : status;
}

bool has_done(const SyncReport& report) {
  return report.pulled_lines + report.pulled_operations + report.pushed_lines +
             report.pushed_operations + report.refused + report.skipped.size() >
         0;
}

/// Until a signal ends it. A hub that is away, now or later, is said once, and tried again.
Result<ExitStatus> follow(Tool& tool) {
  const Descriptor signals = take_ending_signals();
  Result<Joined> joined = open_joined(tool);
  bool is_away = false;
  std::uint64_t told = 0;  // How much waits, as it was said last.
  while (true) {
    const Result<SyncReport> report =
        joined ? sync_with_hub(joined->memory, *joined->hub) : Result<SyncReport>(joined.error());
    if (report) {
      if (has_done(*report) || !report->problems.empty() || waits_here(*report) != told) {
        told = waits_here(*report);
        print_report(tool, *report, false);
        static_cast<void>(tool.out().flush());
      }
    } else if (report.error().code != ErrorCode::E_HUB_AWAY || hub_interface() == nullptr) {
      return report.error();
    } else if (!is_away) {
      tool.report(report.error());
    }
    is_away = !report;
    pollfd waits{.fd = signals.number(), .events = POLLIN, .revents = 0};
    if (::poll(&waits, 1, kFollowMs) > 0) {
      return ExitStatus::kDone;
    }
    if (!joined) {
      joined = open_joined(tool);
    }
  }
}

struct HubView {
  MirrorReport mirror;
  bool is_tls = false;
  SyncReport sync;
  std::vector<HubReplica> replicas;
};

/// Shows the machines that take part, between what else is known of the hub.
void show_replicas(Tool& tool, std::string_view name, const HubView& view, const auto& before,
                   const auto&... after) {
  const auto stale = [&](const HubReplica& replica) {
    return system_clock().now() - replica.seen_at > std::chrono::days(view.mirror.stale_days);
  };
  const auto missing = [&](const HubReplica& replica) {
    return std::max(view.sync.head, replica.cursor) - replica.cursor;
  };
  const auto own = [&](const HubReplica& replica) {
    return replica.replica == view.mirror.replica;
  };
  show(tool, name,
       object_of(before, "replicas", shaped(shape::replica, view.replicas, stale), after...),
       "shown", shaped(shape::shown_replica, view.replicas, stale, missing, own), "held",
       shaped(shape::held_lines, view.sync.held));
}

}  // namespace

std::string waiting_text(const SyncReport& report) {
  return view_line("hub_waiting", json_object("lines", report.waiting_lines, "operations",
                                              report.waiting_operations, "count",
                                              waits_here(report), "rights", report.rights));
}

Result<ExitStatus> run_hub_join(Tool& tool) {
  BMAD_TRY_ASSIGN(HubInterface* const to_hub, open_interface(tool));
  const JoinOptions options{.service = std::string(tool.args().positional(0)),
                            .project = std::string(tool.args().positional(1)),
                            .host = host_name()};
  BMAD_TRY_ASSIGN(const std::unique_ptr<Hub> hub,
                  to_hub->connect(options.service, options.project, {}));
  if (!tool.find_root()) {
    BMAD_TRY_ASSIGN(const InitReport made,
                    MemoryManager::init(tool.root_to_create(), trusting_folder()));
    tool.note(fmt::format("created memory {}", made.root));
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY(join_hub(memory, *hub, options));
  // Where the hub is, for those who clone the project.
  BMAD_TRY(edit_settings(memory,
                         {{"hub.service", json_quoted(options.service)},
                          {"hub.project", json_quoted(options.project)}},
                         with_setting));
  BMAD_TRY_ASSIGN(const SyncReport report, sync_with_hub(memory, *hub));
  return print_report(tool, report, false);
}

Result<ExitStatus> run_hub_status(Tool& tool) {
  BMAD_TRY_ASSIGN(Joined joined, open_joined(tool));
  HubView view{.mirror = joined.mirror, .is_tls = joined.hub->is_tls()};
  BMAD_TRY_ASSIGN(view.sync, sync_with_hub(joined.memory, *joined.hub, {.dry_run = true}));
  BMAD_TRY_ASSIGN(view.replicas, joined.hub->replicas());
  BMAD_TRY_ASSIGN(const std::vector<HubMember> members,
                  hub_interface()->members(joined.mirror.service, joined.mirror.project));
  const SyncReport& sync = view.sync;
  const std::uint64_t lines = sync.pushed_lines + sync.waiting_lines;
  const std::uint64_t operations = sync.pushed_operations + sync.waiting_operations;
  show_replicas(tool, "hub_status", view, shaped(shape::hub, view, lines, operations), "members",
                shaped(shape::member, members));
  note_waiting(tool, sync);
  return ExitStatus::kDone;
}

namespace {

Result<ExitStatus> drop_replica(Tool& tool, Hub& hub, std::string_view dropped) {
  BMAD_TRY_ASSIGN(const std::vector<HubReplica> replicas, hub.replicas());
  if (std::ranges::find(replicas, dropped, &HubReplica::replica) == replicas.end()) {
    return field_error(ErrorCode::E_SESSION_NOT_FOUND, "drop",
                       fmt::format("the hub has no replica '{}'; `bmad-mem hub replica` lists "
                                   "those that it has",
                                   printable(dropped)));
  }
  BMAD_TRY(hub.drop_replica(std::string(dropped)));
  return tool.note(fmt::format("{} is off the list; it has to confirm nothing any more", dropped));
}

}  // namespace

Result<ExitStatus> run_hub_replica(Tool& tool) {
  BMAD_TRY_ASSIGN(const Joined joined, open_joined(tool));
  if (const std::string_view dropped = tool.args().value("drop"); !dropped.empty()) {
    return drop_replica(tool, *joined.hub, dropped);
  }
  HubView view{.mirror = joined.mirror};
  BMAD_TRY_ASSIGN(const HubHead head, joined.hub->head());
  view.sync.head = head.head;
  BMAD_TRY_ASSIGN(view.replicas, joined.hub->replicas());
  show_replicas(tool, "replicas", view, [](JsonWriter&) {});
  return ExitStatus::kDone;
}

Result<ExitStatus> run_hub_rows(Tool& tool) {
  BMAD_TRY_ASSIGN(const Joined joined, open_joined(tool));
  if (tool.args().has("drop")) {
    BMAD_TRY_ASSIGN(const auto seq,
                    read_number<std::int64_t>(tool.args(), "drop", 0, "the number of a row", 1));
    BMAD_TRY(drop_skipped_row(*joined.hub, static_cast<std::uint64_t>(seq)));
    return tool.note(fmt::format("row {} is out of the feed", seq));
  }
  BMAD_TRY_ASSIGN(const std::vector<SkippedRow> rows, skipped_rows(*joined.hub));
  return show(tool, "skipped_rows", object_of("rows", shaped(shape::skipped_row, rows)));
}

Result<ExitStatus> run_hub_leave(Tool& tool) {
  const Result<Joined> joined = open_joined(tool);
  const Status dropped =
      joined ? joined->hub->drop_replica(joined->mirror.replica) : Status(joined.error());
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const Result<MirrorReport> mirror = mirror_report(memory);  // An error where hub/ is damaged.
  BMAD_TRY(leave_hub(memory));
  return describe(tool, "hub_left", "is_listed", !dropped, "problem",
                  mirror && !dropped ? dropped.error().message : "", "replica",
                  mirror ? mirror->replica : "ID");
}

Result<ExitStatus> run_hub_reclone(Tool& tool) {
  BMAD_TRY_ASSIGN(Joined joined, open_joined(tool));
  BMAD_TRY(reclone_from_hub(joined.memory, *joined.hub, tool.args().positionals()));
  BMAD_TRY_ASSIGN(const SyncReport report, sync_with_hub(joined.memory, *joined.hub));
  return print_report(tool, report, false);
}

namespace {

/// Those of the entries of which the hub has no line behind the row `after`.
Result<std::set<std::string>> missing_at_hub(Hub& hub, const AddedEntries& added,
                                             std::uint64_t after) {
  std::set<std::string> missing(added.ids.begin(), added.ids.end());
  while (!missing.empty()) {
    BMAD_TRY_ASSIGN(const std::vector<FeedRow> rows,
                    hub.pull({.after = after, .session_id = added.session_id}));
    if (rows.empty()) {
      break;
    }
    for (const FeedRow& row : rows) {
      if (row.op == FeedOp::kLine) {
        missing.erase(row.entry_id);
      }
    }
    after = rows.back().seq;
  }
  return missing;
}

/// What was pushed, and what the hub is `missing` of the entries all the same.
Result<SyncReport> push_added(Tool& tool, const AddedEntries& added, std::uint64_t after,
                              std::set<std::string>& missing) {
  BMAD_TRY_ASSIGN(Joined joined, open_joined(tool));
  BMAD_TRY_ASSIGN(SyncReport report, sync_with_hub(joined.memory, *joined.hub, {.pulls = false}));
  BMAD_TRY_ASSIGN(missing, missing_at_hub(*joined.hub, added, after));
  return report;
}

}  // namespace

Result<ExitStatus> push_to_hub(Tool& tool, const AddedEntries& added, std::uint64_t after) {
  std::set<std::string> missing;
  const Result<SyncReport> pushed = push_added(tool, added, after, missing);
  if (!pushed) {
    Error error = pushed.error();
    error.message += "; the entry is stored here, and the next sync pushes it";
    return error;
  }
  const SyncReport& report = *pushed;
  tool.report_all(report.problems);
  if (report.waiting_lines > 0) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message = "the entry is stored here, and the hub does not have it: " +
                            waiting_text(report)};
  }
  describe(tool, "missing_at_hub", "missing", missing.size(), "held", report.held.total());
  return report.problems.empty() && missing.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

Result<ExitStatus> run_sync(Tool& tool) {
  return tool.args().has("follow") ? follow(tool) : exchange_with_hub(tool, true, true);
}

Result<ExitStatus> run_push(Tool& tool) { return exchange_with_hub(tool, false, true); }

Result<ExitStatus> run_pull(Tool& tool) { return exchange_with_hub(tool, true, false); }

}  // namespace bmad_mem::cli
