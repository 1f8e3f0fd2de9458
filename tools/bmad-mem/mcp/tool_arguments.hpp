// tool_arguments.hpp - the arguments of a tool's call, checked as they are read.
//
//   ToolArguments args(value, {"query", "limit"});
//   const std::string query = args.required_text("query");
//   const std::int64_t limit = args.integer("limit", 10, 1, 50);
//   BMAD_TRY(args.check());          // The first thing that was wrong, for a model to mend.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

class ToolArguments {
 public:
  /// `names` are all that there are: another one is a mistake, and the nearest is named.
  ToolArguments(JsonValue object, std::initializer_list<std::string_view> names);

  // Each gives the fallback when the argument is absent or null, or isn't what it should be.

  std::string text(std::string_view name);
  /// Not blank.
  std::string required_text(std::string_view name);
  std::int64_t integer(std::string_view name, std::int64_t fallback, std::int64_t min,
                       std::int64_t max);
  std::optional<double> share(std::string_view name);  ///< 0 to 1.
  bool boolean(std::string_view name);
  /// An array of strings; one string counts as an array of one. At most `count_max`.
  std::vector<std::string> texts(std::string_view name, std::size_t count_max);
  /// One of `choices`; empty when absent.
  std::string choice(std::string_view name, std::span<const std::string_view> choices);
  JsonValue value(std::string_view name) const { return object_[name]; }

  /// Notes a problem of the caller's own.
  void fail(std::string_view name, std::string message);
  /// Errors: E_INVALID_QUERY with the argument as field.
  [[nodiscard]] Status check() const;

 private:
  /// The value, unless it is absent or null.
  [[nodiscard]] std::optional<JsonValue> given(std::string_view name) const;

  JsonValue object_;
  std::optional<Error> problem_;
};

}  // namespace bmad_mem::cli
