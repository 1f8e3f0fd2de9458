#include "json_lines.hpp"

#include <nlohmann/json.hpp>

namespace bmad_mem {
namespace {

nlohmann::json parse(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

bool is_json_object(std::string_view text) { return parse(text).is_object(); }

std::optional<std::string> json_string_field(std::string_view object, const char* name) {
  const nlohmann::json value = parse(object);
  if (!value.is_object() || !value.contains(name) || !value[name].is_string()) {
    return std::nullopt;
  }
  return value[name].get<std::string>();
}

bool has_json_field(std::string_view object, const char* name) {
  const nlohmann::json value = parse(object);
  return value.is_object() && value.contains(name);
}

std::vector<std::string> whole_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace bmad_mem
