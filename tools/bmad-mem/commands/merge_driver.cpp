// merge-driver - what git calls to merge a file of memory.
#include <charconv>
#include <string>
#include <string_view>

#include "bmad_mem/log_merge.hpp"
#include "commands/commands.hpp"
#include "exchange/files.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kMarkerSize = 7;  // git's own.
constexpr std::size_t kMarkerSizeMax = 200;

/// git's %L; other text, as some version of some program may give, counts as absent.
std::size_t marker_size(std::string_view text) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const bool good = error == std::errc() && end == text.data() + text.size() && size >= 1;
  return good && size <= kMarkerSizeMax ? size : kMarkerSize;
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

constexpr Positional kMergeDriverPositionals[] = {
    {.name = "BASE", .help = "the common ancestor, %O", .completion = Completion::kFile},
    {.name = "OURS",
     .help = "our side, %A; the result goes there",
     .completion = Completion::kFile},
    {.name = "THEIRS", .help = "their side, %B", .completion = Completion::kFile},
    {.name = "PATH", .help = "what the file is called, %P", .min = 0},
    {.name = "SIZE", .help = "characters of a conflict marker, %L", .min = 0},
};

constexpr Option kMergeDriverOptions[] = {
    {.name = "output",
     .value = "FILE",
     .help = "where the result goes instead",
     .fallback = "OURS",
     .completion = Completion::kFile},
};

constexpr Example kMergeDriverExamples[] = {
    {.command = "bmad-mem merge-driver %O %A %B %P %L", .says = "as `git install` tells git"},
    {.command = "bmad-mem merge-driver base ours theirs --output merged",
     .says = "three files that you name"},
};

}  // namespace

const Command kMergeDriver = {
    .name = "merge-driver",
    .group = Group::kHidden,
    .summary = "merge two versions of a log or a manifest, for git",
    .description =
        "Merges what two branches made of one file of memory, and writes the result over OURS. A "
        "PATH that ends in .json is a manifest, one in .gz what compaction moved out, every other "
        "a "
        "log; without one the content decides. Lines are kept as docs/decisions/0033 says: what "
        "either side added is there, "
        "what one removed is not, by time, in the same order for everybody.\n\n"
        "Where that can't be done, because a side added a line that is no entry, both texts are "
        "left with conflict markers and the status is 1.",
    .positionals = kMergeDriverPositionals,
    .options = kMergeDriverOptions,
    .examples = kMergeDriverExamples,
    .exit_status = "0 merged, 1 a conflict, or a file could not be read, 2 wrong usage.",
    .run = run_merge_driver,
};

}  // namespace bmad_mem::cli
