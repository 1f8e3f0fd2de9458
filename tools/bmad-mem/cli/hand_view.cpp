// hand_view.cpp - lines that an editor changed, as text and as JSON, and what becomes of them.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::pair<FindingKind, std::string_view>, 5> kWords = {
    {{FindingKind::kChangedLine, "changed"},
     {FindingKind::kAddedLine, "added"},
     {FindingKind::kLostLine, "removed"},
     {FindingKind::kMovedLine, "moved"},
     {FindingKind::kDoubledLine, "doubled"}}};

std::string_view word_of(const HandEdit& edit) {
  return std::ranges::find(kWords, edit.place.kind, [](const auto& each) { return each.first; })
      ->second;
}

void print_edit(Tool& tool, const HandEdit& edit) {
  const std::string_view by = edit.by_agent ? "agent" : "person";
  show(tool, "hand_edit", object_of("edit", shaped(shape::hand_edit, edit, word_of(edit), by)),
       "is_unknown", edit.before.empty() && edit.old != 0);
}

Result<ExitStatus> settle(Tool& tool, MemoryManager& memory, std::span<const HandEdit> edits,
                          bool restore) {
  const ActingAs person(Origin::kPerson);
  BMAD_TRY_ASSIGN(const std::vector<HandEdit> left, memory.settle_hand_edits(edits, restore));
  describe(tool, "settled", "restore", restore, "done", edits.size() - left.size(), "left",
           left.size());
  return left.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace

std::string hand_edits_text(std::span<const HandEdit> edits) {
  std::string kinds;
  for (const auto& [kind, word] : kWords) {
    const auto count =
        std::ranges::count(edits, kind, [](const HandEdit& edit) { return edit.place.kind; });
    if (count > 0) {
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, word);
    }
  }
  const auto by_agents = std::ranges::count(edits, true, &HandEdit::by_agent);
  return edits.empty()
             ? std::string()
             : fmt::format("{} by hand ({}{})",
                           format_count(edits.size(), "line was changed", "lines were changed"),
                           kinds,
                           by_agents == 0 ? ""
                                          : fmt::format("; {} while an agent's session "
                                                        "was open",
                                                        by_agents));
}

std::vector<HandEdit> look_for_hand_edits(Tool& tool, MemoryManager& memory) {
  const bool is_agent = tool.writes_as() == Origin::kAgent;
  static_cast<void>(
      memory.look_for_hand_edits(is_agent ? HandLook::kChangedByAgent : HandLook::kAll));
  return memory.hand_edits();
}

Result<ExitStatus> review_hand_edits(Tool& tool, MemoryManager& memory) {
  if (look_for_hand_edits(tool, memory).empty()) {
    return tool.note("no line that was changed by hand waits for your decision");
  }
  const std::vector<HandEdit> edits = memory.hand_edits(/*with_texts=*/true);
  const bool restores = tool.args().has("restore");
  if (tool.args().has("yes") ||
      (restores && is_asked(tool) && is_confirmed(tool, "restore all of them?"))) {
    BMAD_TRY(check_is_person(tool, restores ? "restore all?" : "accept all?"));
    std::ranges::for_each(edits, [&](const HandEdit& edit) { print_edit(tool, edit); });
    return settle(tool, memory, edits, restores);
  }
  const bool asks = !tool.json() && is_asked(tool) && ::isatty(STDOUT_FILENO) == 1;
  for (const HandEdit& edit : edits) {
    print_edit(tool, edit);
    static_cast<void>(tool.out().flush());
    const std::string answer = asks ? asked(tool, "[a]ccept, [r]estore, [s]kip or [q]uit? ") : "s";
    if (answer.starts_with('q') || answer.empty()) {
      return ExitStatus::kDone;
    }
    if (answer.starts_with('a') || answer.starts_with('r')) {
      BMAD_TRY(check_is_person(tool, "decide about this line?"));
      BMAD_TRY(settle(tool, memory, {&edit, 1}, answer.starts_with('r')));
    }
  }
  if (!asks) {
    tool.note(
        "`bmad-mem review --hand --yes` accepts all, with --restore it restores the lines of "
        "before");
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
