#include "jsonl_file.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace bmad_mem {

std::string repository_file(std::string_view path) {
  const std::string full_path = std::string(BMAD_SOURCE_DIR) + "/" + std::string(path);
  std::ifstream file(full_path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    throw std::runtime_error("cannot read " + full_path);
  }
  return text.str();
}

std::vector<std::string> repository_lines(std::string_view path) {
  const std::string text = repository_file(path);
  if (text.empty() || text.back() != '\n') {
    throw std::runtime_error(std::string(path) + " does not end in a line break");
  }
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace bmad_mem
