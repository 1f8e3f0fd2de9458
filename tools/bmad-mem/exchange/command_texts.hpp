// command_texts.hpp - what the slash commands of a project become, so that what was typed is found.
//
//   .qwen/commands/tide.toml    prompt = "Use the almanac: {{args}}"
//   in the transcript           Use the almanac: high water on Sunday
//   typed                       /tide high water on Sunday
//
// Some clients write only what a command became, as if a person had said it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::cli {

/// The folders that `rows` name, of the project in folder `project` (empty: unknown) or, with "~/",
/// of the user.
std::vector<std::string> command_folders(std::span<const std::string_view> rows,
                                         const std::string& project);

class CommandTexts {
 public:
  /// Knows the commands in these folders and below: Markdown, or TOML with a "prompt". What can't
  /// be read is no command.
  explicit CommandTexts(std::span<const std::string> folders = {});

  /// What was typed, where `text` is what a command becomes: "/tide high water".
  [[nodiscard]] std::optional<std::string> typed(std::string_view text) const;

 private:
  struct Command {
    std::string name;
    std::string before;  ///< What stands before the words that were typed …
    std::string behind;  ///< … and behind them.
  };
  void add_folder(const std::string& folder);
  void add(std::string name, std::string_view text);

  std::vector<Command> commands_;
};

}  // namespace bmad_mem::cli
