// program.hpp - other programs, and descriptors of this one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bmad_mem::cli {

// Running another program, without a shell.

/// What a program that was run has left.
struct ProgramRun {
  bool started = false;     ///< False: there is no such program, or it couldn't be run.
  int status = -1;          ///< Its exit status; -1 when a signal ended it.
  bool was_cut = false;     ///< It printed more than was asked for; the rest was thrown away.
  std::string output = {};  ///< What it printed on stdout. Its stderr is thrown away.
};

/// `words` as POSIX has them; they must outlive the result.
std::vector<char*> argument_pointers(const std::vector<std::string>& words);

/// Runs `words`, whose first is looked up in PATH, and waits for it. No word is interpreted by
/// anyone but the program. Its stdin is empty; at most `output_max` bytes of its output are kept.
/// It does not see the environment variables `hidden`.
ProgramRun run_program(const std::vector<std::string>& words, std::size_t output_max,
                       std::span<const std::string_view> hidden = {});

/// Starts `words` and does not wait: the program goes on when we end. It prints nothing. False when
/// it could not be started.
bool start_program(const std::vector<std::string>& words);

/// The first program `name` in the folders of PATH except those that npm puts in front for the
/// time of a command; `copy` counts as if it were there. Empty: none.
std::string find_in_path(std::string_view name, const std::string& copy = {});

/// The file of this very program; empty where the system doesn't say.
std::string own_program_path();

// A file descriptor that is closed when it goes.

class Descriptor {
 public:
  /// Takes `number` over; below 0 there is nothing to close.
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

/// Keeps SIGINT and SIGTERM from this thread and from those that it starts later: they can be read
/// from the descriptor instead. Not open when the system gives none: errno says why.
Descriptor take_ending_signals();

}  // namespace bmad_mem::cli
