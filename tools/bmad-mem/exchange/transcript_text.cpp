// transcript_text.cpp - takes apart texts of transcripts: what a person typed, and texts of tools.
#include "exchange/transcript_text.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {
namespace {

/// Of texts that clients write in the person's name.
constexpr auto kMachineBeginnings = std::to_array<std::string_view>({
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-caveat>",
    "<task-notification>",
    "<system-reminder>",
    "<user-prompt-submit-hook>",
    "[Request interrupted by user",
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "# AGENTS.md",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<session_context>",
    "<loaded_context>",
    "<state_snapshot>",
});

constexpr std::array<std::string_view, 4> kPathKeys = {"file_path", "notebook_path", "path",
                                                       "filePath"};

/// Nothing that is shown needs more; what is cut off here would be cut off later anyway.
constexpr std::size_t kJsonDepthMax = 8;

std::string value_text(JsonValue value) {
  if (value.is_string()) {
    return std::string(value.string());
  }
  JsonWriter json;
  write_json(json, value, kJsonDepthMax);
  return json.take();
}

constexpr std::size_t kEscapeSize = 6;  // \u0000
constexpr std::string_view kReplacement = "\\ufffd";

/// The code unit of the escape at `at`, if there is one.
std::optional<std::uint32_t> code_unit(std::string_view text, std::size_t at) {
  if (at + kEscapeSize > text.size() || text[at] != '\\' || text[at + 1] != 'u') {
    return std::nullopt;
  }
  std::uint32_t unit = 0;
  const char* const digits = text.data() + at + 2;
  const auto [stop, problem] = std::from_chars(digits, digits + 4, unit, 16);
  return problem == std::errc() && stop == digits + 4 ? std::optional(unit) : std::nullopt;
}

bool is_high(std::uint32_t unit) { return unit >= 0xD800U && unit < 0xDC00U; }
bool is_low(std::uint32_t unit) { return unit >= 0xDC00U && unit < 0xE000U; }

namespace fs = std::filesystem;

constexpr std::size_t kCommandsMax = 1000;
constexpr std::size_t kCommandSizeMax = std::size_t{64} * 1024;
/// A shorter text may be anybody's.
constexpr std::size_t kFixedTextMin = 12;

constexpr auto kPlaceholders =
    std::to_array<std::string_view>({"$ARGUMENTS", "{{args}}", "{{arguments}}", "$1"});

std::string beginning_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kCommandSizeMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// The text of `prompt = "…"` or `prompt = """…"""`, as far as it has no escapes but \n.
std::string toml_prompt(std::string_view text) {
  const std::size_t key = text.find("prompt");
  const std::size_t quote = text.find_first_of("\"'", std::min(key, text.size()));
  if (key == std::string_view::npos || quote == std::string_view::npos) {
    return {};
  }
  const std::string three(3, text[quote]);
  const std::string_view mark =
      text.substr(quote).starts_with(three) ? text.substr(quote, 3) : text.substr(quote, 1);
  const std::string_view rest = text.substr(quote + mark.size());
  std::string out(rest.substr(0, rest.find(mark)));
  for (std::size_t at = out.find("\\n"); at != std::string::npos; at = out.find("\\n", at)) {
    out.replace(at, 2, "\n");
  }
  return out;
}

}  // namespace

bool is_machine_text(std::string_view text) {
  const std::string_view front = stripped(text);
  return std::ranges::any_of(
      kMachineBeginnings, [&](std::string_view beginning) { return front.starts_with(beginning); });
}

std::string_view stripped(std::string_view text) { return trimmed(text, " \t\r\n\v\f"); }

std::string_view words_prefix(std::string_view text, std::size_t size_max) {
  constexpr std::size_t kWordMax = 256;
  const std::string_view begin = utf8_prefix(text, size_max);
  assert(begin.size() <= size_max);
  const std::size_t word = begin.find_last_of(kWhiteSpace) + 1;
  const bool cuts = begin.size() < text.size() && !is_space(text[begin.size()]) &&
                    begin.size() - word <= kWordMax;
  return cuts ? stripped(begin.substr(0, word)) : begin;
}

std::string_view tool_path(JsonValue input) { return first_string(input, kPathKeys); }

std::string tool_input_text(JsonValue input) {
  const std::string_view path = tool_path(input);
  std::string out;
  std::string_view only;
  std::size_t count = 0;
  for (const JsonMember& member : input.members()) {
    if (out.size() > 2 * kSnippetSizeMax) {
      break;
    }
    if (!is_among(kPathKeys, member.key) || member.value.string() != path) {
      only = member.value.string();
      append_part(out, fmt::format("{}: {}", member.key, value_text(member.value)), "\n");
      ++count;
    }
  }
  return count == 1 && !only.empty() ? std::string(only) : out;
}

std::string tool_result_text(JsonValue content) {
  std::string out(content.string());
  for (const JsonValue block : content.elements()) {
    const std::string_view kind = block["type"].string();
    append_part(out, kind.empty() || kind == "text" ? block["text"].string() : "", "\n");
  }
  return out;
}

std::string record_reason(std::string_view type) {
  const bool is_word = !type.empty() && type.size() <= 40 && std::ranges::all_of(type, [](char c) {
    return is_lower(c) || is_digit(c) || c == '-' || c == '_';
  });
  return fmt::format("{} records", is_word ? type : "other");
}

void append_part(std::string& out, std::string_view text, std::string_view between) {
  if (!text.empty()) {
    out += out.empty() ? "" : between;
    out += text;
  }
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // Behind npos comes 0.
}

std::string_view pop_part(std::string_view& path) {
  const std::string_view part = base_name(path);
  path.remove_suffix(std::min(path.size(), part.size() + 1));
  return part;
}

std::string repaired_json(std::string_view text) {
  const std::string valid = utf8_repaired(text);
  const std::string_view in = valid;
  std::string out;
  out.reserve(in.size());
  for (std::size_t at = 0; at < in.size();) {
    if (in[at] != '\\') {
      out += in[at++];
      continue;
    }
    const std::optional<std::uint32_t> unit = code_unit(in, at);
    if (!unit) {
      out += in.substr(at, 2);  // Also "\\": the second is no beginning of an escape.
      at += 2;
      continue;
    }
    std::size_t size = kEscapeSize;
    bool good = *unit != 0 && !is_low(*unit);
    if (is_high(*unit)) {
      const std::optional<std::uint32_t> second = code_unit(in, at + kEscapeSize);
      good = second && is_low(*second);
      size = good ? 2 * kEscapeSize : kEscapeSize;
    }
    out += good ? in.substr(at, size) : kReplacement;
    at += size;
  }
  return out;
}

std::string without_injected(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kMarks = {{
      {kInjectedBegin, kInjectedEnd},
      {"<hook_context>", "</hook_context>"},  // Of Gemini CLI.
      {"<qwen:user-prompt-submit-context>", "</qwen:user-prompt-submit-context>"},
  }};
  std::string out(text);
  for (const auto& [begin, end] : kMarks) {
    for (std::size_t at = out.find(begin); at != std::string::npos; at = out.find(begin, at)) {
      const std::size_t stop = out.find(end, at);
      out.erase(at, stop == std::string::npos ? stop : stop + end.size() - at);
    }
  }
  return out;
}

std::string without_private(std::string_view text) {
  static constexpr std::string_view kBegin = "<private>";
  static constexpr std::string_view kEnd = "</private>";
  const std::string lower = lower_ascii(text);
  assert(lower.size() == text.size() && "places in one are places in the other");
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(lower.find(kBegin, at), text.size());
    out += text.substr(at, begin - at);
    at = std::min(lower.find(kEnd, begin), text.size()) + kEnd.size();
  }
  return out;
}

// Reads the files of slash commands, and finds what they became.

std::vector<std::string> command_folders(std::span<const std::string_view> rows,
                                         const std::string& project) {
  std::vector<std::string> folders;
  for (const std::string_view row : rows) {
    const bool is_users = row.starts_with("~/");
    if (is_users || !project.empty()) {
      folders.push_back(is_users ? fmt::format("{}{}", environment("HOME"), row.substr(1))
                                 : fmt::format("{}/{}", project, row));
    }
  }
  return folders;
}

CommandTexts::CommandTexts(std::span<const std::string> folders) {
  for (const std::string& folder : folders) {
    add_folder(folder);
  }
}

void CommandTexts::add_folder(const std::string& folder) {
  std::error_code problem;
  fs::recursive_directory_iterator entry(folder, problem);
  for (; !problem && entry != fs::recursive_directory_iterator() && commands_.size() < kCommandsMax;
       entry.increment(problem)) {
    std::error_code gone;
    const fs::path& path = entry->path();
    const bool is_toml = path.extension() == ".toml";
    if (!entry->is_regular_file(gone) || (!is_toml && path.extension() != ".md")) {
      continue;
    }
    const std::string text = beginning_of_file(path);
    std::string name = path.lexically_relative(folder).replace_extension().generic_string();
    name = name.ends_with("/SKILL") ? path.parent_path().filename().string() : std::move(name);
    std::ranges::replace(name, '/', ':');
    add(std::move(name), is_toml ? toml_prompt(text) : without_front_matter(text));
  }
}

void CommandTexts::add(std::string name, std::string_view text) {
  text = stripped(text);
  const auto place_of = [&](std::string_view placeholder) { return text.find(placeholder); };
  const std::string_view first = *std::ranges::min_element(kPlaceholders, {}, place_of);
  const std::string_view before = text.substr(0, place_of(first));
  const std::string_view behind = text.substr(std::min(before.size() + first.size(), text.size()));
  const bool has_more = std::ranges::any_of(
      kPlaceholders, [&](std::string_view more) { return behind.contains(more); });
  if (!has_more && before.size() + behind.size() >= kFixedTextMin) {
    commands_.push_back(
        {.name = std::move(name), .before = std::string(before), .behind = std::string(behind)});
  }
}

std::optional<std::string> CommandTexts::typed(std::string_view text) const {
  text = stripped(text);
  const auto found = std::ranges::find_if(commands_, [&](const Command& command) {
    return text.size() >= command.before.size() + command.behind.size() &&
           text.starts_with(command.before) && text.ends_with(command.behind);
  });
  if (found == commands_.end()) {
    return std::nullopt;
  }
  const std::string_view words = stripped(
      text.substr(found->before.size(), text.size() - found->before.size() - found->behind.size()));
  return fmt::format("/{}{}{}", found->name, words.empty() ? "" : " ", words);
}

}  // namespace bmad_mem::cli
