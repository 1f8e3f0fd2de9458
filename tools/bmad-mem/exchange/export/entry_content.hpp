// entry_content.hpp - the members of an entry, for formats that show some of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/reports.hpp"

namespace bmad_mem::cli {

/// An entry's JSON, taken apart. `entry` must outlive it.
class EntryContent {
 public:
  explicit EntryContent(const Entry& entry);

  [[nodiscard]] JsonValue operator[](std::string_view key) const { return value_[key]; }
  /// A string as it is, anything else as JSON; empty when there is no such member, or null.
  [[nodiscard]] std::string text(std::string_view key) const;
  /// The strings of a list, or the one string that stands in its place.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  /// What the entry says, in one text.
  [[nodiscard]] std::string main_text() const;

 private:
  const Entry& entry_;
  JsonParser parser_;
  JsonValue value_;
};

}  // namespace bmad_mem::cli
