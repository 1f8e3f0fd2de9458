// front_matter.hpp - the YAML between two lines "---" at the beginning of a Markdown file.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::cli {

struct FrontMatter {
  /// Scalars by name; what stands in a mapping has both names: "metadata.type". A list has a value
  /// for each of its scalars. What is nested deeper is left out.
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  std::string_view body;      ///< What follows; all of it when there is no front matter.
  std::size_t body_line = 1;  ///< The number of its first line.

  /// The first value of `name`; empty when there is none.
  [[nodiscard]] std::string_view text(std::string_view name) const;
};

/// Broken YAML counts as none: then its lines belong to the body.
FrontMatter read_front_matter(std::string_view text);

}  // namespace bmad_mem::cli
