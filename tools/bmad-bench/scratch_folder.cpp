#include "scratch_folder.hpp"

#include <stdlib.h>

#include <filesystem>
#include <system_error>

#include "bench_store.hpp"

namespace bmad_mem::bench {

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) {
    std::filesystem::remove_all(path_, ignored);
  }
}

Status ScratchFolder::make_in(const std::string& directory) {
  std::string path = directory + "/bmad-bench-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return system_error("make a folder in", directory);
  }
  path_ = path;
  return {};
}

std::string folder_of_this_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "." : self.parent_path().string();
}

}  // namespace bmad_mem::bench
