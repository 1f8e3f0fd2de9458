// jsonl_file.hpp - the lines of a file of this repository, for tests that go through all of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

/// The whole file at `path`, relative to the top of the repository. The test stops when there is
/// none.
std::string repository_file(std::string_view path);

/// Its lines, without '\n'. The test stops when the file is empty or does not end in '\n'.
std::vector<std::string> repository_lines(std::string_view path);

}  // namespace bmad_mem
