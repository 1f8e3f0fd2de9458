#include "support/temporary_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace bmad_mem::test {

TemporaryDirectory::TemporaryDirectory() {
  const char* parent = std::getenv("TMPDIR");
  path_ = std::string(parent != nullptr && *parent == '/' ? parent : "/tmp") + "/bmad-test-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::runtime_error("cannot make the temporary folder " + path_);
  }
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;  // Nothing more can be done about it here.
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::path(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

void TemporaryDirectory::make_folder(std::string_view name) const {
  std::filesystem::create_directories(path(name));
}

void TemporaryDirectory::write(std::string_view name, std::string_view bytes) const {
  std::ofstream file(path(name), std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  if (!file) {
    throw std::runtime_error("cannot write " + path(name));
  }
}

std::string TemporaryDirectory::read(std::string_view name) const {
  std::ifstream file(path(name), std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + path(name));
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace bmad_mem::test
