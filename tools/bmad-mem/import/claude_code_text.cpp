#include "import/claude_code_text.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "bmad_mem/json_copy.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 8> kMachineBeginnings = {
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-caveat>",
    "<task-notification>",
    "<system-reminder>",
    "<user-prompt-submit-hook>",
    "[Request interrupted by user",
};

constexpr std::array<std::string_view, 3> kPathKeys = {"file_path", "notebook_path", "path"};

/// Nothing that is shown needs more; what is cut off here would be cut off later anyway.
constexpr std::size_t kDepthMax = 8;

std::string value_text(JsonValue value) {
  if (value.is_string()) {
    return std::string(value.string());
  }
  JsonWriter json;
  write_json(json, value, kDepthMax);
  return json.take();
}

}  // namespace

bool is_machine_text(std::string_view text) {
  const std::string_view front = stripped(text);
  return std::ranges::any_of(
      kMachineBeginnings, [&](std::string_view beginning) { return front.starts_with(beginning); });
}

std::string_view stripped(std::string_view text) {
  static constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view tool_path(JsonValue input) {
  for (const std::string_view key : kPathKeys) {
    if (const std::string_view path = input[key].string(); !path.empty()) {
      return path;
    }
  }
  return {};
}

std::string tool_input_text(JsonValue input) {
  const std::string_view path = tool_path(input);
  std::string out;
  std::size_t count = 0;
  std::string_view only;
  for (const JsonMember& member : input.members()) {
    if (out.size() > 2 * kSnippetSizeMax) {
      break;
    }
    const bool is_path = std::ranges::find(kPathKeys, member.key) != kPathKeys.end() &&
                         member.value.string() == path;
    if (!is_path) {
      only = member.value.string();
      out += fmt::format("{}{}: {}", count == 0 ? "" : "\n", member.key, value_text(member.value));
      ++count;
    }
  }
  return count == 1 && !only.empty() ? std::string(only) : out;
}

std::string tool_result_text(JsonValue content,
                             const std::function<void(std::string_view)>& on_skipped) {
  if (content.is_string()) {
    return std::string(content.string());
  }
  std::string out;
  for (const JsonValue block : content.elements()) {
    const std::string_view kind = block["type"].string();
    if (kind == "text") {
      out += out.empty() ? "" : "\n";
      out += block["text"].string();
    } else {
      on_skipped(kind);
    }
  }
  return out;
}

std::string record_reason(std::string_view type) {
  const bool is_word = !type.empty() && type.size() <= 40 && std::ranges::all_of(type, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  return fmt::format("{} records", is_word ? type : "other");
}

void add_if_any(JsonWriter& json, std::string_view key, std::string_view text) {
  if (!text.empty()) {
    json.member(key, text);
  }
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace bmad_mem::cli
