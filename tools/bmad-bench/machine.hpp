// machine.hpp - where the numbers come from: without it a number says nothing. And its clocks.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::bench {

// What goes wrong ends a group of rows, or the program: an Error is thrown, and caught in main.cpp.

/// What a call of the library returns; throws its error.
template <typename T>
T must(Result<T> result) {
  if (!result) {
    throw std::move(result).error();
  }
  if constexpr (!std::is_void_v<T>) {
    return std::move(*result);
  }
}
inline void ensure(bool holds, const std::string& otherwise, const std::string& path = "") {
  if (!holds) {
    throw Error{.message = otherwise, .path = path};
  }
}
/// E_STORAGE_IO with the present errno: "cannot <action> <path>: reason".
Error system_error(const std::string& action, const std::string& path);

/// Seconds; the same clock for all processes of the machine.
double wall_seconds();
/// What this process used so far in user and kernel mode, all threads, in seconds.
double cpu_seconds();

/// What a call takes by the clock.
template <typename Call>
double milliseconds(const Call& call) {
  const double begin = wall_seconds();
  call();
  return (wall_seconds() - begin) * 1e3;
}

/// An open file, closed when it goes; empty below zero.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  /// Throws when it cannot be opened.
  Descriptor(const std::string& path, int flags);
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  void close();
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

struct Environment {
  /// ("cpu", "Intel Xeon ..."), in the order in which they are shown.
  std::vector<std::pair<std::string, std::string>> facts;
  /// Reasons not to quote the numbers: asserts are on, the folder is in memory, the machine is
  /// busy.
  std::vector<std::string> warnings;
};

/// Of this machine and this build; `folder` must exist: its file system is what is measured.
Environment environment_of(const std::string& folder);

std::string environment_text(const Environment& environment);
void write_environment(JsonWriter& json, const Environment& environment);

/// A temporary folder that goes away with all that is in it. A forked child must leave by _exit.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& directory);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace bmad_mem::bench
