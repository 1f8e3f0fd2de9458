#include "cli/knowledge_view.hpp"

#include <charconv>
#include <string>

#include <fmt/format.h>

#include "bmad_mem/rfc3339.hpp"
#include "cli/json_members.hpp"
#include "cli/nearest.hpp"

namespace bmad_mem::cli {
namespace {

void write_chain(JsonWriter& json, const KnowledgeItem& item) {
  json.key("chain").begin_array();
  for (const KnowledgeVersion& version : item.chain) {
    json.begin_object().member("session_id", version.session_id);
    json.member("type", entry_type_info(version.type).name).member("id", version.id);
    json.member("value", version.value);
    add_text(json, "agent_id", version.agent_id);
    json.member("confidence", version.confidence).member("trust", version.trust);
    add_text(json, "source", version.source_kind);
    json.member("at", format_rfc3339(version.at)).member("holds", version.holds).end_object();
  }
  json.end_array();
}

/// "0.95  MARS  2026-01-11 10:00  fact-…"
std::string origin_text(const KnowledgeItem& item) {
  std::string text = fmt::format("{:.2f}", item.confidence);
  if (item.trust < 1) {
    text += fmt::format("  trust {:.2f}", item.trust);
  }
  if (!item.agent_id.empty()) {
    text += "  " + printable(item.agent_id);
  }
  text += fmt::format("  {}  {}", format_minute(item.updated_at), item.id);
  for (const auto& [is_so, mark] :
       {std::pair(item.pinned, "  pinned"), std::pair(item.sensitive, "  sensitive"),
        std::pair(item.review == Review::kAccepted, "  accepted")}) {
    text += is_so ? mark : "";
  }
  return text;
}

void print_chain(Tool& tool, const KnowledgeItem& item) {
  for (const KnowledgeVersion& version : item.chain) {
    const std::string line = fmt::format(
        "  {} {}  {}  {}{}", version.holds ? "holds" : "was  ", format_minute(version.at),
        printable(version.value), version.session_id,
        version.trust < 1 ? fmt::format("  trust {:.2f}", version.trust) : std::string());
    tool.out().print("{}\n", version.holds ? tool.style().green(line) : tool.style().faint(line));
  }
}

void print_item(Tool& tool, const KnowledgeItem& item) {
  std::string name(category_name(item.category));
  if (!item.key.empty()) {
    name += " " + printable(item.key);
  }
  tool.out().print("{}  {}\n", tool.style().bold(name), tool.style().faint(origin_text(item)));
  tool.out().print("  {}\n", printable(item.value));
  if (item.contradicted) {
    print_chain(tool, item);
  }
}

}  // namespace

Result<std::optional<Category>> read_category(const Arguments& args) {
  const std::optional<std::string_view> name = args.maybe("category");
  if (!name) {
    return std::optional<Category>();
  }
  if (const std::optional<Category> category = try_parse_category(*name)) {
    return category;
  }
  const std::string_view meant = nearest_word(*name, kCategoryNames);
  return Error{.code = ErrorCode::E_INVALID_QUERY,
               .message = fmt::format(
                   "\"{}\" is no category{}; there are {}", printable(*name),
                   meant.empty() ? std::string() : fmt::format(", did you mean {}?", meant),
                   fmt::join(kCategoryNames, ", ")),
               .field = "category"};
}

Result<double> read_share(const Arguments& args, std::string_view name, double fallback) {
  const std::optional<std::string_view> text = args.maybe(name);
  if (!text) {
    return fallback;
  }
  double share = -1;
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), share);
  if (failure != std::errc() || end != text->data() + text->size() || !(share >= 0 && share <= 1)) {
    return Error{
        .code = ErrorCode::E_INVALID_QUERY,
        .message = fmt::format("\"{}\" is no number from 0 to 1, such as 0.8", printable(*text)),
        .field = std::string(name)};
  }
  return share;
}

void write_item(JsonWriter& json, const KnowledgeItem& item) {
  json.begin_object().member("category", category_name(item.category));
  add_text(json, "key", item.key);
  json.member("value", item.value).member("id", item.id).member("session_id", item.session_id);
  json.member("type", entry_type_info(item.type).name);
  add_text(json, "agent_id", item.agent_id);
  json.member("confidence", item.confidence).member("trust", item.trust);
  add_text(json, "source", item.source_kind);
  json.member("score", item.score).member("access_count", item.access_count);
  json.member("created_at", format_rfc3339(item.created_at));
  json.member("updated_at", format_rfc3339(item.updated_at));
  add_list(json, "tags", item.tags);
  json.member("pinned", item.pinned).member("sensitive", item.sensitive);
  add_text(json, "review", review_name(item.review));
  json.member("contradicted", item.contradicted);
  write_chain(json, item);
  json.end_object();
}

void print_items(Tool& tool, std::span<const KnowledgeItem> items) {
  for (const KnowledgeItem& item : items) {
    if (!tool.json()) {
      print_item(tool, item);
      continue;
    }
    JsonWriter json;
    write_item(json, item);
    tool.out().print("{}\n", json.text());
  }
}

void print_remembered(Tool& tool, std::span<const Remembered> all) {
  for (const Remembered& each : all) {
    if (tool.json()) {
      JsonWriter json;
      json.begin_object().member("id", each.id).member("session_id", each.session_id);
      json.member("category", category_name(each.category));
      add_text(json, "key", each.key);
      json.member("value", each.value).member("confidence", each.confidence);
      json.member("new", each.is_new).member("holds", each.holds);
      add_text(json, "previous_value", each.previous_value);
      if (!each.notices.empty()) {
        add_list(json, "notices", each.notices);
      }
      tool.out().print("{}\n", json.end_object().text());
      continue;
    }
    tool.out().print("{}\n", each.id);
    if (!each.holds) {
      tool.note(fmt::format("{}: noted, but a value that is trusted more still holds",
                            printable(each.key)));
    } else if (!each.previous_value.empty()) {
      tool.note(fmt::format("{}: was \"{}\"", printable(each.key), printable(each.previous_value)));
    }
    for (const std::string& notice : each.notices) {
      tool.note(notice);
    }
  }
}

}  // namespace bmad_mem::cli
