// trust.cpp - a foreign memory is shown, and becomes the user's own.
#include "bmad_mem/trust.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bmad_mem/memory_manager.hpp"
#include "cli/output.hpp"
#include "cli/tool.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

void print_text(Tool& tool, const TrustReport& report, const TrustOffer& offer) {
  constexpr std::size_t kTextsMax = 40;
  const std::size_t shown =
      tool.args().has("all") ? offer.texts.size() : std::min(kTextsMax, offer.texts.size());
  std::vector<std::string> values;
  for (const WaitingSetting& setting : offer.settings) {
    values.push_back(fmt::format("{}: {}", setting.key, setting.value));
  }
  std::vector<std::string> programs;
  for (const ConfiguredProgram& program : report.programs) {
    programs.push_back(fmt::format("{}: {}", program.setting, fmt::join(program.command, " ")));
  }
  describe(tool, "trust", "root", report.root, "trust", root_trust_name(report.trust), "changed",
           report.config_changed, "reason", report.reason, "offers", some_by_type(offer.lines),
           "sealed_lines", offer.sealed_lines, "by_agents", some_by_type(offer.by_agents), "texts",
           shaped(shape::offered_text,
                  std::vector(offer.texts.begin(),
                              offer.texts.begin() + static_cast<std::ptrdiff_t>(shown))),
           "more", offer.texts.size() - shown, "files", offer.files, "values", values, "switches",
           offer.switches, "programs", programs);
}

}  // namespace

Result<ExitStatus> run_trust(Tool& tool) {
  // What was trusted may be invalid by now; trusting another config.json ends that.
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open({}, {}, /*tolerate_bad_config=*/true));
  if (tool.args().has("revoke")) {
    if (tool.is_for_user() || memory.root() == tool.user_root()) {
      return invalid_query("revoke",
                           "your own memory is in no project, so nobody else can have made it: "
                           "it stays trusted; delete what is wrong in it");
    }
    BMAD_TRY(check_is_person(tool, "take back that you trust this memory?"));
    const ActingAs person(Origin::kPerson);
    BMAD_TRY_ASSIGN(const TrustReport report, memory.revoke_trust());
    return show(tool, "trust_revoked", shaped(shape::trust, report, TrustOffer()));
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
  return show(tool, "trusted", shaped(shape::trust, report, offer));
}

}  // namespace bmad_mem::cli
