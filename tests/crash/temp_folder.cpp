#include "temp_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "child_process.hpp"

namespace bmad_mem {
namespace fs = std::filesystem;
namespace {

fs::path parent_folder() {
  const char* wanted = std::getenv("BMAD_CRASH_TMP");
  if (wanted != nullptr) {
    return wanted;
  }
  std::error_code error;
  const fs::path memory = "/dev/shm";
  return fs::is_directory(memory, error) ? memory : fs::temp_directory_path();
}

void write_stream(const fs::path& file, std::string_view content, std::ios::openmode mode) {
  std::ofstream stream(file, std::ios::binary | mode);
  stream << content;
  stream.close();
  if (!stream) {
    throw std::runtime_error("cannot write " + file.string());
  }
}

}  // namespace

TempFolder::TempFolder() {
  std::string name = (fs::canonical(parent_folder()) / "bmad-crash-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw_errno("cannot create a folder like " + name);
  }
  path_ = name;
}

TempFolder::~TempFolder() {
  if (std::getenv("BMAD_CRASH_KEEP") == nullptr) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
}

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write_file(const fs::path& file, std::string_view content) {
  write_stream(file, content, std::ios::trunc);
}

void append_file(const fs::path& file, std::string_view content) {
  write_stream(file, content, std::ios::app);
}

Tree read_tree(const fs::path& folder) {
  Tree tree;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_symlink()) {
      tree[name] = fs::read_symlink(entry.path()).string();
    } else if (entry.is_directory()) {
      tree[name + "/"] = "";
    } else {
      tree[name] = read_file(entry.path());
    }
  }
  return tree;
}

}  // namespace bmad_mem
