#include "child_process.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace bmad_mem {
namespace {

int memory_file(const char* name, std::string_view content) {
  const int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) {
    throw_errno("memfd_create");
  }
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0) {
      throw_errno("write to a memory file");
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  lseek(fd, 0, SEEK_SET);
  return fd;
}

std::string whole_content(int fd) {
  std::string content;
  std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t count =
        pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(content.size()));
    if (count < 0) {
      throw_errno("read from a memory file");
    }
    if (count == 0) {
      return content;
    }
    content.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::vector<std::string> make_environment() {
  std::vector<std::string> variables;
  std::string asan = "ASAN_OPTIONS=detect_leaks=0";
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with("ASAN_OPTIONS=")) {
      asan = std::string(text) + ":detect_leaks=0";
    } else if (!text.starts_with("BMAD_") && !text.starts_with("XDG_DATA_HOME=") &&
               !text.starts_with("XDG_STATE_HOME=") && !text.starts_with("XDG_CONFIG_HOME=")) {
      variables.emplace_back(text);
    }
  }
  variables.push_back(asan);
  // The memory of the user who runs the tests is nobody's business, nor are the keys.
  std::atexit([] {
    std::error_code ignored;
    std::filesystem::remove_all(own_folder(), ignored);
  });
  variables.push_back("BMAD_MEM_ENCODER=" + own_folder() + "/encoder.bmw");
  variables.push_back("XDG_DATA_HOME=" + own_folder());
  variables.push_back("XDG_STATE_HOME=" + own_folder() + "/state");
  variables.push_back("XDG_CONFIG_HOME=" + own_folder() + "/config");
  return variables;
}

}  // namespace

std::string own_folder() { return "/dev/shm/bmad-crash-own-" + std::to_string(::getpid()); }

void throw_errno(std::string_view what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

const std::vector<char*>& child_environment() {
  static std::vector<std::string> variables = make_environment();
  static const std::vector<char*> kPointers = [] {
    std::vector<char*> list;
    list.reserve(variables.size() + 1);
    for (std::string& variable : variables) {
      list.push_back(variable.data());
    }
    list.push_back(nullptr);
    return list;
  }();
  return kPointers;
}

ChildImage::ChildImage(const ChildCommand& command)
    : argv_(command.argv),
      in_(memory_file("stdin", command.input)),
      out_(memory_file("stdout", {})),
      err_(memory_file("stderr", {})) {
  for (std::string& argument : argv_) {
    argv_pointers_.push_back(argument.data());
  }
  argv_pointers_.push_back(nullptr);
  child_environment();
}

ChildImage::~ChildImage() {
  close(in_);
  close(out_);
  close(err_);
}

int ChildImage::execute() const {
  if (dup2(in_, STDIN_FILENO) < 0 || dup2(out_, STDOUT_FILENO) < 0 ||
      dup2(err_, STDERR_FILENO) < 0) {
    return 127;
  }
  execve(argv_pointers_[0], argv_pointers_.data(), child_environment().data());
  return 127;
}

int ChildImage::spawn() const {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in_, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out_, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err_, STDERR_FILENO);
  pid_t pid = -1;
  errno = posix_spawn(&pid, argv_pointers_[0], &actions, nullptr, argv_pointers_.data(),
                      child_environment().data());
  posix_spawn_file_actions_destroy(&actions);
  if (errno != 0) {
    throw_errno("cannot start " + argv_[0]);
  }
  return pid;
}

ChildResult ChildImage::result(int wait_status) const {
  ChildResult result;
  if (WIFSIGNALED(wait_status)) {
    result.signal = WTERMSIG(wait_status);
  } else {
    result.exit_code = WEXITSTATUS(wait_status);
  }
  result.out = whole_content(out_);
  result.err = whole_content(err_);
  return result;
}

ChildResult run_child(const ChildCommand& command) {
  const ChildImage image(command);
  const pid_t pid = image.spawn();
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      throw_errno("waitpid");
    }
  }
  return image.result(status);
}

}  // namespace bmad_mem
