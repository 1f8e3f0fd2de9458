// decay.cpp - the decay of entries, and its rates as the use of the memory teaches them.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/settings.hpp"
#include "cli/filters.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "install/json_edit.hpp"
#include "operation_calls.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

void print_decay_report(Tool& tool, const DecayReport& report, bool write) {
  if (tool.json()) {
    const auto rewritten = write ? std::optional(report.rewritten) : std::nullopt;
    print_object(tool, "session_id", report.session_id, shaped(shape::decay, report), "rewritten",
                 rewritten);
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

/// As config.json has it: three digits say all that some dozens of entries can.
std::string rate_text(double rate) { return fmt::format("{:.3g}", rate); }

std::string half_life_text(double rate) {
  return rate > 0 ? fmt::format("{:.3g} days", std::log(2) / rate) : std::string("never");
}

void print_learned(Tool& tool, std::span<const LearnedRate> rates) {
  std::vector<TableRow> rows = {
      {"type", "configured", "half after", "learned", "half after", "95 %", "from"}};
  for (const LearnedRate& each : rates) {
    const std::string from = fmt::format("{} of {} out of use", each.ended,
                                         format_count(each.used, "used entry", "used entries"));
    if (each.is_enough) {
      rows.push_back({std::string(entry_type_name(each.type)), rate_text(each.configured),
                      half_life_text(each.configured), rate_text(each.rate),
                      half_life_text(each.rate),
                      fmt::format("{} to {}", rate_text(each.low), rate_text(each.high)), from});
    } else {
      rows.push_back({std::string(entry_type_name(each.type)), rate_text(each.configured),
                      half_life_text(each.configured), "too little use", "", "", from});
    }
  }
  print_table(tool, rows, "lllllll");
}

/// Whether --apply writes the rate.
bool is_applied(const LearnedRate& rate) { return rate.is_enough && rate.is_setting; }

/// Puts the learned rates into config.json.
Status apply_learned(MemoryManager& memory, std::span<const LearnedRate> rates) {
  std::map<std::string, std::optional<std::string>> changes;
  for (const LearnedRate& each : rates) {
    if (is_applied(each)) {
      changes[fmt::format("decay.rates.{}", entry_type_name(each.type))] = rate_text(each.rate);
    }
  }
  return edit_settings(memory, changes, with_setting);
}

Result<ExitStatus> learn_rates(Tool& tool) {
  const bool apply = tool.args().has("apply");
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY(memory.check_allowed("decay", apply));
  BMAD_TRY_ASSIGN(const std::vector<LearnedRate> rates, memory.learned_decay());
  const bool is_any = std::ranges::any_of(rates, is_applied);
  if (apply && is_any) {
    BMAD_TRY(apply_learned(memory, rates));
  }
  if (tool.json()) {
    for (const LearnedRate& each : rates) {
      print_object(tool, shaped(shape::learned_rate, each, apply && is_applied(each)));
    }
    return ExitStatus::kDone;
  }
  print_learned(tool, rates);
  if (apply && is_any) {
    tool.note(fmt::format("wrote the learned rates to {}/config.json", memory.root()));
  } else if (is_any) {
    tool.note(
        "nothing was changed; `bmad-mem decay --learn --apply` writes the learned rates of "
        "conversation, decision, finding and preference to config.json");
  } else {
    tool.note(fmt::format(
        "too little use to learn from: a rate needs {} entries of its type that "
        "were used, and then not for {} days{}",
        kLearnedEndsMin, kLearnedSilentDays, apply ? "; config.json is unchanged" : ""));
  }
  return ExitStatus::kDone;
}

}  // namespace

Result<ExitStatus> run_decay(Tool& tool) {
  const Arguments& args = tool.args();
  const bool write = args.has("write");
  if (args.has("learn")) {
    if (write || args.has("table") || args.has("as-of") || args.has("session")) {
      return tool.wrong_usage("--learn goes with --apply only");
    }
    return learn_rates(tool);
  }
  if (args.has("apply")) {
    return tool.wrong_usage("--apply goes with --learn");
  }
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
    print_decay_report(tool, report, write);
  }
  if (reports.empty()) {
    tool.note("there is no session");
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
