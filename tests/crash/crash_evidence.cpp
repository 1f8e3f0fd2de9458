#include "crash_evidence.hpp"

#include <algorithm>
#include <csignal>

#include "json_lines.hpp"
#include "store/gzip.hpp"

namespace bmad_mem {
namespace fs = std::filesystem;
namespace {

/// What a crash left of a file or of a session's folder: nobody reads it.
bool is_unfinished(const std::string& name) {
  return name.ends_with(".tmp") || name.contains(".tmp/");
}

}  // namespace

std::string unpacked(const std::string& content) {
  constexpr std::uint64_t kSizeMax = 1U << 26U;
  Result<WholeMembers> whole = gunzip_whole(content, kSizeMax);
  return whole ? std::move(whole->bytes) : content;
}

Tree unpacked_tree(const CrashStore& store) {
  Tree tree = store.tree();
  for (auto& [name, content] : tree) {
    if (name.contains(".gz")) {
      content = unpacked(content);
    }
  }
  return tree;
}

bool holds_any(std::string_view text, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](const std::string& word) { return text.contains(word); });
}

std::vector<std::string> files_with(const Tree& tree, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const auto& [name, content] : tree) {
    if (holds_any(content, words)) {
      names.push_back(name);
    }
  }
  return names;
}

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
  switch (command_.fate) {
    case EntryFate::kStay:
      return check_order(when);
    case EntryFate::kMove:
      return check_found(when);
    case EntryFate::kAge:
      return check_ids(when);
  }
}

void CrashEvidence::check_found(const std::string& when) {
  const Tree tree = unpacked_tree(store_);
  for (const auto& [log, lines] : store_.acknowledged()) {
    for (const std::string& line : lines) {
      const bool is_found = std::ranges::any_of(tree, [&line](const auto& file) {
        return !is_unfinished(file.first) && file.second.contains(line);
      });
      if (!is_found && !holds_any(line, command_.doomed)) {
        report(when + ": an acknowledged line of " + log + " is nowhere: " + first_words(line));
      }
    }
  }
}

void CrashEvidence::check_ids(const std::string& when) {
  LogLines logs = store_.logs();
  for (const auto& [log, lines] : store_.acknowledged()) {
    for (const std::string& line : lines) {
      const std::optional<std::string> id = json_string_field(line, "id");
      const auto is_version = [&id](const std::string& each) {
        return json_string_field(each, "id") == id;
      };
      if (std::ranges::count_if(logs[log], is_version) !=
          std::ranges::count_if(lines, is_version)) {
        report(when + ": the entry is not in " + log + " as often as before: " + *id);
      }
    }
  }
}

void CrashEvidence::check_home(const std::string& when) {
  if (command_.fate == EntryFate::kAge) {
    return check_ids(when);
  }
  LogLines logs = store_.logs();
  for (const auto& [log, lines] : store_.acknowledged()) {
    for (const std::string& line : lines) {
      const std::ptrdiff_t wanted = holds_any(line, command_.doomed) ? 0 : 1;
      const std::ptrdiff_t count = std::ranges::count(logs[log], line);
      if (count != wanted) {
        report(when + ": an acknowledged line is " + std::to_string(count) + " times in " + log +
               ": " + first_words(line));
      }
    }
  }
}

void CrashEvidence::check_order(const std::string& when) {
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

void CrashEvidence::check_retained(const std::string& when) {
  for (const std::string& bytes : command_.kept) {
    const Tree tree = store_.tree();
    if (std::ranges::none_of(tree,
                             [&bytes](const auto& file) { return file.second.contains(bytes); })) {
      report(when + ": the unreadable bytes '" + bytes + "' are in no file any more");
    }
  }
}

}  // namespace bmad_mem
