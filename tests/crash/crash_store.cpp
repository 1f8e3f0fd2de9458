#include "crash_store.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "json_lines.hpp"

namespace bmad_mem {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 8> kLogNames = {
    "conversation.jsonl", "decisions.jsonl", "findings.jsonl",     "preferences.jsonl",
    "facts.jsonl",        "events.jsonl",    "agent-states.jsonl", "artifacts.jsonl"};

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

bool is_log_name(std::string_view name) {
  return std::ranges::find(kLogNames, name) != kLogNames.end();
}

std::string binary_under_test() {
  const char* from_environment = std::getenv("BMAD_MEM_BINARY");
#ifdef BMAD_MEM_BINARY
  const std::string binary = from_environment != nullptr ? from_environment : BMAD_MEM_BINARY;
#else
  const std::string binary = from_environment != nullptr ? from_environment : "";
#endif
  if (!fs::exists(binary)) {
    throw std::runtime_error("no bmad-mem program at '" + binary + "': set BMAD_MEM_BINARY");
  }
  return fs::canonical(binary).string();
}

namespace {

void replace_by(const fs::path& folder, const fs::path& from) {
  fs::remove_all(folder);
  if (fs::exists(from)) {
    fs::copy(from, folder, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
}

}  // namespace

CrashStore::CrashStore(std::string binary)
    : template_(temporary_.path() / "template"),
      cached_state_(temporary_.path() / "state"),
      state_(fs::path(own_folder()) / "state"),
      work_(temporary_.path() / "work"),
      binary_(std::move(binary)) {
  fs::create_directory(work_);
}

void CrashStore::keep_as_template() {
  replace_by(template_, work_);
  replace_by(cached_state_, state_);
  prepared_tree_ = read_tree(template_);
  if (acknowledged_.empty()) {
    acknowledge();
  }
}

void CrashStore::acknowledge() {
  acknowledged_.clear();
  std::set<std::string> ids;
  for (auto& [log, lines] : logs()) {
    for (const std::string& line : lines) {
      // A line that a case damaged on purpose is no entry.
      if (const std::optional<std::string> id = json_string_field(line, "id")) {
        acknowledged_[log].push_back(line);
        ids.insert(*id);
      }
    }
  }
  ids_.assign(ids.begin(), ids.end());
}

void CrashStore::reset() {
  replace_by(work_, template_);
  replace_by(state_,
             cached_state_);  // What it knows of a later store would be of one that is rolled back.
}

std::string CrashStore::expand(std::string text) const {
  replace_all(text, "$S", session);
  replace_all(text, "$T", second_session);
  replace_all(text, "$D", work_.string());
  replace_all(text, "$ID", ids_.empty() ? std::string() : ids_.front());
  return text;
}

ChildCommand CrashStore::command(const std::vector<std::string>& arguments,
                                 std::string_view input) const {
  ChildCommand command{{binary_, "--root", root().string()}, expand(std::string(input))};
  for (const std::string& argument : arguments) {
    command.argv.push_back(expand(argument));
  }
  return command;
}

ChildResult CrashStore::run(const std::vector<std::string>& arguments,
                            std::string_view input) const {
  return run_child(command(arguments, input));
}

std::string CrashStore::must(const std::vector<std::string>& arguments,
                             std::string_view input) const {
  ChildResult result = run(arguments, input);
  if (!result.succeeded()) {
    std::string line;
    for (const std::string& argument : arguments) {
      line += " " + argument;
    }
    throw std::runtime_error("bmad-mem" + line +
                             " failed while a case was prepared: " + result.err + result.out);
  }
  return std::move(result.out);
}

LogLines CrashStore::logs() const {
  LogLines logs;
  if (!fs::exists(root() / "sessions")) {
    return logs;
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root() / "sessions")) {
    if (entry.is_regular_file() && is_log_name(entry.path().filename().string())) {
      logs[entry.path().lexically_relative(root()).string()] = whole_lines(read_file(entry.path()));
    }
  }
  return logs;
}

}  // namespace bmad_mem
