// decay.cpp - the decay of entries, and its rates as the use of the memory teaches them.
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/settings.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "install/json_edit.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// As config.json has it: three digits say all that some dozens of entries can.
std::string rate_text(double rate) { return fmt::format("{:.3g}", rate); }

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
  for (const LearnedRate& each : tool.json() ? rates : std::vector<LearnedRate>()) {
    print_object(tool, shaped(shape::learned_rate, each, apply && is_applied(each)));
  }
  describe(tool, "learned_rates", "all", shaped(shape::learned_rate, rates, apply));
  return describe(tool, "undecided", "is_applied", apply && is_any, "is_any", is_any, "apply",
                  apply, "root", memory.root(), "ends", kLearnedEndsMin, "days",
                  kLearnedSilentDays);
}

}  // namespace

Result<ExitStatus> run_decay(Tool& tool) {
  const Arguments& args = tool.args();
  const bool write = args.has("write");
  if (args.has("learn")) {
    return learn_rates(tool);
  }
  std::optional<Timestamp> as_of;
  if (const auto text = args.maybe("as-of")) {
    BMAD_TRY_ASSIGN(as_of, parse_time(*text, system_clock().now(), RangeEnd::kSince, "as-of"));
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (args.has("table")) {
    print_decay_table(tool, memory.decay_table());
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const std::vector<DecayReport> reports,
                  memory.decay(args.all("session"), as_of, write));
  for (const DecayReport& report : reports) {
    print_decay(tool, report, write);
  }
  if (reports.empty()) {
    tool.note("there is no session");
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
