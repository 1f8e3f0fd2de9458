// child_process.hpp - runs a program with files for its standard streams, never with pipes.
//
// A pipe can fill up while the parent waits for the child; a memory file cannot. The harness starts
// thousands of processes, so nothing here may depend on who reads first.
//
// Threads: every function may be called from several threads at once.
// Errors: this is test code. What only a broken machine can cause throws std::runtime_error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

/// What to run: `argv[0]` is a path, not searched for. `input` becomes standard input.
struct ChildCommand {
  std::vector<std::string> argv;
  std::string input;
};

/// How it ended. Exactly one of `exit_code` (0..255) and `signal` (> 0) tells.
struct ChildResult {
  int exit_code = -1;  ///< -1 when a signal ended the process.
  int signal = 0;      ///< 0 when the process ended by itself.
  std::string out;
  std::string err;

  bool succeeded() const { return signal == 0 && exit_code == 0; }
};

/// Everything execve needs, allocated before the fork: between fork and exec a child of a program
/// with threads must not allocate.
class ChildImage {
 public:
  explicit ChildImage(const ChildCommand& command);
  ~ChildImage();
  ChildImage(const ChildImage&) = delete;
  ChildImage& operator=(const ChildImage&) = delete;

  /// In the child: puts the streams in place and executes. Returns 127 when that is impossible.
  int execute() const;

  /// In the parent: starts the program, without a tracer, and returns its process id.
  int spawn() const;

  /// In the parent, after the child ended: what `wait_status` and the streams say.
  ChildResult result(int wait_status) const;

 private:
  std::vector<std::string> argv_;
  std::vector<char*> argv_pointers_;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
};

/// Runs `command` to its end.
ChildResult run_child(const ChildCommand& command);

/// What the user has outside of projects: bmad-mem/keys in its folder "config" is the key of
/// recorded entries, encoder.bmw the encoder once a row has put it there. It goes with this
/// process.
std::string own_folder();

/// The environment of every child: ours without the variables of bmad-mem, and with leak detection
/// off, because LeakSanitizer refuses to work in a traced process.
const std::vector<char*>& child_environment();

/// Throws std::runtime_error with `what` and the text of errno.
[[noreturn]] void throw_errno(std::string_view what);

}  // namespace bmad_mem
