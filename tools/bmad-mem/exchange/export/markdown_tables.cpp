#include "exchange/export/markdown_tables.hpp"

#include <array>

#include <fmt/core.h>

#include "exchange/export/markdown_text.hpp"
#include "text.hpp"

namespace bmad_mem::cli {
namespace {

void add_reference(std::string_view id, const AnchorIds& ids, std::string& out) {
  out += out.empty() ? "" : ", ";
  out += ids.contains(id) ? fmt::format("[{}](#{})", markdown_inline(id), id) : markdown_code(id);
}

/// A row; the first cell holds the entry's anchor.
void add_row(const Entry& entry, std::span<const std::string> cells, std::string& out) {
  out += "| " + markdown_anchor(entry.id);
  for (const std::string& cell : cells) {
    out += fmt::format("{} | ", markdown_inline(cell));
  }
  out.back() = '\n';
}

std::string confidence(const EntryContent& content) {
  const JsonValue value = content["confidence"];
  return value.is_number() ? fmt::format("{:.0f} %", value.number() * 100) : "";
}

}  // namespace

std::string markdown_anchor(std::string_view id) {
  return fmt::format("<a id=\"{}\"></a>", id);  // Ids hold no character that HTML gives a meaning.
}

std::string markdown_references(const EntryContent& content, const AnchorIds& ids) {
  std::string out;
  for (const JsonMember& list : content["references"].members()) {
    for (const JsonValue id : list.value.elements()) {
      add_reference(id.string(), ids, out);
    }
  }
  for (const JsonMember& list : content["metadata"]["references"].members()) {
    for (const JsonValue id : list.value.elements()) {
      add_reference(id.string(), ids, out);
    }
  }
  for (const JsonValue list : {content["references"], content["metadata"]["references"]}) {
    for (const JsonValue id : list.elements()) {
      add_reference(id.string(), ids, out);
    }
  }
  return out;
}

std::string markdown_tags(const EntryContent& content) {
  std::string out;
  for (const std::string& tag : content.texts("tags")) {
    out += out.empty() ? "" : ", ";
    out += markdown_code(tag);
  }
  return out;
}

std::string markdown_facts(std::span<const Entry> entries) {
  std::string out;
  for (const Entry& entry : entries) {
    if (entry.type != EntryType::kFact) {
      continue;
    }
    const EntryContent content(entry);
    const std::string key = content.text("key");
    out += out.empty() ? "### Facts\n\n| Fact | About | Sure | By | When | Tags |\n"
                         "|---|---|---|---|---|---|\n"
                       : "";
    add_row(entry,
            std::array<std::string, 6>{
                content.text("content") + (entry.pinned ? " 📌" : ""),
                joined(std::vector{content.text("category"), key},
                       content.text("category").empty() || key.empty() ? "" : ": "),
                confidence(content), entry.who, format_minute(entry.timestamp),
                joined(content.texts("tags"))},
            out);
  }
  return out.empty() ? out : out + "\n";
}

std::string markdown_preferences(std::span<const Entry> entries) {
  std::string out;
  for (const Entry& entry : entries) {
    if (entry.type != EntryType::kPreference) {
      continue;
    }
    const EntryContent content(entry);
    out += out.empty()
               ? "### Preferences\n\n| Preference | Value | Context | Sure | When | Tags |\n"
                 "|---|---|---|---|---|---|\n"
               : "";
    add_row(entry,
            std::array<std::string, 6>{content.text("key") + (entry.pinned ? " 📌" : ""),
                                       content.text("value"), content.text("context"),
                                       confidence(content), format_minute(entry.timestamp),
                                       joined(content.texts("tags"))},
            out);
  }
  return out.empty() ? out : out + "\n";
}

}  // namespace bmad_mem::cli
