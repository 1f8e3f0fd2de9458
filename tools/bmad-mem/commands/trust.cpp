// trust.cpp - a foreign memory is shown, and becomes the user's own.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/trust_offer.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "operation_calls.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

using LinesByType = std::array<std::uint64_t, kEntryTypeCount>;

/// "3 facts, 1 decision"; empty for nothing.
std::string counts_text(const LinesByType& lines) {
  std::string text;
  for (const EntryType type : kEntryTypes) {
    if (const std::uint64_t count = lines[static_cast<std::size_t>(type)]; count > 0) {
      const EntryTypeInfo& info = entry_type_info(type);
      text += fmt::format("{}{}", text.empty() ? "" : ", ",
                          format_count(count, info.name, info.plural));
    }
  }
  return text;
}

void print_text(Tool& tool, const TrustReport& report, const TrustOffer& offer) {
  constexpr std::size_t kTextsMax = 40;
  tool.out().print(
      "{}: {}{}\n", printable(report.root), root_trust_name(report.trust),
      report.config_changed ? ", but its config.json, a program or a rules file has changed" : "");
  if (!report.reason.empty()) {
    tool.out().print("  {}\n", printable(report.reason));
  }
  const std::string counts = counts_text(offer.lines);
  tool.out().print("\n");
  if (!counts.empty() || offer.sealed_lines == 0) {
    tool.out().print("{}\n", counts.empty() ? "No line of it came from elsewhere."
                                            : fmt::format("Lines from elsewhere: {}.", counts));
  }
  if (offer.sealed_lines > 0) {
    tool.out().print("Sealed lines that cannot be shown, so stay quoted: {}.\n",
                     format_count(offer.sealed_lines));
  }
  if (const std::string agents = counts_text(offer.by_agents); !agents.empty()) {
    tool.out().print("Written by an agent, so quoted all the same: {}.\n", agents);
  }
  if (!offer.texts.empty()) {
    tool.out().print("Told without quotes once you trust it:\n");
  }
  const std::size_t shown =
      tool.args().has("all") ? offer.texts.size() : std::min(kTextsMax, offer.texts.size());
  for (const OfferedText& text : std::span(offer.texts).first(shown)) {
    tool.out().print("  {} {}: {}\n", entry_type_name(text.type), printable(text.id),
                     printable(text.text));
  }
  if (shown < offer.texts.size()) {
    tool.out().print("  and {} more; `bmad-mem trust --all` shows them\n",
                     format_count(offer.texts.size() - shown));
  }
  if (!offer.files.empty()) {
    tool.out().print("\nFiles that the memory tool shows without quotes then:\n");
  }
  for (const std::string& path : offer.files) {
    tool.out().print("  {}\n", printable(path));
  }
  if (!offer.settings.empty()) {
    tool.out().print(
        "\nSettings of config.json that have an effect then (data, not instructions):\n");
  }
  for (const WaitingSetting& setting : offer.settings) {
    tool.out().print("  {}: {}\n", setting.key, printable(setting.value));
  }
  tool.out().print("\n{}\n", offer.switches.empty() ? "It switches no protection off."
                                                    : "Protection that it would take away:");
  for (const std::string& each : offer.switches) {
    tool.out().print("  {}\n", printable(each));
  }
  tool.out().print("\n{}\n", report.programs.empty()
                                 ? "It names no program."
                                 : "Programs that would run, servers and models that "
                                   "would be used:");
  for (const ConfiguredProgram& program : report.programs) {
    tool.out().print("  {}: {}\n", program.setting,
                     printable(fmt::format("{}", fmt::join(program.command, " "))));
  }
}

}  // namespace

Result<ExitStatus> run_trust(Tool& tool) {
  if (tool.args().has("revoke") && tool.args().has("yes")) {
    return tool.wrong_usage("--yes trusts, --revoke takes trust back: choose one");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (tool.args().has("revoke")) {
    if (tool.is_for_user() || memory.root() == tool.user_root()) {
      return Error{.code = ErrorCode::E_INVALID_QUERY,
                   .message =
                       "your own memory is in no project, so nobody else can have made it: "
                       "it stays trusted; delete what is wrong in it",
                   .field = "revoke"};
    }
    BMAD_TRY(check_is_person(tool, "take back that you trust this memory?"));
    const ActingAs person(Origin::kPerson);
    BMAD_TRY_ASSIGN(const TrustReport report, memory.revoke_trust());
    if (tool.json()) {
      print_object(tool, shaped(shape::trust, report, TrustOffer()));
    } else {
      tool.out().print("{} is foreign from now on\n", printable(report.root));
    }
    return ExitStatus::kDone;
  }
  TrustReport report = memory.trust_report();
  BMAD_TRY_ASSIGN(const TrustOffer offer, trust_offer(memory));
  if (!tool.json()) {
    print_text(tool, report, offer);
  }
  if (!tool.args().has("yes") && !is_asked(tool)) {
    if (tool.json()) {
      print_object(tool, shaped(shape::trust, report, offer));
    }
    tool.note(
        "nothing was changed; read this, then run `bmad-mem trust` in a terminal, or with --yes");
    return report.is_foreign() || report.config_changed ? ExitStatus::kFailed : ExitStatus::kDone;
  }
  constexpr std::string_view kQuestion = "trust this memory?";
  if (tool.args().has("yes") || !tool.agent_sign().empty()) {
    BMAD_TRY(check_is_person(tool, kQuestion));
  } else if (!is_confirmed(tool, kQuestion)) {
    return ExitStatus::kFailed;
  }
  const ActingAs person(Origin::kPerson);
  BMAD_TRY_ASSIGN(report, memory.trust());
  if (tool.json()) {
    print_object(tool, shaped(shape::trust, report, offer));
  } else {
    tool.out().print("\ntrusted; {}\n", format_count(report.lines, "line is accepted as it is",
                                                     "lines are accepted as they are"));
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
