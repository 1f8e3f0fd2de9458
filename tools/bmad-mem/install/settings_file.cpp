// settings_file.cpp - reads and replaces a settings file that belongs to another program.
#include "install/settings_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "cli/entry_options.hpp"
#include "cli/program.hpp"
#include "cli/tool.hpp"
#include "cli/view_text.hpp"
#include "exchange/files.hpp"

namespace bmad_mem::cli {

namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The nearest folder above `path` that is there, behind symbolic links.
std::string nearest_folder(std::string path) {
  do {
    path = folder_of(path);
  } while (path != "/" && real_path_of(path).empty());
  return real_path_of(path);
}

bool is_inside(const std::string& path, const std::string& folder) {
  return path == folder || folder == "/" || path.starts_with(folder + '/');
}

Result<std::string> find_target(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return path;
    }
    return file_error("look at the file", path, errno);
  }
  std::string target = real_path_of(path);
  if (target.empty()) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = "it is a symbolic link that leads nowhere; remove it first",
                 .path = path};
  }
  if (::stat(target.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return Error{.code = ErrorCode::E_STORAGE_IO, .message = "it is no regular file", .path = path};
  }
  return target;
}

/// Gives a new file the mode and owner of the one at `path` that it replaces.
Status take_over(int file, const std::string& path, bool is_program) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    found.st_mode = (is_program ? 0777U : 0666U) & ~mask;
  } else if (found.st_uid != ::geteuid() && ::fchown(file, found.st_uid, found.st_gid) != 0) {
    // Another owner than ours only root can set, and only for root it is another one.
    return file_error("keep the owner of", path, errno);
  }
  return ::fchmod(file, found.st_mode & 07777U) == 0 ? Status()
                                                     : Status(file_error("write", path, errno));
}

Result<std::optional<std::string>> read_target(const std::string& target) {
  struct stat found{};
  if (::stat(target.c_str(), &found) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return std::optional<std::string>();
  }
  BMAD_TRY_ASSIGN(std::string text, read_whole_file(target));
  return std::optional(std::move(text));
}

}  // namespace

Result<FileReplacement> begin_target(const std::string& target, std::string_view text,
                                     bool is_program) {
  std::error_code problem;
  std::filesystem::create_directories(folder_of(target), problem);
  if (problem) {
    return file_error("make the folder", folder_of(target), problem.value());
  }
  BMAD_TRY_ASSIGN(FileReplacement fresh, FileReplacement::begin(target));
  BMAD_TRY(take_over(fresh.descriptor(), target, is_program));
  BMAD_TRY(fresh.write(text));
  return fresh;
}

Result<SettingsText> read_settings(const std::string& path, const std::string& inside) {
  BMAD_TRY_ASSIGN(std::string target, find_target(path));
  if (!inside.empty() && (!is_inside(nearest_folder(target), real_path_of(inside)))) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message = fmt::format("a symbolic link leads out of the project, to {}; nothing "
                                        "is written there",
                                        nearest_folder(target)),
                 .path = path};
  }
  const std::string above = nearest_folder(target);
  struct stat found{};
  if (::stat(above.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
    return Error{
        .code = ErrorCode::E_STORAGE_IO,
        .message = fmt::format("{} is a file, and there must be a folder of this name", above),
        .path = path};
  }
  SettingsText read{.path = path, .target = std::move(target), .text = {}};
  BMAD_TRY_ASSIGN(read.text, read_target(read.target));
  return read;
}

Result<PreparedSettings> PreparedSettings::prepare(const SettingsText& read,
                                                   const std::optional<std::string>& text,
                                                   bool is_program) {
  BMAD_TRY_ASSIGN(const std::optional<std::string> now, read_target(read.target));
  if (now != read.text) {
    return Error{.code = ErrorCode::E_CONCURRENT_MOD,
                 .message = "another process changed the file; try again",
                 .path = read.path};
  }
  if (!text) {
    return PreparedSettings(read, std::nullopt);
  }
  BMAD_TRY_ASSIGN(FileReplacement fresh, begin_target(read.target, *text, is_program));
  return PreparedSettings(read, std::move(fresh));
}

Status PreparedSettings::commit() {
  if (fresh_) {
    return fresh_->commit(/*over=*/true);
  }
  if (read_.text && ::unlink(read_.target.c_str()) != 0) {
    return file_error("remove", read_.path, errno);
  }
  static_cast<void>(sync_folder_of(read_.target));
  return {};
}

void remove_empty_folders(const std::string& path, const std::string& stays) {
  std::string folder = folder_of(path);
  while (folder != stays && is_inside(folder, stays) && ::rmdir(folder.c_str()) == 0) {
    static_cast<void>(sync_folder_of(folder));
    folder = folder_of(folder);
  }
}

namespace {

constexpr std::string_view kModules = "/node_modules/";

/// Whether a file at `path` may be gone tomorrow. npm's global packages stay: PREFIX/lib.
bool is_passing(const std::string& path) {
  for (const std::string& folder :
       {std::string(environment("npm_config_cache")), std::string(environment("HOME")) + "/.npm",
        std::string(environment("TMPDIR")), std::string("/tmp"), std::string("/var/tmp"),
        std::string("/dev/shm")}) {
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

OwnProgram own_program(bool for_user, const std::string& project) {
  const std::string_view home = environment("HOME");
  OwnProgram own{.command = {.program = std::string(kServerName)}, .path = own_program_path()};
  const std::string modules = real_path_of(project) + std::string(kModules);
  if (own.path.empty() || (!for_user && own.path.starts_with(modules))) {
    own.command.is_dependency = !own.path.empty();
    return own;
  }
  std::string stays = own.path;
  if (home.starts_with('/') && is_passing(own.path) &&
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
  own.warning = view_line("not_in_path",
                          json_object("found", found, "folder", stays.substr(0, stays.rfind('/'))));
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
