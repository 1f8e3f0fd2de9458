// decay - how much entries count at a moment.
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "commands/commands.hpp"
#include "decay_view.hpp"
#include "filters.hpp"
#include "times.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

void print_report(Tool& tool, const DecayReport& report, bool write) {
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("session_id", report.session_id);
    add_decay(json, report);
    if (write) {
      json.member("rewritten", report.rewritten);
    }
    json.end_object();
    tool.out().print("{}\n", json.text());
    return;
  }
  tool.out().print("{}, {} model, {}, {}\n", tool.style().id(report.session_id), report.model,
                   format_rfc3339(report.as_of), format_count(report.entries, "entry", "entries"));
  for (const EntryType type : kEntryTypes) {
    if (const double mean = report.mean[static_cast<std::size_t>(type)]; mean > 0) {
      tool.out().print("  {}  {:.2f} on average\n", padded(entry_type_name(type), 12), mean);
    }
  }
  if (report.entries > 0) {
    print_histogram(tool, report);
  }
  if (write) {
    tool.out().print("  written into {}\n", format_count(report.rewritten, "line", "lines"));
  }
}

Result<ExitStatus> run_decay(Tool& tool) {
  const Arguments& args = tool.args();
  const bool write = args.has("write");
  std::optional<Timestamp> as_of;
  if (const auto text = args.maybe("as-of")) {
    BMAD_TRY_ASSIGN(as_of, parse_time(*text, system_clock().now(), RangeEnd::kSince, "as-of"));
    if (write) {
      return tool.wrong_usage("--write notes the factors of now; leave out --as-of");
    }
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (args.has("table")) {
    print_decay_table(tool, memory.decay_table());
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const std::vector<DecayReport> reports,
                  memory.decay(args.all("session"), as_of, write));
  for (const DecayReport& report : reports) {
    print_report(tool, report, write);
  }
  if (reports.empty()) {
    tool.note("there is no session");
  }
  return ExitStatus::kDone;
}

constexpr Option kDecayOptions[] = {
    kSessionFilter,
    {.name = "as-of",
     .value = "TIME",
     .help = "at this time: 2026-12-24, an RFC 3339 time, 30d for thirty days ago",
     .fallback = "now"},
    {.name = "write", .help = "write the factors into the entries, for other readers of the files"},
    {.name = "table", .help = "how both models behave over a year, with the rates of config.json"},
};

constexpr Example kDecayExamples[] = {
    {.command = "bmad-mem decay --session $S", .says = "how much of it still counts"},
    {.command = "bmad-mem decay --as-of 2027-06-30", .says = "what will count in summer"},
    {.command = "bmad-mem decay --table", .says = "what the settings mean"},
};

}  // namespace

const Command kDecay = {
    .name = "decay",
    .group = Group::kCare,
    .summary = "show how much entries still count",
    .description =
        "Shows for each session how much its entries count at a time: the decay factor by type, "
        "and how many entries lie in each tenth. Decay is worked out when an entry is read, so "
        "nothing has to be run for it. --write notes the factors of now in the entries, as a "
        "snapshot for people and other programs; nothing depends on it.",
    .options = kDecayOptions,
    .examples = kDecayExamples,
    .run = run_decay,
    .reads = true,
};

}  // namespace bmad_mem::cli
