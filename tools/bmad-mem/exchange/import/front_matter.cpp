#include "exchange/import/front_matter.hpp"

#include <yaml.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>

namespace bmad_mem::cli {
namespace {

using Values = decltype(FrontMatter::values);

/// Follows the events of one mapping of scalars, lists and mappings of scalars.
class MappingReader {
 public:
  bool take(const yaml_event_t& event, Values& values) {
    switch (event.type) {
      case YAML_MAPPING_START_EVENT:
      case YAML_SEQUENCE_START_EVENT:
        open(event.type == YAML_MAPPING_START_EVENT);
        return true;
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        close();
        return true;
      case YAML_SCALAR_EVENT:
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libyaml's UTF-8 bytes.
        scalar({reinterpret_cast<const char*>(event.data.scalar.value), event.data.scalar.length},
               values);
        return true;
      default:
        return event.type != YAML_ALIAS_EVENT;  // An alias could make a small file a large one.
    }
  }

 private:
  struct Level {
    bool is_mapping = false;
    std::optional<std::string> key = {};  ///< Read, and its value is still to come.
  };

  void open(bool is_mapping) { levels_.push_back({.is_mapping = is_mapping}); }
  void close() {
    levels_.pop_back();
    if (!levels_.empty()) {
      levels_.back().key.reset();
    }
  }
  void scalar(std::string_view text, Values& values) {
    if (levels_.empty()) {
      return;
    }
    Level& level = levels_.back();
    if (level.is_mapping && !level.key) {
      level.key = std::string(text);
      return;
    }
    std::string name;
    for (const Level& outer : levels_) {
      if (outer.key) {
        name += (name.empty() ? "" : ".") + *outer.key;
      }
    }
    if (levels_.size() <= 3) {
      values[name].emplace_back(text);
    }
    level.key.reset();
  }

  std::vector<Level> levels_;
};

bool read_yaml(std::string_view text, Values& values) {
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) {
    return false;
  }
  const std::unique_ptr<yaml_parser_t, decltype(&yaml_parser_delete)> guard(&parser,
                                                                            &yaml_parser_delete);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libyaml wants unsigned bytes.
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
  MappingReader reader;
  while (true) {
    yaml_event_t event;
    if (yaml_parser_parse(&parser, &event) == 0) {
      return false;
    }
    const std::unique_ptr<yaml_event_t, decltype(&yaml_event_delete)> event_guard(
        &event, &yaml_event_delete);
    if (!reader.take(event, values)) {
      return false;
    }
    if (event.type == YAML_STREAM_END_EVENT) {
      return true;
    }
  }
}

}  // namespace

std::string_view FrontMatter::text(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() || found->second.empty() ? std::string_view()
                                                        : std::string_view(found->second.front());
}

FrontMatter read_front_matter(std::string_view text) {
  FrontMatter read{.values = {}, .body = text};
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  const std::size_t begin = text.find('\n');
  if (begin == std::string_view::npos ||
      (text.substr(0, begin) != "---" && text.substr(0, begin) != "---\r")) {
    return read;
  }
  for (std::size_t at = begin + 1; at < text.size();) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, newline - at);
    if (line == "---" || line == "---\r") {
      if (read_yaml(text.substr(begin + 1, at - begin - 1), read.values)) {
        read.body = text.substr(std::min(newline + 1, text.size()));
        read.body_line += static_cast<std::size_t>(
            std::ranges::count(text.substr(0, text.size() - read.body.size()), '\n'));
      } else {
        read.values.clear();
      }
      return read;
    }
    at = newline + 1;
  }
  return read;
}

}  // namespace bmad_mem::cli
