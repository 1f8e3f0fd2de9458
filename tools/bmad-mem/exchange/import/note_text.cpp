// note_text.cpp - what a Markdown note states: its front matter, and the lines below it.
#include <yaml.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <set>

#include "bmad_mem/text.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

/// Maximum number of mappings and lists around a value that is read.
constexpr std::size_t kDepthMax = 3;

/// A document of YAML, and what is read of it.
struct YamlReader {
  yaml_document_t* document;
  decltype(FrontMatter::values)& values;
  std::set<int> seen = {};  ///< The numbers of nodes.

  /// The node `number`, whose name is `name`. False for one that was there before: an alias could
  /// make a small file a large one.
  bool read(int number, const std::string& name, std::size_t depth) {
    const yaml_node_t* const node = yaml_document_get_node(document, number);
    if (node == nullptr || depth > kDepthMax) {
      return true;
    }
    if (!seen.insert(number).second) {
      return false;
    }
    if (node->type == YAML_SCALAR_NODE && depth > 0) {
      values[name].push_back(text_of(*node));
    } else if (node->type == YAML_SEQUENCE_NODE) {
      const auto& items = node->data.sequence.items;
      return std::all_of(items.start, items.top,
                         [&](int item) { return read(item, name, depth + 1); });
    } else if (node->type == YAML_MAPPING_NODE) {
      const auto& pairs = node->data.mapping.pairs;
      return std::all_of(pairs.start, pairs.top, [&](const yaml_node_pair_t& pair) {
        std::string key = name;
        append_part(key, text_of(*yaml_document_get_node(document, pair.key)), ".");
        return read(pair.value, key, depth + 1);
      });
    }
    return true;
  }

  /// Of a scalar; empty for the others.
  static std::string text_of(const yaml_node_t& node) {
    const auto& scalar = node.data.scalar;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libyaml's UTF-8 bytes.
    return node.type == YAML_SCALAR_NODE
               ? std::string(reinterpret_cast<const char*>(scalar.value), scalar.length)
               : "";
  }
};

bool read_yaml(std::string_view text, decltype(FrontMatter::values)& values) {
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) {
    return false;
  }
  const std::unique_ptr<yaml_parser_t, decltype(&yaml_parser_delete)> guard(&parser,
                                                                            &yaml_parser_delete);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libyaml wants unsigned bytes.
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
  yaml_document_t document;
  if (yaml_parser_load(&parser, &document) == 0) {
    return false;
  }
  const std::unique_ptr<yaml_document_t, decltype(&yaml_document_delete)> document_guard(
      &document, &yaml_document_delete);
  return YamlReader{.document = &document, .values = values}.read(1, {}, 0);
}

constexpr std::string_view kLinksTo = "links_to";

/// The text of a list item; nothing when the line is none.
std::optional<std::string_view> list_item(std::string_view line) {
  line = stripped(line);
  if (line.size() < 3 || (line[0] != '-' && line[0] != '*') || !is_blank(line[1])) {
    return std::nullopt;
  }
  return stripped(line.substr(1));
}

/// Cuts the first link off `text`, with what is before it: its target. Nothing without one.
std::optional<std::string_view> take_link(std::string_view& text) {
  for (std::size_t open = text.find("[["); open != std::string_view::npos;
       open = text.find("[[", open + 2)) {
    const std::size_t close = text.find("]]", open);
    const std::string_view inside = text.substr(open + 2, close - open - 2);
    const std::string_view target = stripped(inside.substr(0, inside.find('|')));
    if (close != std::string_view::npos && !target.empty()) {
      text.remove_prefix(close + 2);
      return target;
    }
  }
  return std::nullopt;
}

/// Takes "(context)" off the end.
std::string_view take_context(std::string_view& text) {
  const std::size_t open = text.ends_with(')') ? text.rfind(" (") : std::string_view::npos;
  if (open == std::string_view::npos) {
    return {};
  }
  assert(open + 3 <= text.size());
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
  std::string_view rest = text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  bool is_yaml = without_line_end(take_line(rest)) == "---";
  const std::string_view yaml = rest;
  while (is_yaml && !rest.empty()) {
    const std::size_t size = yaml.size() - rest.size();
    is_yaml = without_line_end(take_line(rest)) != "---";
    if (is_yaml) {
      continue;
    }
    if (read_yaml(yaml.substr(0, size), read.values)) {
      read.body = rest;
      read.body_line += static_cast<std::size_t>(
          std::ranges::count(text.substr(0, text.size() - rest.size()), '\n'));
    } else {
      read.values.clear();
    }
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
                              .context = std::string(take_context(text))};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, end);
    if (is_tag(word)) {
      observation.tags.emplace_back(word.substr(1));
    } else {
      append_part(observation.text, word, " ");
    }
    text = stripped(text.substr(end));
  }
  return observation.text.empty() ? std::nullopt : std::optional(observation);
}

std::optional<NoteRelation> read_note_relation(std::string_view line) {
  const auto item = list_item(line);
  std::string_view rest = item.value_or("");
  std::string_view type = stripped(rest.substr(0, rest.find("[[")));
  const auto target = take_link(rest);
  rest = stripped(rest);
  if (!target || (!rest.empty() && (!rest.starts_with('(') || !rest.ends_with(')')))) {
    return std::nullopt;  // Or a sentence with a link in it.
  }
  if (type.size() > 2 && type.starts_with('"') && type.ends_with('"')) {
    type = type.substr(1, type.size() - 2);
  } else if (type.find_first_of(" \t") != std::string_view::npos) {
    return std::nullopt;
  }
  return NoteRelation{.type = std::string(type.empty() ? kLinksTo : type),
                      .target = std::string(*target)};
}

std::vector<NoteRelation> read_note_links(std::string_view line) {
  std::vector<NoteRelation> links;
  while (const auto target = take_link(line)) {
    links.push_back({.type = std::string(kLinksTo), .target = std::string(*target)});
  }
  return links;
}

}  // namespace bmad_mem::cli
