// knowledge_view.hpp - what is known and was learned, as the tool prints it.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/knowledge.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// The names of the categories, for help and completion: category_name() as constants.
inline constexpr std::array<std::string_view, kCategoryCount> kCategoryNames = {
    "user_preference", "architecture", "pattern",    "error_solution",
    "project_fact",    "style",        "constraint", "decision"};

/// The value of --category; nothing without one.
/// Errors: E_INVALID_QUERY for any other word, with the nearest.
Result<std::optional<Category>> read_category(const Arguments& args);

/// A number from 0 to 1 behind option `name`; `fallback` without it.
/// Errors: E_INVALID_QUERY with the option as field.
Result<double> read_share(const Arguments& args, std::string_view name, double fallback);

/// An item as one JSON object.
void write_item(JsonWriter& json, const KnowledgeItem& item);

/// Items, two lines each, and below those about which different things were stated, all of that;
/// as JSON an object a line.
void print_items(Tool& tool, std::span<const KnowledgeItem> items);

/// What was remembered: its id, or an object a line; notes say what it changes.
void print_remembered(Tool& tool, std::span<const Remembered> all);

}  // namespace bmad_mem::cli
