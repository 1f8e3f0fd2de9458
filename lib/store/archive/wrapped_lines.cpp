#include "wrapped_lines.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace bmad_mem {

Status for_each_wrapped(std::string_view text, const std::string& display_path,
                        const std::function<Status(const WrappedLine&)>& take) {
  JsonParser parser;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    const Result<WrappedLine> wrapped = unwrap_line(parser, line);
    Status taken = wrapped ? take(*wrapped) : Status(wrapped.error());
    if (!taken) {
      Error error = std::move(taken).error();
      error.code = ErrorCode::E_STORAGE_CORRUPT;
      error.message += "; correct the line, or take it out";
      error.path = display_path;
      error.line = number;
      return error;
    }
  }
  return {};
}

}  // namespace bmad_mem
