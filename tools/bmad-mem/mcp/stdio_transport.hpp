// stdio_transport.hpp - an MCP server on stdin and stdout: one message a line.
//
//   stdin ──reader──> McpServer::accept ──tasks──> workers
//                            │                        │
//                            └────── one mutex ───────┴──> stdout
//
// Ends at the end of input, when everything that was asked is answered; at SIGINT and SIGTERM, when
// what runs has ended or a moment has passed; and when nobody reads stdout any more. Nothing but
// messages goes to stdout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "bmad_mem/text.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

/// Cuts a stream of bytes into lines of any length up to a bound. Pure: who has bytes hands them
/// in.
class LineReader {
 public:
  explicit LineReader(std::size_t size_max) : size_max_(size_max) {}

  /// Takes `bytes` and calls `on_line(line)` for each line that they complete, without "\n" and
  /// "\r\n"; for each that is too long `on_too_long()`, as soon as that is clear. Empty lines are
  /// passed over. The views are valid during the call.
  template <typename OnLine, typename OnTooLong>
  void take(std::string_view bytes, const OnLine& on_line, const OnTooLong& on_too_long) {
    while (!bytes.empty()) {
      const std::size_t size = std::min(bytes.find('\n'), bytes.size());
      if (!is_skipping_ && pending_.size() + size > size_max_) {
        is_skipping_ = true;
        pending_ = std::string();
        on_too_long();
      }
      if (!is_skipping_) {
        pending_ += bytes.substr(0, size);
      }
      if (size < bytes.size()) {
        finish(on_line);
      }
      bytes.remove_prefix(std::min(size + 1, bytes.size()));
    }
  }

  /// What stands behind the last newline: the last line, when the stream ends without one.
  template <typename OnLine>
  void finish(const OnLine& on_line) {
    is_skipping_ = false;
    if (!is_blank(pending_)) {
      on_line(without_line_end(pending_));
    }
    if (pending_.capacity() > kRetainedMax) {  // Keeps the memory of a line of usual size only.
      pending_ = std::string();
    }
    pending_.clear();
  }

 private:
  static constexpr std::size_t kRetainedMax = std::size_t{1} << 20U;

  std::size_t size_max_;
  std::string pending_;
  bool is_skipping_ = false;
};

/// Longest line that is accepted, in bytes. A longer one is answered with an error and passed over.
inline constexpr std::size_t kMcpLineSizeMax = std::size_t{64} << 20U;

/// Serves until the end. Must be called before other threads are started, since it takes SIGINT and
/// SIGTERM for itself. Errors: E_STORAGE_IO when the system gives no descriptors.
Status serve_mcp_on_stdio(McpService& service);

}  // namespace bmad_mem::cli
