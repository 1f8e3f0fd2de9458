// tool.cpp - opens memories for a command, and reports its errors, notes and results.
#include "cli/tool.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "bmad_mem/json.hpp"
#include "bmad_mem/privacy.hpp"
#include "cli/agents.hpp"
#include "cli/view_text.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// What goes to stderr is often kept: by CI, by agents, by terminals.
std::string without_secrets(std::string_view message) { return SecretScanner().redact(message); }

/// Colours on stdout: as asked for, else on a terminal that can, unless NO_COLOR stands against it
/// (https://no-color.org).
bool wants_colours(std::string_view choice) {
  if (choice == "always" || choice == "never") {
    return choice == "always";
  }
  return ::isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR").empty() &&
         environment("TERM") != "dumb";
}

}  // namespace

std::string_view tool_version() { return BMAD_MEM_VERSION; }

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread.
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string folder_of_environment(std::span<const FolderPlace> places) {
  for (const auto& [variable, end] : places) {
    if (const std::string_view folder = environment(variable); folder.starts_with('/')) {
      return fmt::format("{}{}", folder, end);
    }
  }
  return {};
}

std::string user_memory_root() {
  return folder_of_environment(std::array<FolderPlace, 2>{
      {{"XDG_DATA_HOME", "/bmad-mem"}, {"HOME", "/.local/share/bmad-mem"}}});
}

std::string user_state_folder() {
  return folder_of_environment(std::array<FolderPlace, 2>{
      {{"XDG_STATE_HOME", "/bmad-mem"}, {"HOME", "/.local/state/bmad-mem"}}});
}

std::string trusting_folder() {
  std::string folder = user_state_folder();
  return folder.empty() ? std::string(kNoStateFolder) : folder;
}

EncryptionKeySource encryption_key_here() {
  EncryptionKeySource source{.key = std::string(environment("BMAD_MEM_KEY")),
                             .key_file = std::string(environment("BMAD_MEM_KEY_FILE")),
                             .passphrase = std::string(environment("BMAD_MEM_PASSPHRASE"))};
  if (source.is_empty()) {
    std::string keys = folder_of_environment(std::array<FolderPlace, 2>{
        {{"XDG_CONFIG_HOME", "/bmad-mem/keys"}, {"HOME", "/.config/bmad-mem/keys"}}});
    struct ::stat there{};
    source.key_file = !keys.empty() && ::stat(keys.c_str(), &there) == 0 ? keys : std::string();
  }
  return source;
}

bool has_memory(const std::string& root) {
  struct ::stat there{};
  return !root.empty() && ::stat((root + "/config.json").c_str(), &there) == 0;
}

std::string project_folder(std::string_view root) {
  constexpr std::string_view kUsual = "/.bmad/memory";
  return root.ends_with(kUsual) ? std::string(root.substr(0, root.size() - kUsual.size()))
                                : std::string();
}

std::string project_name(std::string_view root) {
  for (const std::string_view end : {"/memory", "/.bmad"}) {
    root.remove_suffix(root.ends_with(end) ? end.size() : 0);
  }
  return std::string(root.substr(root.rfind('/') + 1));
}

std::string working_directory() {
  std::array<char, PATH_MAX> buffer{};
  return ::getcwd(buffer.data(), buffer.size()) == nullptr ? std::string() : buffer.data();
}

std::vector<std::string> rule_warnings(const MemoryManager& memory) {
  const Result<SecretScanner> scanner = memory.scanner();
  return mapped(scanner ? scanner->problems() : std::vector<Error>(), &Error::to_string);
}

std::string error_as_json(const Error& error) { return json_object(shaped(shape::error, error)); }

Tool::Tool(const Command* command, Arguments arguments)
    : command_(command),
      arguments_(std::move(arguments)),
      json_(arguments_.has("json")),
      quiet_(arguments_.has("quiet")),
      style_(!json_ && wants_colours(arguments_.value("color"))),
      out_(STDOUT_FILENO),
      err_(STDERR_FILENO, without_secrets) {
  show_local_times(!json_ && ::isatty(STDOUT_FILENO) == 1);
}

std::size_t Tool::columns() const {
  winsize size{};
  const bool known = ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known ? size.ws_col : 0;
}

std::string_view Tool::agent_id() const {
  return arguments_.maybe("agent-id").value_or(environment("BMAD_AGENT_ID"));
}

std::string Tool::agent_sign() const {
  return arguments_.value("agent-id").empty() ? cli::agent_sign() : "--agent-id";
}

std::string Tool::global_problem() const {
  const std::string_view color = arguments_.maybe("color").value_or("auto");
  if (color != "auto" && color != "always" && color != "never") {
    return fmt::format("--color takes auto, always or never, not '{}'", color);
  }
  if (arguments_.has("root") && arguments_.value("root").empty()) {
    return "--root needs the name of a folder, but it is empty";
  }
  if (!scope().empty() && scope() != "project" && scope() != "user") {
    return fmt::format("--scope takes project or user, not '{}'", scope());
  }
  if (is_for_user() && arguments_.has("root")) {
    return "--root and --scope user name different memories; give one of them";
  }
  return {};
}

std::string_view Tool::scope() const {
  const bool is_own =
      command_ != nullptr && find_by(command_->options, "scope", &Option::name) != nullptr;
  return is_own ? std::string_view() : arguments_.value("scope");
}

Result<std::string> Tool::find_root(std::string_view root) const {
  if (root.empty() && is_for_user()) {
    std::string users = user_memory_root();
    if (users.empty()) {
      return Error{.code = ErrorCode::E_STORAGE_IO,
                   .message = "neither XDG_DATA_HOME nor HOME names a folder for your own memory"};
    }
    return users;
  }
  return MemoryManager::find_root(root.empty() ? arguments_.value("root") : root,
                                  environment("BMAD_MEMORY_ROOT"), working_directory(),
                                  trusting_folder());
}

Result<std::optional<MemoryAccess>> Tool::access() const {
  const std::string workflow(
      arguments_.maybe("workflow").value_or(environment("BMAD_MEM_WORKFLOW")));
  std::optional<MemoryAccess> access;
  if (!workflow.empty() || arguments_.has("workflow")) {
    BMAD_TRY_ASSIGN(access, read_workflow(workflow));
  }
  return access;
}

Result<MemoryManager> Tool::open(std::string_view root,
                                 std::optional<EncryptionKeySource> encryption_key,
                                 bool tolerate_bad_config) {
  OpenOptions options{.agent_id = std::string(agent_id()),
                      .tolerate_bad_config = tolerate_bad_config};
  BMAD_TRY_ASSIGN(options.root, find_root(root));
  if (root.empty() && is_for_user()) {
    BMAD_TRY(MemoryManager::init(options.root, trusting_folder()));  // When it is first used.
  }
  options.working_directory =
      root.empty() && !is_for_user() && !arguments_.has("root") ? working_directory() : "";
  options.user_root = is_for_user() ? options.root : user_root();
  options.state_folder = trusting_folder();
  // To look at the parents costs a tenth of a small answer.
  const bool only_reads = command_ != nullptr && command_->group == Group::kRead;
  options.writes_as = only_reads ? Origin::kAgent : writes_as();
  options.encryption_key = encryption_key ? *std::move(encryption_key) : encryption_key_here();
  options.on_problem = [this](const Error& problem) { leave_out(problem); };
  BMAD_TRY_ASSIGN(options.access, access());
  Result<MemoryManager> memory = MemoryManager::open(std::move(options));
  if (memory && command_ != nullptr) {
    BMAD_TRY(memory->check_allowed(command_->name, /*changes=*/false));
  }
  if (memory && !quiet_) {
    std::vector<std::string> warnings = memory->config_warnings();
    if (command_ == nullptr || !answers(*command_)) {  // Who only reads needs no rules.
      std::ranges::move(rule_warnings(*memory), std::back_inserter(warnings));
    }
    for (const std::string& warning : warnings) {
      if (json_) {
        err_.print("{{\"warning\":{}}}\n", json_quoted(warning));
      } else {
        err_.print("bmad-mem: warning: {}\n", printable(warning));
      }
    }
  }
  return memory;
}

std::string Tool::root_to_create() const {
  if (is_for_user()) {
    return user_memory_root();
  }
  return MemoryManager::root_to_create(arguments_.value("root"), environment("BMAD_MEMORY_ROOT"),
                                       working_directory());
}

ExitStatus Tool::report(const Error& error) {
  static_cast<void>(out_.flush());  // What was done stands above what failed.
  if (json_) {
    err_.print("{{\"error\":{}}}\n", error_as_json(error));
  } else {
    err_.print("bmad-mem: {}: {}\n", error_code_name(error.code), printable(error.to_string()));
  }
  static_cast<void>(err_.flush());
  return error.code == ErrorCode::E_ENTRY_NOT_FOUND ? ExitStatus::kNothingFound
                                                    : ExitStatus::kFailed;
}

void Tool::leave_out(const Error& problem) {
  const auto is_same = [&](const Error& known) {
    return known.path == problem.path && known.line == problem.line &&
           known.message == problem.message;
  };
  if (std::ranges::none_of(left_out_, is_same)) {
    left_out_.push_back(problem);
    report(problem);
  }
}

/// What the output and the exit status say of what was left out.
ExitStatus Tool::settle_incomplete(ExitStatus status) {
  if (left_out_.empty() || command_ == nullptr) {
    return status;
  }
  if (!answers(*command_)) {  // The entry may be in what was not read.
    return status == ExitStatus::kNothingFound ? ExitStatus::kFailed : status;
  }
  if (json_ && !keeps_format_) {
    out_.print("{}\n", json_object("incomplete", shaped(shape::error, left_out_)));
  }
  const bool is_answered = status == ExitStatus::kDone || status == ExitStatus::kNothingFound;
  return is_answered ? ExitStatus::kIncomplete : status;
}

ExitStatus Tool::report_in(const Error& error, std::string_view text) {
  static constexpr std::size_t kWidth = 76;
  report(error);
  if (!json_ && error.column != 0) {
    err_.write(pointed_out(text, error.line, error.column, kWidth));
  }
  return ExitStatus::kFailed;
}

ExitStatus Tool::note(std::string_view sentence) {
  if (!quiet_ && !json_) {
    static_cast<void>(out_.flush());
    err_.print("bmad-mem: {}\n", printable(sentence));
    static_cast<void>(err_.flush());
  }
  return ExitStatus::kDone;
}

void Tool::notes(std::span<const std::string> sentences) {
  std::ranges::for_each(sentences, [&](const std::string& each) { note(each); });
}

void Tool::report_all(std::span<const Error> errors) {
  std::ranges::for_each(errors, [&](const Error& each) { report(each); });
}

ExitStatus Tool::wrong_usage(std::string_view sentence) {
  if (json_) {
    err_.print("{}\n", json_object("error", object_of("code", "USAGE", "message", sentence)));
  } else {
    err_.print("bmad-mem: {}\n", printable(sentence));
    if (command_ != nullptr) {
      const bool is_help = command_->name == "help";
      err_.print("Try 'bmad-mem {} --{}'.\n", command_->name, is_help ? "all" : "help");
    }
  }
  return ExitStatus::kWrongUsage;
}

void print_view(Tool& tool, std::string_view view, std::string_view object) {
  const ViewText made = view_text(view, object, tool.style(), tool.columns());
  tool.out().write(made.text);
  tool.notes(made.notes);
}

ExitStatus print_lines(Tool& tool, std::string_view view, std::span<const RawJson> lines) {
  for (const RawJson& line : lines.first(tool.json() ? lines.size() : 0)) {
    tool.out().print("{}\n", line.text);
  }
  return describe(tool, view, "all", lines);
}

ExitStatus Tool::finish(ExitStatus status) {
  status = settle_incomplete(status);
  if (!out_.flush()) {
    // The reader closed its end, as `head` does: it has what it wanted, and nobody is left to tell.
    if (out_.error() == EPIPE) {
      status = ExitStatus::kNoReader;
    } else {
      err_.print("bmad-mem: {}: cannot write the output: {}\n",
                 error_code_name(ErrorCode::E_STORAGE_IO), std::strerror(out_.error()));
      status = ExitStatus::kFailed;
    }
  }
  static_cast<void>(err_.flush());
  return status;
}

}  // namespace bmad_mem::cli
