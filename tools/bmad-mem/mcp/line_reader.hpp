// line_reader.hpp - lines from a descriptor, of any length up to a bound.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// Cuts a stream of bytes into lines. Pure: who has bytes hands them in.
class LineReader {
 public:
  explicit LineReader(std::size_t size_max) : size_max_(size_max) {}

  /// Takes `bytes` and calls `on_line(line)` for each line that they complete, without "\n" and
  /// "\r\n"; for each that is too long `on_too_long()`, as soon as that is clear. Empty lines are
  /// passed over. The views are valid during the call.
  template <typename OnLine, typename OnTooLong>
  void take(std::string_view bytes, const OnLine& on_line, const OnTooLong& on_too_long) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const bool is_whole = end != std::string_view::npos;
      const std::string_view part = bytes.substr(0, end);
      bytes.remove_prefix(is_whole ? end + 1 : bytes.size());
      if (!is_skipping_ && pending_.size() + part.size() > size_max_) {
        is_skipping_ = true;
        pending_ = std::string();
        on_too_long();
      }
      if (!is_skipping_) {
        if (is_whole && pending_.empty()) {
          give(part, on_line);
          continue;
        }
        pending_ += part;
      }
      if (is_whole) {
        if (!is_skipping_) {
          give(pending_, on_line);
        }
        clear();
      }
    }
  }

  /// What stands behind the last newline: the last line, when the stream ends without one.
  template <typename OnLine>
  void finish(const OnLine& on_line) {
    give(pending_, on_line);
    clear();
  }

 private:
  /// Keeps a line's memory only while it is of a usual size.
  static constexpr std::size_t kKeptMax = std::size_t{1} << 20U;

  template <typename OnLine>
  static void give(std::string_view line, const OnLine& on_line) {
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (line.find_first_not_of(" \t") != std::string_view::npos) {
      on_line(line);
    }
  }

  void clear() {
    if (pending_.capacity() > kKeptMax) {
      pending_ = std::string();
    }
    pending_.clear();
    is_skipping_ = false;
  }

  std::size_t size_max_;
  std::string pending_;
  bool is_skipping_ = false;
};

}  // namespace bmad_mem::cli
