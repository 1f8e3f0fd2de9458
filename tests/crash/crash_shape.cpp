#include "crash_shape.hpp"

#include <algorithm>
#include <cctype>

namespace bmad_mem {
namespace {

std::string without_chance(std::string text) {
  const auto is_by_chance = [](char c) {  // What base64url has, too.
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  };
  std::ranges::replace_if(text, is_by_chance, 'x');
  return text;
}

}  // namespace

std::string state_shape(const CrashEvidence& evidence) {
  const ChildResult& process = evidence.process();
  std::string shape = std::to_string(process.exit_code) + "/" + std::to_string(process.signal) +
                      "/" + (evidence.failed_to_sync() ? "unsynced/" : "/") +
                      without_chance(process.out) + "/";
  for (const std::size_t count : evidence.visible_marks()) {
    shape += std::to_string(count) + ",";
  }
  const Tree& prepared = evidence.store().prepared_tree();
  for (const auto& [name, content] : read_tree(evidence.store().folder())) {
    if (name.ends_with(".lock") || name.ends_with(".lock.json") || name.ends_with("index.json")) {
      continue;
    }
    const auto before = prepared.find(name);
    const bool is_same = before != prepared.end() && before->second == content;
    // ArchiveReaderPtr bytes differ by chance in length too.
    const std::string text = name.ends_with(".gz") ? unpacked(content) : content;
    shape += '\0';
    shape += before != prepared.end() ? name : without_chance(name);
    shape += '\0';
    shape += is_same ? "same" : without_chance(text);
  }
  return shape;
}

}  // namespace bmad_mem
