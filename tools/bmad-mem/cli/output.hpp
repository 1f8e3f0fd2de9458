// output.hpp - what the tool prints, gathered and written in large pieces.
//
// No iostream and no FILE: starting them up costs more than a whole `add` needs.
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace bmad_mem::cli {

/// A stream to a file descriptor. What is left over is written by flush(), not by the destructor.
class Output {
 public:
  using Filter = std::string (*)(std::string_view);

  /// What is printed goes through `filter`, if there is one, a message at a time.
  explicit Output(int descriptor, Filter filter = nullptr)
      : descriptor_(descriptor), filter_(filter) {}

  void write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBufferSize) {
      static_cast<void>(flush());
    }
  }

  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    write({});
  }

  /// Writes what was gathered. False when this or an earlier write failed; error() says why.
  [[nodiscard]] bool flush();

  /// The errno of the first write that failed; 0 when none did. EPIPE: the reader has gone.
  [[nodiscard]] int error() const { return error_; }

 private:
  static constexpr std::size_t kBufferSize = std::size_t{64} * 1024;

  int descriptor_;
  Filter filter_;
  int error_ = 0;
  std::string buffer_;
};

}  // namespace bmad_mem::cli
