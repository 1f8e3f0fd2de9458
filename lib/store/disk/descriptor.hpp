// descriptor.hpp - a file descriptor that is closed when it goes.
#pragma once

#include <unistd.h>

#include <utility>

namespace bmad_mem {

class Descriptor {
 public:
  /// Takes `value` over; below 0 there is nothing to close.
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { close(); }

  /// Does nothing when it is closed.
  void close() {
    if (value_ >= 0) {
      ::close(std::exchange(value_, -1));
    }
  }
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool is_open() const { return value_ >= 0; }

 private:
  int value_;
};

}  // namespace bmad_mem
