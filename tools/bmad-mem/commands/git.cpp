// git.cpp - the integration into git.
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "bmad_mem/log_merge.hpp"
#include "bmad_mem/text.hpp"
#include "cli/tool.hpp"
#include "exchange/files.hpp"
#include "exchange/git/git_program.hpp"
#include "exchange/git/installation.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

namespace {

Result<ExitStatus> carry_out_and_tell(Tool& tool, const GitPlan& plan) {
  const bool dry_run = tool.args().has("dry-run");
  if (!dry_run) {
    BMAD_TRY(carry_out(plan));
  }
  const auto settings = mapped(plan.settings, [](const GitSetting& setting) {
    return std::pair(setting.key, setting.value);
  });
  return show(tool, "git_plan", shaped(shape::git_plan, plan, dry_run, settings), "removes",
              plan.attributes && plan.attributes->empty(), "ignore_path", plan.ignore_path,
              "is_empty", plan.is_empty());
}

}  // namespace

Result<ExitStatus> run_git_install(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const GitPlan plan, plan_install(memory.root(), tracks_events(memory)));
  BMAD_TRY_ASSIGN(const ExitStatus status, carry_out_and_tell(tool, plan));
  describe(tool, "git_installed", "commits",
           plan.attributes && !plan.is_ignored && !tool.args().has("dry-run"));
  return status;
}

Result<ExitStatus> run_git_untrack_events(Tool& tool, MemoryManager& memory) {
  if (tracks_events(memory)) {
    return bad_value("events.track", "memory_config.events.track is true; set it to false first");
  }
  BMAD_TRY_ASSIGN(const GitPlan plan, plan_untrack_events(memory.root()));
  BMAD_TRY_ASSIGN(const ExitStatus status, carry_out_and_tell(tool, plan));
  describe(tool, "events_untracked", "commits",
           !plan.event_logs.empty() && !tool.args().has("dry-run"));
  return status;
}

Result<ExitStatus> run_git_uninstall(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const GitPlan plan,
                  plan_uninstall(memory.root(), tool.args().has("keep-attributes")));
  return carry_out_and_tell(tool, plan);
}

Result<ExitStatus> run_git_check(Tool& tool) {
  // A config.json with conflict markers in it is what this is there to find.
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open({}, {}, /*tolerate_bad_config=*/true));
  BMAD_TRY_ASSIGN(const SecretScanner scanner, memory.scanner());
  const auto look = [&](const MemoryManager::Progress& show) {
    return check_repository(memory.root(), scanner, !tool.args().has("no-history"), show);
  };
  BMAD_TRY_ASSIGN(const GitCheck check, with_progress(tool, "git check", look, "commits"));
  if (tool.json()) {
    print_objects(tool, shape::git_finding, check.findings);
    print_object(tool, "summary", shaped(shape::git_check, check));
  }
  describe(tool, "git_check", "found", shaped(shape::git_finding, check.findings),
           shaped(shape::git_check, check));
  return check.findings.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

namespace {

/// A session that the merge has removed, and of which one side changed a file: all its files as
/// that side has them.
void bring_back(const std::string& root, const std::string& session) {
  const auto is_here = [&](const std::string& path) {
    std::error_code failure;
    return std::filesystem::exists(root + "/" + path, failure);
  };
  for (const char* side : {"HEAD", "MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD"}) {
    if (is_here(session + "/manifest.json")) {
      return;
    }
    const ProgramRun files =
        run_git(root, {"ls-tree", "-r", "-z", "--name-only", side, "--", session});
    for (const std::string_view line : lines_of(files.output, '\0')) {
      if (const std::string path(line); !is_here(path)) {
        run_git(root, {"checkout", side, "--", path});
      }
    }
  }
}

/// Returns whether the session is an archive now.
Result<bool> resolve(MemoryManager& memory, const std::string& session_id) {
  const std::string& root = memory.root();
  const std::string archive = fmt::format("archive/{}.tar.gz", session_id);
  const std::string folder = fmt::format("sessions/{}", session_id);
  bool is_packed = false;
  std::size_t archives = 0;
  for (const int stage : {3, 2}) {  // Theirs, then ours.
    const ProgramRun side = run_git(root, {"show", fmt::format(":{}:./{}", stage, archive)});
    if (side.status == 0) {
      BMAD_TRY(replace_file(root + "/" + archive, side.output));
      BMAD_TRY_ASSIGN(is_packed, memory.resolve_session(session_id));
      ++archives;
    }
  }
  std::error_code failure;
  if (archives == 0 && std::filesystem::exists(root + "/" + archive, failure)) {
    BMAD_TRY_ASSIGN(is_packed, memory.resolve_session(session_id));
  } else if (archives == 0) {
    bring_back(root, folder);
  }
  for (const std::string& path :
       {folder, archive, fmt::format("archive/{}.manifest.json", session_id)}) {
    run_git(root, {"add", "-A", "--", path});  // One that neither side has is no fault.
  }
  return is_packed;
}

}  // namespace

Result<ExitStatus> run_git_resolve(Tool& tool, MemoryManager& memory) {
  const std::set<std::string> waiting = memory.sessions_in_conflict();
  for (const std::string& session_id : waiting) {
    BMAD_TRY_ASSIGN(const bool is_packed, resolve(memory, session_id));
    const std::string_view form = is_packed ? "archive" : "text";
    show(tool, "git_resolve", object_of("session_id", session_id, "form", form));
  }
  describe(tool, "git_resolved", "is_none", waiting.empty());
  const std::set<std::string> left = memory.sessions_in_conflict();
  return left.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

namespace {

constexpr std::size_t kMarkerSize = 7;  // git's own.
constexpr std::size_t kMarkerSizeMax = 200;

/// git's %L; other text, as some version of some program may give, counts as absent.
std::size_t marker_size(std::string_view text) {
  const std::size_t size = number_in<std::size_t>(text).value_or(0);
  return size >= 1 && size <= kMarkerSizeMax ? size : kMarkerSize;
}

bool is_manifest(std::string_view path, const std::string& ours, const std::string& theirs) {
  if (!path.empty()) {
    return path.ends_with(".json");
  }
  return looks_like_manifest(ours) && looks_like_manifest(theirs);
}

bool is_compressed(std::string_view path, std::string_view ours) {
  constexpr std::string_view kGzipMagic = "\x1f\x8b";
  return path.empty() ? ours.starts_with(kGzipMagic) : path.ends_with(".gz");
}

}  // namespace

Result<ExitStatus> run_merge_driver(Tool& tool) {
  const Arguments& args = tool.args();
  BMAD_TRY_ASSIGN(const std::string base, read_regular_file(std::string(args.positional(0))));
  BMAD_TRY_ASSIGN(const std::string ours, read_regular_file(std::string(args.positional(1))));
  BMAD_TRY_ASSIGN(const std::string theirs, read_regular_file(std::string(args.positional(2))));
  const std::string_view path = args.positional(3);
  const std::string output(args.maybe("output").value_or(args.positional(1)));
  const bool compressed = is_compressed(path, ours);
  const auto merge = compressed                        ? merge_evicted
                     : is_manifest(path, ours, theirs) ? merge_manifests
                                                       : merge_logs;
  const Result<std::string> merged = merge(base, ours, theirs);
  if (merged) {
    BMAD_TRY(replace_file(output, *merged));
    return ExitStatus::kDone;
  }
  // Markers would make a compressed file one that nobody can read.
  BMAD_TRY(replace_file(
      output, compressed ? ours : conflict_text(ours, theirs, marker_size(args.positional(4)))));
  Error error = merged.error();
  error.path = path.empty() ? error.path : fmt::format("{} ({})", path, error.path);
  tool.report(error);
  return ExitStatus::kFailed;
}

Result<ExitStatus> run_textconv(Tool& tool) {
  const std::string path(tool.args().positional(0));
  BMAD_TRY_ASSIGN(const std::string text, read_regular_file(path));
  tool.out().write(log_as_prose(text, path));
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
