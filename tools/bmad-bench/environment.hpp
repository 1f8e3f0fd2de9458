// environment.hpp - where the numbers come from: without it a number says nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::bench {

struct Environment {
  /// ("cpu", "Intel Xeon ..."), in the order in which they are shown.
  std::vector<std::pair<std::string, std::string>> facts;
  /// Reasons not to quote the numbers: asserts are on, the folder is in memory, the machine is
  /// busy.
  std::vector<std::string> warnings;
};

/// Of this machine and this build; `folder` must exist: its file system is what is measured.
Environment environment_of(const std::string& folder);

std::string environment_text(const Environment& environment);
void write_environment(JsonWriter& json, const Environment& environment);

}  // namespace bmad_mem::bench
