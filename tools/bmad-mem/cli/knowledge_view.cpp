#include <string>

#include <fmt/format.h>

#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
Result<std::optional<Category>> read_category(const Arguments& args) {
  const std::optional<std::string_view> name = args.maybe("category");
  if (!name) {
    return std::optional<Category>();
  }
  if (const std::optional<Category> category = try_parse_category(*name)) {
    return category;
  }
  const std::string_view meant = nearest_word(*name, kCategoryNames);
  return bad_value(
      "category",
      fmt::format("\"{}\" is no category{}; there are {}", printable(*name),
                  meant.empty() ? std::string() : fmt::format(", did you mean {}?", meant),
                  fmt::join(kCategoryNames, ", ")));
}

Result<double> read_share(const Arguments& args, std::string_view name, double fallback) {
  return read_number(args, name, fallback, "a number from 0 to 1, such as 0.8", 0.0, 1.0);
}

void print_items(Tool& tool, std::span<const KnowledgeItem> items) {
  if (tool.json()) {
    print_objects(tool, shape::item, items);
    return;
  }
  describe(tool, "items", "all", shaped(shape::shown_item, items));
}

void print_remembered(Tool& tool, std::span<const Remembered> all) {
  show_all(tool, "remembered", shape::remembered_line, all);
}

void print_context(Tool& tool, const Context& context, std::optional<Timestamp> as_of) {
  const ContextGate& gate = context.gate;
  const auto shown_gate = gate.needed > 0 || gate.is_dialogue ? std::optional(gate) : std::nullopt;
  show(tool, "context",
       object_of("as_of", as_of, shaped(shape::context, context), "gate",
                 shaped(shape::gate, shown_gate), "items",
                 shaped(shape::context_item, context.items), "omitted",
                 shaped(shape::omission, context.omitted)));
}

void print_summary_update(Tool& tool, const SummaryUpdate& update) {
  show(tool, "summary_update",
       object_of(
           "session_id", update.session_id, [&](JsonWriter& json) { write_members(update, json); },
           "redacted", update.redacted));
}

}  // namespace bmad_mem::cli
