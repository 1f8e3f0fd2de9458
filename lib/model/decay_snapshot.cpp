// decay_snapshot.cpp - writing down how far an entry has faded.
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "base/object_text.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "model/decay.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kFactor = "decay_factor";
constexpr std::string_view kInitial = "initial_decay_factor";
constexpr std::string_view kUpdate = "last_decay_update";

/// Four decimals say all that a person wants to know, and keep the lines of a diff short.
std::string factor_text(double factor) {
  constexpr double kScale = 10'000;
  return json_number(std::round(factor * kScale) / kScale);
}

}  // namespace

Result<std::string> with_decay_snapshot(JsonValue entry, std::string_view text, double factor,
                                        Timestamp now) {
  assert(factor >= 0 && factor <= 1);
  if (!entry.is_object()) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "is no JSON object, so it has no decay factor"};
  }
  ObjectText line(entry, text);
  const bool is_first = !line.has(kInitial) && !line.has(kUpdate);
  if (is_first && entry[kFactor].number(1.0) != 1.0) {
    line.set(kInitial, std::string(line.raw(kFactor)));
  }
  line.set(kFactor, factor_text(factor));
  line.set_string(kUpdate, format_rfc3339(now));
  std::string updated = line.to_line();
  if (updated.size() > kEntrySizeMax) {
    return Error{.code = ErrorCode::E_SIZE_LIMIT,
                 .message = fmt::format("{} bytes with its decay factor; an entry may have {}",
                                        updated.size(), kEntrySizeMax)};
  }
  return updated;
}

}  // namespace bmad_mem
