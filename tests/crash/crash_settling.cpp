#include "crash_settling.hpp"

#include <algorithm>

namespace bmad_mem {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

class Settling {
 public:
  explicit Settling(CrashEvidence& evidence)
      : evidence_(evidence), store_(evidence.store()), command_(evidence.command()) {}

  void run() {
    must({"session", "list"});
    must({"--json", "list"});
    if (!command_.doomed.empty()) {
      finish_purge();
    }
    run_again();
    evidence_.check_lines("after the command run again");
    for (const std::string& name : files_with(unpacked_tree(store_), command_.doomed)) {
      evidence_.report("what was to be destroyed still stands in " + name);
    }
    for (const std::vector<std::string>& way : command_.way_back) {
      must(way);
    }
    evidence_.check_home("when all has come back");
  }

 private:
  void must(const std::vector<std::string>& arguments, const std::string& input = {}) {
    const ChildResult result = store_.run(arguments, input);
    if (!result.succeeded()) {
      evidence_.report("'" + joined(arguments) +
                       "' does not work after the fault: " + what_it_said(result));
    }
  }

  /// Names of the files that held a doomed word before the command ran. Segments of the index come
  /// and go with whoever asks.
  std::vector<std::string> doomed_before() const {
    std::vector<std::string> names;
    for (const std::string& name : files_with(store_.prepared_tree(), command_.doomed)) {
      if (name.starts_with("memory/") && !name.starts_with("memory/index/")) {
        names.push_back(name.substr(name.find('/') + 1));
      }
    }
    return names;
  }

  void finish_purge() {
    must({"purge"});
    std::vector<std::string> left = files_with(unpacked_tree(store_), command_.doomed);
    const std::vector<std::string> before = doomed_before();
    for (const std::string& name : left) {
      if (name.contains(".tmp")) {
        evidence_.report("purge leaves a copy that nobody can see in " + name);
      }
    }
    // On a full disk a purge begins without the note that the next one would go by, and says so.
    const bool has_no_note = evidence_.process().err.contains("E_STORAGE_FULL");
    const bool is_whole = left.empty() || std::ranges::includes(left, before) ||
                          command_.writes_in_parts || has_no_note;
    if (!is_whole) {
      evidence_.report("a purge that was begun is not finished by the next: still in " +
                       joined(left));
    }
  }

  void run_again() {
    if (command_.arguments.front() == "add") {  // Another one: it clears the way in the same way.
      return must({"add", command_.next_type, "--session", command_.next_session, "-"},
                  one_entry(command_.next_type, "a-settling-entry"));
    }
    const ChildResult again = store_.run(command_.arguments, command_.input);
    const bool is_done = !command_.done_code.empty() &&
                         (again.exit_code == 1 || again.exit_code == 3) &&
                         again.err.contains(command_.done_code);
    if (!again.succeeded() && !is_done) {
      evidence_.report("the command run again does not work: " + what_it_said(again));
    }
  }

  CrashEvidence& evidence_;
  const CrashStore& store_;
  const CrashCommand& command_;
};

}  // namespace

void settle(CrashEvidence& evidence) { Settling(evidence).run(); }

}  // namespace bmad_mem
