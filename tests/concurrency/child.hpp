// child.hpp - processes of a test's own, and pipes to take turns with them without sleeping.
//
//   Signal ready;
//   Child child([&] { Lock lock; ready.raise(); wait_to_be_killed(); return 0; });
//   ready.wait();     // The child holds the lock now.
//   child.kill();     // SIGKILL, and gone on return.
//
// A child is a fork: it sees the test's variables as they were, and must not use doctest, whose
// results stay in the child. What it finds out it returns as its exit status, 0 to 100.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace bmad_mem::test {

/// Runs a function in a process of its own. Destroying it kills what still runs.
class Child {
 public:
  explicit Child(const std::function<int()>& body);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&& other) noexcept;
  ~Child();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Ends it with SIGKILL and waits until it is gone.
  void kill();
  /// Waits for its end: the exit status, or minus the number of the signal that ended it.
  int wait();

 private:
  pid_t pid_ = -1;
};

/// A pipe of bytes between processes that were forked after it was made.
class Signal {
 public:
  Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal();

  /// Lets one wait() go on.
  void raise() const;
  /// Waits for a raise(). Throws std::runtime_error after a minute: somebody must have died.
  void wait() const;

 private:
  int read_end_ = -1;
  int write_end_ = -1;
};

/// In a child: stays until it is killed.
[[noreturn]] void wait_to_be_killed();

/// Pages that are shared with children.
struct SharedMemory {
  static void* map(std::size_t size);
  static void unmap(void* at, std::size_t size);
};

/// A T that this process and all children forked after it was made see. Made with T().
template <typename T>
class Shared {
 public:
  static_assert(std::is_trivially_destructible_v<T>);
  Shared() : value_(new(SharedMemory::map(sizeof(T))) T()) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { SharedMemory::unmap(value_, sizeof(T)); }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  T* value_;
};

/// The seed of a test with chance in it: BMAD_TEST_SEED, or a new one. Printed, so that a failure
/// can be had again.
unsigned test_seed(const std::string& test_name);

}  // namespace bmad_mem::test
