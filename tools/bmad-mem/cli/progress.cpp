#include "cli/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace bmad_mem::cli {
namespace {

/// What is done sooner shows no bar; a bar is drawn anew this often.
constexpr std::chrono::milliseconds kDelay{300};
constexpr std::chrono::milliseconds kPeriod{100};
constexpr std::size_t kBarWidth = 30;

void write_to_stderr(std::string_view text) {
  Output err(STDERR_FILENO);
  err.write(text);
  static_cast<void>(err.flush());
}

}  // namespace

std::string bar_text(double share, std::size_t width) {
  const auto filled = static_cast<std::size_t>(
      std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width)));
  std::string out(filled, '#');
  out.append(width - filled, '.');
  return out;
}

Progress::Progress(const Tool& tool, std::string_view what)
    : what_(what),
      wanted_(!tool.quiet() && !tool.json() && ::isatty(STDERR_FILENO) == 1),
      next_(Clock::now() + kDelay) {}

Progress::~Progress() {
  if (drawn_) {
    write_to_stderr("\r\033[K");
  }
}

void Progress::show(std::uint64_t done, std::uint64_t total) {
  if (!wanted_ || Clock::now() < next_) {
    return;
  }
  next_ = Clock::now() + kPeriod;
  drawn_ = true;
  const double share = total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total);
  write_to_stderr(fmt::format("\r{}  [{}]  {:2.0f} %  {} of {}\033[K", what_,
                              bar_text(share, kBarWidth), std::min(share, 1.0) * 100,
                              format_size(done), format_size(total)));
}

}  // namespace bmad_mem::cli
