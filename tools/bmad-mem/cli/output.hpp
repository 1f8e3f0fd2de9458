// output.hpp - stdout and stderr: bytes, tables, progress, and questions to a person.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/result.hpp"
#include "cli/command.hpp"

namespace bmad_mem {
class MemoryManager;
}  // namespace bmad_mem

namespace bmad_mem::cli {

class Tool;

// What the tool prints, gathered and written in large pieces.
//
// No iostream and no FILE: starting them up costs more than a whole `add` needs.

/// A stream to a file descriptor. What is left over is written by flush(), not by the destructor.
class Output {
 public:
  using Filter = std::string (*)(std::string_view);
  /// Takes a piece; false when it takes no more.
  using Sink = std::function<bool(std::string_view)>;

  /// What is printed goes through `filter`, if there is one, a message at a time.
  explicit Output(int descriptor, Filter filter = nullptr)
      : descriptor_(descriptor), filter_(filter) {}
  /// What is printed goes to `sink`.
  explicit Output(Sink sink) : sink_(std::move(sink)) {}

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
  static constexpr std::size_t kRetainedMax = std::size_t{1} << 20U;

  int descriptor_ = -1;
  Filter filter_ = nullptr;
  Sink sink_;
  int error_ = 0;
  std::string buffer_;
};

// Rows of cells in columns.

using TableRow = std::vector<std::string>;

/// The rows as lines. `alignment` has an 'l' for each column that
/// is aligned to the left, the others stand to the right. Where `width` is not 0, the last cells
/// are cut so that lines fit; but not to a few letters, which would help nobody.
std::vector<std::string> table_lines(const std::vector<TableRow>& rows,
                                     std::string_view alignment = "l", std::size_t width = 0);

// A bar on stderr for work that takes long.

/// Draws only on a terminal, not with --quiet or --json, and not for work that is done at once. The
/// line is erased when the bar goes away, so it must go before anything else is printed.
///
///   verify  [#########...........]  45 %  312.0 MiB of 693.4 MiB
///   redact  [#########...........]  45 %  18 of 40 sessions
class Progress {
 public:
  /// `what` must outlive the bar, and so must `unit`, what is counted: bytes when empty.
  Progress(const Tool& tool, std::string_view what, std::string_view unit = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// `done` of `total`, which may be 0.
  void show(std::uint64_t done, std::uint64_t total);
  /// Makes room for what is printed meanwhile.
  void hide();

 private:
  using Clock = std::chrono::steady_clock;

  std::string_view what_;
  std::string_view unit_;
  bool wanted_;
  bool drawn_ = false;
  Clock::time_point next_;
};

/// What `work(show)` gives, which calls `show(done, total)` now and then.
template <typename Work>
auto with_progress(const Tool& tool, std::string_view what, const Work& work,
                   std::string_view unit = {}) {
  Progress progress(tool, what, unit);
  return work([&](std::uint64_t done, std::uint64_t total) { progress.show(done, total); });
}

/// "#########..........." for a share from 0 to 1.
std::string bar_text(double share, std::size_t width);

// Asking a person before something goes.

/// Whether a person is there to be asked. Scripts, --json and --yes are not asked: nobody may be
/// there to answer, and then no question must stop the work.
bool is_asked(const Tool& tool);

/// What a person answers to `question` on stderr, up to the end of the line.
std::string asked(Tool& tool, std::string_view question);
/// Writes it at once.
void write_to_stderr(std::string_view text);
/// As asked(), with the question as it is.
std::string answer_to_question(std::string_view question);

/// Whether to go on: asks on stderr, if is_asked(), and takes "y" or "yes" for it.
bool is_confirmed(Tool& tool, std::string_view question);

/// Says when nobody could note who wrote what the command has written.
void note_lost_origins(Tool& tool, const MemoryManager& memory);

/// Nothing when a person decides: no agent runs the tool, or somebody at its terminal says yes to
/// `question`, whatever the options are. Errors: E_ACCESS_DENIED.
Status check_is_person(Tool& tool, std::string_view question);

}  // namespace bmad_mem::cli
