// output.cpp - writes stdout and stderr: buffers, columns, progress, questions.
#include "cli/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/memory_manager.hpp"
#include "cli/agents.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

bool Output::flush() {
  if (filter_ != nullptr && !buffer_.empty()) {
    buffer_ = filter_(buffer_);
  }
  std::string_view rest = buffer_;
  if (sink_ && !rest.empty() && error_ == 0) {
    error_ = sink_(std::exchange(rest, {})) ? 0 : EPIPE;
  }
  while (!rest.empty() && error_ == 0) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      // Somebody made our terminal or pipe non-blocking: wait until it takes more.
      pollfd poll_for{.fd = descriptor_, .events = POLLOUT, .revents = 0};
      static_cast<void>(::poll(&poll_for, 1, -1));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
  if (buffer_.capacity() > kRetainedMax) {  // A piece of unusual size: its room is given back.
    buffer_ = std::string();
  }
  return error_ == 0;
}

std::vector<std::string> table_lines(const std::vector<TableRow>& rows, std::string_view alignment,
                                     std::size_t width) {
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], text_width(row[i]));
    }
  }
  std::size_t before = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    before += widths[i] + 2;
  }
  const std::size_t room = width > before + 20 ? width - before : std::string::npos;
  std::vector<std::string> lines;
  for (const TableRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i > 0 && i + 1 == widths.size();
      const std::string cell = is_last ? shortened(row[i], room) : row[i];
      line += i == 0 ? "" : "  ";
      line += i < alignment.size() && alignment[i] == 'l' ? padded(cell, widths[i])
                                                          : padded_left(cell, widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

namespace {

/// What is done sooner shows no bar; a bar is drawn anew this often.
constexpr std::chrono::milliseconds kDelay{300};
constexpr std::chrono::milliseconds kPeriod{100};
constexpr std::size_t kBarWidth = 30;

}  // namespace

void write_to_stderr(std::string_view text) {
  Output err(STDERR_FILENO);
  err.write(text);
  static_cast<void>(err.flush());
}

std::string bar_text(double share, std::size_t width) {
  const auto filled = static_cast<std::size_t>(
      std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width)));
  std::string out(filled, '#');
  out.append(width - filled, '.');
  return out;
}

Progress::Progress(const Tool& tool, std::string_view what, std::string_view unit)
    : what_(what),
      unit_(unit),
      wanted_(!tool.quiet() && !tool.json() && ::isatty(STDERR_FILENO) == 1),
      next_(Clock::now() +
            (environment("BMAD_MEM_PROGRESS").empty() ? kDelay : std::chrono::milliseconds(0))) {}

Progress::~Progress() { hide(); }

void Progress::hide() {
  if (std::exchange(drawn_, false)) {
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
  const std::string how_far =
      unit_.empty() ? fmt::format("{} of {}", format_size(done), format_size(total))
                    : fmt::format("{} of {} {}", format_count(done), format_count(total), unit_);
  write_to_stderr(fmt::format("\r{}  [{}]  {:2.0f} %  {}\033[K", what_, bar_text(share, kBarWidth),
                              std::min(share, 1.0) * 100, how_far));
}

bool is_asked(const Tool& tool) {
  return !tool.json() && !tool.args().has("yes") && ::isatty(STDIN_FILENO) == 1 &&
         ::isatty(STDERR_FILENO) == 1;
}

std::string asked(Tool& tool, std::string_view question) {
  static_cast<void>(tool.out().flush());  // What is asked about stands above the question.
  return answer_to_question(fmt::format("{} ", question));
}

std::string answer_to_question(std::string_view question) {
  write_to_stderr(question);
  std::array<char, 1024> answer{};
  const ssize_t size = ::read(STDIN_FILENO, answer.data(), answer.size());
  const std::string_view text(answer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return std::string(text.substr(0, text.find('\n')));
}

namespace {

bool asks(Tool& tool, std::string_view question) {
  const std::string word = asked(tool, fmt::format("{} [y/N]", question));
  if (word == "y" || word == "Y" || word == "yes") {
    return true;
  }
  tool.note("nothing was changed");
  return false;
}

}  // namespace

bool is_confirmed(Tool& tool, std::string_view question) {
  return !is_asked(tool) || asks(tool, question);
}

void note_lost_origins(Tool& tool, const MemoryManager& memory) {
  if (memory.has_lost_origins()) {
    describe(tool, "lost_origins", "folder", memory.trust_report().folder);
  }
}

Status check_is_person(Tool& tool, std::string_view question) {
  const std::string sign = tool.agent_sign();
  const bool has_terminal =
      ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 && !is_terminal_of_agent();
  if (sign.empty() || (has_terminal && asks(tool, question))) {
    return {};
  }
  return Error{.code = ErrorCode::E_ACCESS_DENIED,
               .message = fmt::format("{} says that an agent runs this, and only the user decides "
                                      "it: run it in a terminal of your own",
                                      sign)};
}

}  // namespace bmad_mem::cli
