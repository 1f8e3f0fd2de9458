#include "exchange/import/note_lines.hpp"

#include <algorithm>
#include <cstddef>

#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

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
