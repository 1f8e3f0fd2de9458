#include "cli/times.hpp"

#include <optional>
#include <string>

#include <fmt/core.h>

namespace bmad_mem::cli {

Result<Timestamp> parse_time(std::string_view text, Timestamp now, RangeEnd end,
                             std::string_view field) {
  if (const std::optional<QueryTime> time = QueryTime::try_parse(text, end)) {
    return time->at(now);
  }
  return Error{.code = ErrorCode::E_INVALID_QUERY,
               .message = fmt::format("'{}' is no time; write {}", text, QueryTime::kForms),
               .field = std::string(field)};
}

}  // namespace bmad_mem::cli
