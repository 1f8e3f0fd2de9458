// scratch_folder.hpp - a temporary folder, and the folder of the programs that belong together.
#pragma once

#include <string>

#include "bmad_mem/result.hpp"

namespace bmad_mem::bench {

/// Goes away with all that is in it. A forked child must leave by _exit.
class ScratchFolder {
 public:
  ScratchFolder() = default;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  Status make_in(const std::string& directory);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Where this program lies, and with it the helper programs of the build; "." when unknown.
std::string folder_of_this_program();

}  // namespace bmad_mem::bench
