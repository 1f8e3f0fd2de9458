#include "cli/filters.hpp"

#include <charconv>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/field_filters.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "cli/times.hpp"

namespace bmad_mem::cli {
namespace {

Result<std::size_t> read_limit(std::string_view text) {
  std::size_t limit = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (problem != std::errc() || stop != text.data() + text.size()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("'{}' is no number of entries; write 0 for all", text),
                 .field = "limit"};
  }
  return limit;
}

}  // namespace

ArchivedSessions archived_choice(std::string_view text) {
  if (text == "no") {
    return ArchivedSessions::kWithout;
  }
  return text == "only" ? ArchivedSessions::kOnly : ArchivedSessions::kWith;
}

Result<std::optional<Timestamp>> read_as_of(const Arguments& args, Timestamp now) {
  const auto text = args.maybe("as-of");
  if (!text) {
    return std::optional<Timestamp>();
  }
  BMAD_TRY_ASSIGN(const Timestamp time, parse_time(*text, now, RangeEnd::kUntil, "as-of"));
  return std::optional(time);
}

Result<EntryFilter> read_filter(const Arguments& args, Timestamp now) {
  const auto texts = [&](std::string_view name) {
    const std::span<const std::string> values = args.all(name);
    return std::vector<std::string>(values.begin(), values.end());
  };
  EntryFilter filter;
  filter.sessions = texts("session");
  filter.tags = texts("tag");
  filter.agents = texts("agent");
  filter.pinned_only = args.has("pinned");
  filter.without_sensitive = args.has("no-sensitive");
  filter.archived = archived_choice(args.value("archived"));
  for (const std::string& name : args.all("type")) {
    Result<EntryType> type = parse_entry_type(name);
    if (!type) {
      Error error = std::move(type).error();
      error.code = ErrorCode::E_INVALID_QUERY;
      return error;
    }
    filter.types.push_back(*type);
  }
  for (const std::string& text : args.all("where")) {
    Result<FieldFilter> field = parse_field_filter(text);
    if (!field) {
      Error error = std::move(field).error();
      error.field = "where";
      return error;
    }
    filter.fields.push_back(*std::move(field));
  }
  BMAD_TRY_ASSIGN(filter.as_of, read_as_of(args, now));
  now = filter.as_of.value_or(now);
  if (const auto text = args.maybe("since")) {
    BMAD_TRY_ASSIGN(filter.since, parse_time(*text, now, RangeEnd::kSince, "since"));
  }
  if (const auto text = args.maybe("until")) {
    BMAD_TRY_ASSIGN(filter.until, parse_time(*text, now, RangeEnd::kUntil, "until"));
  }
  if (filter.since && filter.until && *filter.until < *filter.since) {
    return Error{
        .code = ErrorCode::E_INVALID_QUERY,
        .message = fmt::format("the range ends ({}) before it begins ({})",
                               format_rfc3339(*filter.until), format_rfc3339(*filter.since)),
        .field = "until"};
  }
  if (const auto text = args.maybe("limit")) {
    BMAD_TRY_ASSIGN(filter.limit, read_limit(*text));
  }
  return filter;
}

}  // namespace bmad_mem::cli
