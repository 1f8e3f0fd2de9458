// access_scanner.hpp - the two forms of a line in access.jsonl, read without a JSON parser.
//
// Every query reads these files, and their lines are our own, without blanks and in one order: a
// scan by hand takes a fifth of the time. What is JSON but not in our form, as after an edit by
// hand, goes to the parser.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"

namespace bmad_mem {

/// What one line says: one id or several ones, `count` times each.
struct AccessLine {
  std::vector<std::string_view> ids;
  std::uint64_t count = 1;
  Timestamp last{};
};

/// Reads `text`, a line without its '\n', into `line`, whose buffers are used again. False when it
/// isn't exactly in one of our forms; `line` is then undefined.
bool scan_access_line(std::string_view text, AccessLine& line);

}  // namespace bmad_mem
