#include "cli/context_view.hpp"

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kItemWidth = 60;

void write_item(JsonWriter& json, const ContextItem& item) {
  json.begin_object().member("section", context_section_name(item.section));
  json.member("session_id", item.session_id).member("type", entry_type_name(item.type));
  json.member("id", item.id).member("timestamp", format_rfc3339(item.timestamp));
  json.member("tokens", static_cast<std::uint64_t>(item.tokens)).member("trust", item.trust);
  json.member("quoted", item.quoted).member("why", item.why).member("text", item.text);
  json.end_object();
}

/// What stands behind the dash of the item's first line.
std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return shortened(printable(line.starts_with("- ") ? line.substr(2) : line), kItemWidth);
}

}  // namespace

void print_context_as_json(Tool& tool, const Context& context, std::optional<Timestamp> as_of) {
  JsonWriter json;
  json.begin_object();
  if (as_of) {
    json.member("as_of", format_rfc3339(*as_of));
  }
  json.member("markdown", context.markdown);
  json.member("tokens", static_cast<std::uint64_t>(context.tokens));
  json.member("max_tokens", static_cast<std::uint64_t>(context.max_tokens));
  json.key("items").begin_array();
  for (const ContextItem& item : context.items) {
    write_item(json, item);
  }
  json.end_array().key("omitted").begin_array();
  for (const ContextOmission& omission : context.omitted) {
    json.begin_object().member("section", context_section_name(omission.section));
    json.member("session_id", omission.session_id).member("id", omission.id);
    json.member("why", omission.why).end_object();
  }
  json.end_array().end_object();
  tool.out().print("{}\n", json.take());
}

void print_context_table(Tool& tool, const Context& context) {
  std::string_view section;
  for (const ContextItem& item : context.items) {
    if (context_section_name(item.section) != section) {
      section = context_section_name(item.section);
      tool.out().print("{}\n", tool.style().bold(section));
    }
    tool.out().print("  {}  {} tokens  {}{}\n", tool.style().id(printable(item.id)), item.tokens,
                     printable(item.why), item.quoted ? ", quoted" : "");
    tool.out().print("    {}\n", first_line(item.text));
  }
  for (const ContextOmission& omission : context.omitted) {
    tool.out().print("{} {} ({}): {}\n", tool.style().faint("left out"), printable(omission.id),
                     context_section_name(omission.section), omission.why);
  }
  tool.out().print("{} of {} tokens\n", context.tokens, context.max_tokens);
}

}  // namespace bmad_mem::cli
