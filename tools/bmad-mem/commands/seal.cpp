// seal.cpp - entries are sealed, opened for good, or sealed with another key.
#include <termios.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/memory_manager.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "exchange/files.hpp"
#include "exchange/git/git_program.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// A line of the terminal that is not shown.
Result<std::string> ask_secret(std::string_view question) {
  const Error none{.code = ErrorCode::E_INVALID_QUERY,
                   .message =
                       "there is no terminal to ask for the passphrase; put it into "
                       "$BMAD_MEM_PASSPHRASE"};
  termios before{};
  if (::isatty(STDIN_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &before) != 0) {
    return none;
  }
  termios silent = before;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  if (::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) != 0) {
    return none;
  }
  std::string answer = answer_to_question(question);
  static_cast<void>(::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before));
  write_to_stderr("\n");
  return answer;
}

constexpr std::size_t kPassphraseSizeMin = 12;

Result<SealKeySource> passphrase_of(SealStep step) {
  BMAD_TRY_ASSIGN(std::string passphrase, ask_secret("Passphrase: "));
  if (step == SealStep::kOn) {
    BMAD_TRY_ASSIGN(const std::string again, ask_secret("Again: "));
    if (again != passphrase) {
      return Error{.code = ErrorCode::E_INVALID_FORMAT, .message = "the passphrases differ"};
    }
  }
  return SealKeySource{.passphrase = std::move(passphrase)};
}

void tell_key_file(Tool& tool, const std::string& path, bool is_new, SealStep step) {
  const std::string place = printable(std::filesystem::absolute(path).lexically_normal().string());
  if (is_new) {
    tool.note(
        fmt::format("the key is in {}; keep a copy: without it nothing opens the entries", place));
  }
  if (step != SealStep::kOff && seal_key_here().key_file != path) {
    tool.note(fmt::format("from now on $BMAD_MEM_KEY_FILE must name {}, for clients and hooks too",
                          place));
  }
}

/// By SealStep.
constexpr std::array<std::string_view, 3> kQuestions = {
    "seal the entries? Losing the key is final: without it nothing opens them.",
    "open all sealed entries, and write them in clear?",
    "seal everything with the new key? Losing it is final."};

/// Asks, and ends encryption where the key is lost.
Result<ExitStatus> give_up(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::uint64_t lines, memory.sealed_lines());
  if (!is_confirmed(tool, fmt::format("give up {}, and write in clear from now on? sealing.json "
                                      "goes: keep a copy if its passphrase may be found",
                                      format_count(lines, "encrypted line", "encrypted lines")))) {
    return ExitStatus::kFailed;
  }
  BMAD_TRY(memory.seal({.step = SealStep::kOff, .without_key = true}));
  return show(tool, "given_up",
              object_of("summary", object_of("changed", 0, "whole", lines == 0, "lost", lines)));
}

}  // namespace

Result<ExitStatus> run_encrypt(Tool& tool) {
  const Arguments& args = tool.args();
  const std::string_view name = args.positional(0);
  const SealStep step = name == "on"    ? SealStep::kOn
                        : name == "off" ? SealStep::kOff
                                        : SealStep::kRotate;
  if (step != SealStep::kOn) {  // Before anybody is asked for anything.
    BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
    if (!is_there(memory.root() + "/sealing.json") && !memory.seal_state().is_on) {
      return invalid_query("step",
                           "nothing is sealed in this memory; `bmad-mem encrypt on` begins");
    }
  }
  if (args.has("without-key")) {
    return give_up(tool);
  }
  std::optional<SealKeySource> key;
  if (args.has("passphrase")) {
    BMAD_TRY_ASSIGN(key, passphrase_of(step));
  } else if (args.has("key-file")) {
    key = seal_key_here();  // With another one in the environment, two are named.
    key->key_file = args.value("key-file");
  }
  const std::string passphrase = key ? key->passphrase : seal_key_here().passphrase;
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open({}, std::move(key)));
  if (!is_confirmed(tool, kQuestions.at(static_cast<std::size_t>(step)))) {
    return ExitStatus::kFailed;
  }
  const std::string made = args.has("new-key-file") ? std::string(args.value("new-key-file"))
                                                    : std::string(args.value("key-file"));
  const bool is_new = !made.empty() && !is_there(made);
  const SealOptions options{.step = step,
                            .sessions = args.all("session"),
                            .sensitive = args.has("sensitive"),
                            .new_key_file = std::string(args.value("new-key-file"))};
  const Result<std::vector<SealReport>> reports = with_progress(
      tool, "seal", [&](const MemoryManager::Progress& show) { return memory.seal(options, show); },
      "sessions");
  if (is_there(made) && (reports || is_new)) {  // What was sealed before an error needs it.
    tell_key_file(tool, made, is_new, step);
  }
  BMAD_TRY(reports ? Status() : Status(reports.error()));
  bool is_whole = !tool.has_left_out();
  std::uint64_t changed = 0;
  for (const SealReport& report : *reports) {
    show(tool, "sealing", shaped(shape::sealing, report), "opens", step == SealStep::kOff);
    is_whole = is_whole && report.left.empty();
    changed += report.changed;
  }
  const bool is_short = !passphrase.empty() && passphrase.size() < kPassphraseSizeMin;
  show(tool, "sealed_all", object_of("summary", object_of("changed", changed, "whole", is_whole)),
       "step", name, "is_short", is_short, "is_in_git", is_in_git(memory.root()));
  return is_whole ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace bmad_mem::cli
