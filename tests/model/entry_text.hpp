// entry_text.hpp - an entry written in a test, parsed, with the parser that keeps it alive.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/json.hpp"

namespace bmad_mem {

/// Parses `text`; the test stops when it is not JSON.
class EntryText {
 public:
  explicit EntryText(std::string_view text) : value_(parser_.parse(text).value()) {}

  [[nodiscard]] JsonValue value() const { return value_; }

 private:
  JsonParser parser_;
  JsonValue value_;
};

}  // namespace bmad_mem
