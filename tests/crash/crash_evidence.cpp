#include "crash_evidence.hpp"

#include <algorithm>
#include <csignal>

#include "json_lines.hpp"

namespace bmad_mem {
namespace fs = std::filesystem;

std::string first_words(const std::string& text) {
  constexpr std::size_t kShown = 300;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

std::string what_it_said(const ChildResult& result) {
  const std::string how = result.signal != 0 ? "signal " + std::to_string(result.signal)
                                             : "status " + std::to_string(result.exit_code);
  return how + ", said: " + first_words(result.err + result.out);
}

bool CrashEvidence::was_killed() const { return process().signal == SIGKILL; }

bool CrashEvidence::has_root() const {
  return fs::exists(store_.root() / "config.json") || fs::exists(store_.root() / "sessions");
}

bool CrashEvidence::failed(CallKind kind) const {
  return std::ranges::any_of(outcome_.points, [kind](const TracePoint& point) {
    return point.kind == kind && point.injected != 0;
  });
}

bool CrashEvidence::failed_to_sync() const {
  return std::ranges::any_of(outcome_.points, [](const TracePoint& point) {
    return point.injected != 0 &&
           (point.kind == CallKind::kSync ||
            (point.kind == CallKind::kOpenRead && fs::is_directory(point.path)));
  });
}

std::vector<std::size_t> CrashEvidence::visible_marks() const {
  std::vector<std::size_t> counts(command_.marks.size(), 0);
  for (const auto& [log, lines] : store_.logs()) {
    for (const std::string& line : lines) {
      for (std::size_t index = 0; index < counts.size(); ++index) {
        if (line.contains(command_.marks[index]) && is_json_object(line)) {
          ++counts[index];
        }
      }
    }
  }
  return counts;
}

std::vector<std::string> CrashEvidence::printed_ids() const {
  return command_.arguments.front() == "add" ? whole_lines(process().out)
                                             : std::vector<std::string>();
}

void CrashEvidence::check_lines(const std::string& when) {
  LogLines logs = store_.logs();
  for (const auto& [log, lines] : store_.acknowledged()) {
    const std::vector<std::string>& present = logs[log];
    auto at = present.begin();
    for (const std::string& line : lines) {
      if (std::ranges::count(present, line) != 1) {
        report(when + ": an acknowledged line is " +
               std::to_string(std::ranges::count(present, line)) + " times in " + log + ": " +
               first_words(line));
        continue;
      }
      const auto found = std::find(at, present.end(), line);
      if (found == present.end()) {
        report(when + ": an acknowledged line changed its place in " + log);
      } else {
        at = found;
      }
    }
  }
}

void CrashEvidence::check_kept(const std::string& when) {
  for (const std::string& bytes : command_.kept) {
    const Tree tree = store_.tree();
    if (std::ranges::none_of(tree,
                             [&bytes](const auto& file) { return file.second.contains(bytes); })) {
      report(when + ": the unreadable bytes '" + bytes + "' are in no file any more");
    }
  }
}

}  // namespace bmad_mem
