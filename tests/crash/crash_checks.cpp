#include "crash_checks.hpp"

#include <algorithm>
#include <functional>

#include "crash_evidence.hpp"
#include "json_lines.hpp"

namespace bmad_mem {
namespace {

enum class Presence { kAll, kNone, kAny };

/// JSON documents that are replaced whole, so a kill must not leave them torn. Derived ones may be.
bool is_whole_document(const std::string& name) {
  return name == "config.json" || name.ends_with("/manifest.json") ||
         name.ends_with("/deletion-record.json");
}

/// After an error nothing of the command may be visible, with two exceptions that no program can
/// avoid: bytes whose sync failed are in the file, and so are bytes whose truncation failed.
Presence expected_presence(const CrashEvidence& evidence) {
  // Ids that were printed are a promise, even when the program was killed right after.
  if (evidence.process().succeeded() || !evidence.printed_ids().empty()) {
    return Presence::kAll;
  }
  const bool cannot_tell = evidence.was_killed() || evidence.command().writes_in_parts ||
                           evidence.failed_to_sync() || evidence.failed(CallKind::kTruncate);
  return cannot_tell ? Presence::kAny : Presence::kNone;
}

void check_process(CrashEvidence& evidence) {
  if (evidence.outcome().timed_out) {
    evidence.report("the command did not end");
    return;
  }
  if (evidence.process().signal != 0 && !evidence.was_killed()) {
    evidence.report("the command crashed: " + what_it_said(evidence.process()));
  } else if (evidence.process().signal == 0 && evidence.process().exit_code != 0) {
    constexpr int kIncomplete = 4;  // The rest was done.
    if (evidence.process().exit_code != 1 && evidence.process().exit_code != kIncomplete) {
      evidence.report("an error must have status 1 or 4: " + what_it_said(evidence.process()));
    }
    const bool names_files = evidence.process().out.contains("left for a person to look at");
    if (!evidence.process().err.contains("E_") && !names_files) {
      evidence.report("an error must name its code on stderr: " + what_it_said(evidence.process()));
    }
  }
  const bool adds = evidence.command().arguments.front() == "add";
  if (adds && evidence.process().succeeded() &&
      evidence.printed_ids().size() != evidence.command().marks.size()) {
    evidence.report("a success must print one id for each entry: " +
                    what_it_said(evidence.process()));
  }
}

void check_presence(CrashEvidence& evidence) {
  const Presence expected = expected_presence(evidence);
  const std::vector<std::size_t> counts = evidence.visible_marks();
  for (std::size_t index = 0; index < counts.size(); ++index) {
    const std::size_t count = counts[index];
    const bool is_right = expected == Presence::kAll    ? count == 1
                          : expected == Presence::kNone ? count == 0
                                                        : count <= 1;
    if (!is_right) {
      evidence.report("the entry '" + evidence.command().marks[index] + "' is there " +
                      std::to_string(count) + " times after: " + what_it_said(evidence.process()));
    }
  }
  // One write leaves a beginning of itself, never a later line without an earlier one.
  if (!evidence.command().writes_in_parts && !std::ranges::is_sorted(counts, std::greater())) {
    evidence.report("a later entry of the batch is there without an earlier one");
  }
}

void check_documents(CrashEvidence& evidence) {
  if (!evidence.has_root()) {
    return;
  }
  for (const auto& [name, content] : evidence.store().tree()) {
    if (is_whole_document(name) && !name.contains(".tmp/") && !is_json_object(content)) {
      evidence.report(name + " is not whole: '" + first_words(content) + "'");
    }
  }
}

}  // namespace

std::vector<std::string> check_state(const CrashStore& store, const CrashCommand& command,
                                     const TraceOutcome& outcome) {
  CrashEvidence evidence(store, command, outcome);
  check_process(evidence);
  evidence.check_lines("after the fault");
  check_presence(evidence);
  check_documents(evidence);
  evidence.check_retained("after the fault");
  return std::move(evidence).broken();
}

}  // namespace bmad_mem
