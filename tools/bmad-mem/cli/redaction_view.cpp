#include "cli/redaction_view.hpp"

#include "cli/tool.hpp"

namespace bmad_mem::cli {

void add_counts(JsonWriter& json, std::string_view name, const RedactionCounts& counts) {
  json.key(name).begin_object();
  for (const auto& [rule, count] : counts) {
    json.member(rule, count);
  }
  json.end_object();
}

void print_counts(Tool& tool, const RedactionCounts& counts) {
  for (const auto& [rule, count] : counts) {
    tool.out().print("  {}  {}\n", padded_left(format_count(count), 6), rule);
  }
}

}  // namespace bmad_mem::cli
