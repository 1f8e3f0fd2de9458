#include "install/own_program.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "cli/program.hpp"
#include "cli/tool.hpp"
#include "exchange/files.hpp"
#include "install/settings_file.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kModules = "/node_modules/";

/// Whether a file at `path` may be gone tomorrow. npm's global packages stay: PREFIX/lib.
bool is_passing(const std::string& path, const std::string& home) {
  for (const std::string& folder : {std::string(environment("npm_config_cache")), home + "/.npm",
                                    std::string(environment("TMPDIR")), std::string("/tmp"),
                                    std::string("/var/tmp"), std::string("/dev/shm")}) {
    const std::string real = folder.starts_with('/') ? real_path_of(folder) : "";
    if (real.size() > 1 && path.starts_with(real + '/')) {
      return true;
    }
  }
  const std::size_t modules = path.find(kModules);
  return path.contains("/_npx/") || (modules != std::string::npos &&
                                     !std::string_view(path).substr(0, modules).ends_with("/lib"));
}

/// Whether `found` starts the program `own`: it is the same file, or the launcher of its package.
bool starts(const std::string& found, const std::string& own) {
  const std::string real = real_path_of(found);
  const std::size_t modules = real.find(kModules);
  return found == own || (!real.empty() && real == real_path_of(own)) ||
         (modules != std::string::npos &&
          own.starts_with(std::string_view(real).substr(0, modules + kModules.size())));
}

}  // namespace

std::array<unsigned, 3> version_numbers(std::string_view text) {
  std::array<unsigned, 3> numbers{};
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  text = text.substr(0, text.find_first_not_of("0123456789."));
  auto next = numbers.begin();
  for (const std::string_view number : lines_of(text, '.')) {
    if (next != numbers.end()) {
      *next++ = number_in<unsigned>(number).value_or(0);
    }
  }
  return numbers;
}

OwnProgram own_program(bool for_user, const std::string& project, const std::string& home) {
  OwnProgram own{.command = {.program = std::string(kServerName)}, .path = own_program_path()};
  const std::string modules = real_path_of(project) + std::string(kModules);
  if (own.path.empty() || (!for_user && own.path.starts_with(modules))) {
    own.command.is_dependency = !own.path.empty();
    return own;
  }
  std::string stays = own.path;
  if (home.starts_with('/') && is_passing(own.path, home) &&
      !starts(find_in_path(kServerName), own.path)) {
    stays = own.copy = fmt::format("{}/.local/bin/{}", home, kServerName);
  }
  const std::string found = find_in_path(kServerName, own.copy);
  if (starts(found, stays)) {
    return own;
  }
  if (for_user) {
    own.command.program = stays;
    return own;
  }
  own.warning = fmt::format(
      "the settings of a project start `bmad-mem`, and {}; put {} in front in PATH, else they do "
      "nothing",
      found.empty() ? "PATH does not find it" : fmt::format("PATH finds another one, {}", found),
      stays.substr(0, stays.rfind('/')));
  return own;
}

Status place_program(const OwnProgram& program) {
  if (program.copy.empty()) {
    return {};
  }
  struct stat there{};
  if (::lstat(program.copy.c_str(), &there) == 0) {
    // Only a program is asked who it is: a script of this name may do anything.
    const Result<std::string> bytes = read_regular_file(program.copy);
    constexpr std::string_view kHead = "bmad-mem ";
    const bool is_program = S_ISREG(there.st_mode) && bytes && bytes->starts_with("\177ELF");
    const ProgramRun run = is_program ? run_program({program.copy, "--version"}, 64) : ProgramRun();
    if (!run.output.starts_with(kHead)) {
      return Error{
          .code = ErrorCode::E_CONCURRENT_MOD,
          .message = fmt::format(
              "this program lies in {}, which does not last, and a file that is not its "
              "copy is in the place for one; move that away, or put bmad-mem into a folder "
              "of PATH, and run this again",
              program.path.substr(0, program.path.rfind('/'))),
          .path = program.copy};
    }
    if (version_numbers(run.output) > version_numbers(tool_version())) {
      return {};
    }
  }
  BMAD_TRY_ASSIGN(const std::string bytes, read_regular_file(program.path));
  BMAD_TRY_ASSIGN(FileReplacement fresh, begin_target(program.copy, bytes, /*is_program=*/true));
  if (::fchmod(fresh.descriptor(), 0755) != 0) {
    return file_error("write", program.copy, errno);
  }
  return fresh.commit(/*over=*/true);
}

}  // namespace bmad_mem::cli
