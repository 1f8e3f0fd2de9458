// hook_limits.hpp - work that may take only so long, whatever hangs in it.
//
//   the hook      ── fork ──>  a process of its own
//     waits for  <── pipe ──   says: answer, problem, "done"
//     the pipe, at most until the limit, and then ends
//
// A signal or a thread is not enough: a process that waits for a slow disk ends only when the disk
// has answered, and the client waits for its end. So the work is done by a child, which holds none
// of the client's pipes. A child that crashes costs the client nothing, either.
//
// A child in the background has 10 s of the processor and 30 s at most, and is the only one of its
// session: signals of its own timers end it, also in an endless loop.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "cli/program.hpp"

namespace bmad_mem::cli {

/// How the child talks to the hook that waits for it.
class HookWork {
 public:
  explicit HookWork(int pipe) : pipe_(pipe) {}

  /// What the client gets on stdout.
  void answer(std::string_view text) const;
  /// What went wrong, one line for stderr.
  void problem(std::string_view line) const;
  /// From now on wait at most so long, if that ends earlier; `why` is the problem if it doesn't do.
  void limit(std::chrono::milliseconds rest, std::string_view why) const;
  /// Tries for as long as `patience` to become the one background child of `session`, in the memory
  /// at `folder`: else may_go_on() and said_all() do nothing, and the child ends with the hook.
  void claim(const std::string& folder, std::string_view session,
             std::chrono::milliseconds patience = {}) const;
  [[nodiscard]] bool is_alone() const { return is_alone_; }
  /// Once it has answered, or the limit has passed, the child goes on by itself instead of being
  /// waited for or killed.
  void may_go_on() const;
  /// That was all that anybody waits for; the child goes on by itself.
  void said_all() const;
  /// That was all.
  void done() const;

 private:
  void send(char kind, std::string_view text) const;
  void go_on(char kind) const;

  Descriptor pipe_;
  mutable bool is_alone_ = true;
};

/// What is left of it.
struct HookResult {
  std::string answer;   ///< For stdout; may be empty.
  std::string problem;  ///< For stderr; empty when all went well.
};

/// Runs `work` and waits for it, at most `limit`. The caller must have one thread.
HookResult run_limited(std::chrono::milliseconds limit,
                       const std::function<void(const HookWork&)>& work);

}  // namespace bmad_mem::cli
