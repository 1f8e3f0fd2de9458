// tool_arguments.hpp - what calls an operation, as JSON: the arguments of a tool; the parameters
// and the body of a request.
//
//   JsonParameter rows ──> ToolArguments args(value, rows);   checks all of it
//   BMAD_TRY(args.check());                  // The first thing that was wrong, for a model to
//   mend. const std::string query = args.text("query");
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "cli/filters.hpp"

namespace bmad_mem::cli {

/// What a member may be. `null` counts as absent.
enum class ArgumentKind : std::uint8_t {
  kText,    ///< A string; one that is required must not be blank.
  kTexts,   ///< An array of `min` to `max` strings; one string counts as an array of one.
  kNumber,  ///< A whole number, `min` to `max`. Models write 5.0 as well.
  kShare,   ///< A number from 0 to 1.
  kFlag,    ///< true or false.
  kChoice,  ///< One of `choices`.
  kTime,    ///< As --since takes it: RFC 3339, a date, 7d. A day of "since" begins, others end it.
  kTypes,   ///< As kTexts, of types of entries, or "facts" or "all".
  kJson,    ///< Anything; the operation checks it.
};

/// A row of the operation table, for the members of JSON.
// In the order in which one reads a declaration:
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): eight bytes of a constant.
struct JsonParameter {
  std::string_view name;
  std::string_view key = {};  ///< Its name in the table, which all interfaces share.
  ArgumentKind kind = ArgumentKind::kText;
  bool required = false;
  bool not_empty = false;  ///< An empty text is a mistake, and not the same as none.
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
  /// Times count from `now`.
  explicit ToolArguments(Timestamp now) : now_(now) {}
  ToolArguments(JsonValue object, std::span<const JsonParameter> parameters)
      : ToolArguments(system_clock().now()) {
    add(object, parameters);
  }

  /// Checks every member of `object`, which is looked at besides those from before: another one
  /// than `parameters` is a mistake, and the nearest is named.
  void add(JsonValue object, std::span<const JsonParameter> parameters);

  // Each gives the fallback of its row when the member is absent, empty or wrong, and nothing for
  // what this interface does not take. `name` is that of the row, or its key.

  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  /// The text as a list of one; an empty list without it.
  [[nodiscard]] std::vector<std::string> listed(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const {
    return static_cast<std::size_t>(integer(name));
  }
  [[nodiscard]] std::optional<double> share(std::string_view name) const;
  [[nodiscard]] bool boolean(std::string_view name) const;
  /// Each type once.
  [[nodiscard]] std::vector<EntryType> types(std::string_view name) const;
  /// Counted from "as_of", where that is given.
  [[nodiscard]] std::optional<Timestamp> time(std::string_view name) const;
  /// The member as it is; absent without one.
  [[nodiscard]] JsonValue value(std::string_view name) const;
  /// What the interface calls the parameter `key`; empty when it does not take it.
  [[nodiscard]] std::string_view name_of(std::string_view key) const {
    return lookup(key).first.name;
  }
  [[nodiscard]] Timestamp now() const { return now_; }

  /// Errors: E_INVALID_QUERY with the argument as field.
  [[nodiscard]] Status check() const;

 private:
  struct Part {
    JsonValue object;
    std::span<const JsonParameter> parameters;
  };
  /// The row of `name`, and the member; without them, an empty row.
  [[nodiscard]] std::pair<JsonParameter, JsonValue> lookup(std::string_view name) const;
  void check_value(const JsonParameter& parameter, JsonValue value);
  void fail(std::string_view name, std::string message);

  Timestamp now_;
  std::vector<Part> parts_;
  std::optional<Error> problem_;
};

// What several interfaces read alike.

/// How far what a web page claims is trusted: not enough to be told as a fact.
inline constexpr double kWebReliability = 0.3;

/// The link that `from`, `relation`, `to`, `remove` and `session_id` name.
LinkRequest read_link(const ToolArguments& args);
/// The statement to remember.
RememberParams read_statement(const ToolArguments& args);
ContextOptions read_context_options(const ToolArguments& args);
RecallOptions read_recall_options(const ToolArguments& args);
/// What `limit` and `offset` say.
inline Page page_of(const ToolArguments& args) {
  return {.offset = args.count("offset"), .limit = args.count("limit")};
}
/// Sessions, types, times and the like by which entries are chosen, as far as the interface takes
/// them. Errors: E_INVALID_QUERY for a field that entries don't have.
Result<EntryFilter> read_entry_filter(const ToolArguments& args);

}  // namespace bmad_mem::cli
