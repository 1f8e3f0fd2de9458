// note_text.cpp - what a Markdown note states: its front matter, and the lines below it.
#include <yaml.h>

#include <algorithm>
#include <cstddef>
#include <memory>

#include "exchange/import/notes.hpp"
#include "exchange/transcript_text.hpp"

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

constexpr std::string_view kLinksTo = "links_to";

/// The text of a list item; nothing when the line is none.
std::optional<std::string_view> list_item(std::string_view line) {
  line = stripped(line);
  if (line.size() < 3 || (line[0] != '-' && line[0] != '*') ||
      (line[1] != ' ' && line[1] != '\t')) {
    return std::nullopt;
  }
  return stripped(line.substr(1));
}

/// The target of the link that begins at `at`, and where it ends; nothing when none does.
struct Link {
  std::string_view target;
  std::size_t end = 0;
};
std::optional<Link> link_at(std::string_view text, std::size_t at) {
  const std::size_t close = text.find("]]", at);
  if (close == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view target = text.substr(at + 2, close - at - 2);
  target = stripped(target.substr(0, target.find('|')));
  return target.empty() ? std::nullopt : std::optional(Link{.target = target, .end = close + 2});
}

/// Takes "(context)" off the end.
std::string_view take_context(std::string_view& text) {
  if (!text.ends_with(')')) {
    return {};
  }
  const std::size_t open = text.rfind(" (");
  if (open == std::string_view::npos) {
    return {};
  }
  const std::string_view context = text.substr(open + 2, text.size() - open - 3);
  text = stripped(text.substr(0, open));
  return context;
}

bool is_tag(std::string_view word) {
  return word.size() > 1 && word[0] == '#' && word[1] != '#' &&
         word.find_first_of(".,;:!?()", 1) == std::string_view::npos;
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

std::optional<NoteObservation> read_note_observation(std::string_view line) {
  const auto item = list_item(line);
  if (!item || !item->starts_with('[') || item->starts_with("[[")) {
    return std::nullopt;
  }
  const std::size_t close = item->find(']');
  if (close == std::string_view::npos || close + 1 >= item->size() || (*item)[close + 1] != ' ') {
    return std::nullopt;  // "[text](address)" is a link.
  }
  const std::string_view category = stripped(item->substr(1, close - 1));
  if (category.empty() || category == "x" || category == "X" || category == "-") {
    return std::nullopt;  // A check box.
  }
  std::string_view text = stripped(item->substr(close + 1));
  NoteObservation observation{.category = std::string(category),
                              .text = {},
                              .tags = {},
                              .context = std::string(take_context(text))};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, end);
    if (is_tag(word)) {
      observation.tags.emplace_back(word.substr(1));
    } else {
      observation.text += observation.text.empty() ? "" : " ";
      observation.text += word;
    }
    text = stripped(text.substr(end));
  }
  return observation.text.empty() ? std::nullopt : std::optional(observation);
}

std::optional<NoteRelation> read_note_relation(std::string_view line) {
  const auto item = list_item(line);
  const std::size_t open = item ? item->find("[[") : std::string_view::npos;
  const auto link = open == std::string_view::npos ? std::nullopt : link_at(*item, open);
  if (!link) {
    return std::nullopt;
  }
  std::string_view rest = stripped(item->substr(link->end));
  if (!rest.empty() && (!rest.starts_with('(') || !rest.ends_with(')'))) {
    return std::nullopt;  // A sentence with a link in it.
  }
  std::string_view type = stripped(item->substr(0, open));
  if (type.size() > 2 && type.starts_with('"') && type.ends_with('"')) {
    type = type.substr(1, type.size() - 2);
  } else if (type.find_first_of(" \t") != std::string_view::npos) {
    return std::nullopt;
  }
  return NoteRelation{.type = std::string(type.empty() ? kLinksTo : type),
                      .target = std::string(link->target)};
}

std::vector<NoteRelation> read_note_links(std::string_view line) {
  std::vector<NoteRelation> links;
  for (std::size_t at = line.find("[["); at != std::string_view::npos; at = line.find("[[", at)) {
    const auto link = link_at(line, at);
    if (link) {
      links.push_back({.type = std::string(kLinksTo), .target = std::string(link->target)});
    }
    at = link ? link->end : at + 2;
  }
  return links;
}

}  // namespace bmad_mem::cli
