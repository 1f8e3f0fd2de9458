// descriptor.hpp - a file descriptor that is closed when it goes.
#pragma once

#include <utility>

namespace bmad_mem::cli {

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
