// command_texts.cpp - reads the files of slash commands, and finds what they became.
#include "exchange/command_texts.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

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
  std::size_t at = text.size();
  std::size_t size = 0;
  for (const std::string_view placeholder : kPlaceholders) {
    if (const std::size_t found = text.find(placeholder); found < at) {
      at = found;
      size = placeholder.size();
    }
  }
  const std::string_view before = text.substr(0, at);
  const std::string_view behind = text.substr(at + size);
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
