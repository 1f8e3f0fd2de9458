// tool_arguments.hpp - the members of a JSON object that calls an operation: the arguments of a
// tool, the body of a request.
//
//   JsonParameter rows ──> ToolArguments args(value, rows);   checks all of it
//   BMAD_TRY(args.check());                  // The first thing that was wrong, for a model to
//   mend. const std::string query = args.text("query");
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/query_time.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

/// What a member may be. `null` counts as absent.
enum class ArgumentKind : std::uint8_t {
  kText,    ///< A string; one that is required must not be blank.
  kTexts,   ///< An array of `min` to `max` strings; one string counts as an array of one.
  kNumber,  ///< A whole number, `min` to `max`. Models write 5.0 as well.
  kShare,   ///< A number from 0 to 1.
  kFlag,    ///< true or false.
  kChoice,  ///< One of `choices`.
  kTime,    ///< As --since takes it.
  kJson,    ///< Anything; the operation checks it.
};

/// A row of the operation table, for the members of JSON.
struct JsonParameter {
  std::string_view name;
  ArgumentKind kind = ArgumentKind::kText;
  bool required = false;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string_view fallback = {};  ///< What holds without it.
  std::span<const std::string_view> choices = {};
};

/// E_INVALID_QUERY with the member as field.
Error bad_argument(std::string_view name, std::string message);

/// Whether `text` is one of `choices`, or another word that parameter `name` understands for one.
bool is_choice(std::string_view name, std::span<const std::string_view> choices,
               std::string_view text);

class ToolArguments {
 public:
  /// Checks every member: another one than `parameters` is a mistake, and the nearest is named.
  ToolArguments(JsonValue object, std::span<const JsonParameter> parameters);

  // Each gives the fallback of its row when the member is absent, empty or wrong.

  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  /// The text as a list of one; an empty list without it.
  [[nodiscard]] std::vector<std::string> listed(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] std::optional<double> share(std::string_view name) const;
  [[nodiscard]] bool boolean(std::string_view name) const;
  /// A time counted from `now`; an error is noted.
  std::optional<Timestamp> time(std::string_view name, RangeEnd end, Timestamp now);
  /// The member as it is; absent without one.
  [[nodiscard]] JsonValue value(std::string_view name) const;

  /// Notes a problem of the caller's own.
  void fail(std::string_view name, std::string message);
  /// Errors: E_INVALID_QUERY with the argument as field.
  [[nodiscard]] Status check() const;

 private:
  void check_value(const JsonParameter& parameter, JsonValue value);
  [[nodiscard]] std::string_view fallback(std::string_view name) const;

  JsonValue object_;
  std::span<const JsonParameter> parameters_;
  std::optional<Error> problem_;
};

/// The link that `from`, `relation`, `to`, `remove` and `session_id` name.
LinkRequest read_link(const ToolArguments& args);

}  // namespace bmad_mem::cli
