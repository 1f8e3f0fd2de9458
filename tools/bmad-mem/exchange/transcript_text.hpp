// transcript_text.hpp - what in a transcript was said by a person, and texts of tools.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json.hpp"

namespace bmad_mem::cli {

/// Longest snippet of a tool's input or output, in bytes.
inline constexpr std::size_t kSnippetSizeMax = 2000;
/// Longest message that is kept whole, in bytes; an entry may have 1 MiB as a line.
inline constexpr std::size_t kMessageSizeMax = std::size_t{512} * 1024;

/// Whether a text of role user was written by the program: commands, reminders, notifications.
bool is_machine_text(std::string_view text);

/// `text` without blanks at both ends: those of trimmed(), and '\v' and '\f'.
std::string_view stripped(std::string_view text);

/// As much of `text` as has room and ends no word of up to 256 bytes in the middle: nobody knows
/// half a secret by its name or its form.
std::string_view words_prefix(std::string_view text, std::size_t size_max);

/// The first of these members that is a text with something in it.
template <typename Keys = std::initializer_list<std::string_view>>
std::string_view first_string(JsonValue object, const Keys& keys) {
  for (const std::string_view key : keys) {
    if (const std::string_view text = object[key].string(); !text.empty()) {
      return text;
    }
  }
  return {};
}

/// The file that a tool's input is about; empty when it is about none.
std::string_view tool_path(JsonValue input);

/// A tool's input as text, a line for each member: "command: ls -l"; without the path, and without
/// the key where a text is all there is.
std::string tool_input_text(JsonValue input);

/// The text of a tool's output, a text or blocks of which some may be text.
std::string tool_result_text(JsonValue content);

/// How a record of this type is counted that is left out. The type came from outside, so it is not
/// trusted to be a word.
std::string record_reason(std::string_view type);

/// Appends `text`, with `between` in front unless it is the first; nothing for an empty one.
void append_part(std::string& out, std::string_view text, std::string_view between = "\n\n");

/// The last part of a path.
std::string_view base_name(std::string_view path);
/// The same, and cuts it off from the path.
std::string_view pop_part(std::string_view& path);

/// `text` with what the parser refuses in strings replaced by U+FFFD: bytes that are not UTF-8, NUL
/// (raw or as \u0000), and half a surrogate pair, as JavaScript writes it when it cuts a text in
/// the middle of an emoji. What is wrong otherwise stays wrong.
std::string repaired_json(std::string_view text);

/// Around what our hooks tell a model, so that without_injected() finds it.
inline constexpr std::string_view kInjectedBegin = "<bmad-memory>";
inline constexpr std::string_view kInjectedEnd = "</bmad-memory>";

/// `text` without what hooks put into prompts, also as clients wrap it.
std::string without_injected(std::string_view text);

/// `text` without what stands between <private> and </private>, in any case; without the end, the
/// rest. It is recorded by no hook and no import.
std::string without_private(std::string_view text);

// Who said a text, as far as its client proves it, and what is stored of that.
//
//   typed by the person                     role user       source user        trust 0.90
//   an agent's order to its sub-agent       role user       source assistant   trust 0.60
//   an agent's answer                       role assistant  source assistant   trust 0.60
//
// What a program wrote for the person (slash commands spelt out, notifications, our own context) is
// left out, and so is what nothing proves: it is never the person's. Hooks and importers go by it.

enum class Speaker : std::uint8_t { kPerson, kParentAgent, kAgent };

struct SpeakerRow {
  std::string_view role;
  std::string_view source;  ///< The `kind` of the entry's source, from which its trust follows.
};

/// What is stored of each, in the order of Speaker.
inline constexpr std::array<SpeakerRow, 3> kSpeakerRows = {{
    {.role = "user", .source = "user"},
    {.role = "user", .source = "assistant"},
    {.role = "assistant", .source = "assistant"},
}};

constexpr const SpeakerRow& speaker_row(Speaker speaker) {
  return kSpeakerRows.at(static_cast<std::size_t>(speaker));
}

// What the slash commands of a project become, so that what was typed is found.
//
//   .qwen/commands/tide.toml    prompt = "Use the almanac: {{args}}"
//   in the transcript           Use the almanac: high water on Sunday
//   typed                       /tide high water on Sunday
//
// Some clients write only what a command became, as if a person had said it.

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
