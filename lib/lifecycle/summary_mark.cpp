#include "lifecycle/summary_mark.hpp"

#include <algorithm>

#include "storage/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kSummarySizeMax = 16U << 20U;
constexpr std::string_view kKey = "last_summarized_id:";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\"'");
  const std::size_t end = text.find_last_not_of(" \t\r\"'");
  return begin == std::string_view::npos ? "" : text.substr(begin, end - begin + 1);
}

}  // namespace

std::string last_summarized_id(FileSystem& files, std::string_view session_id) {
  const Result<std::string> file =
      read_file(files, session_file(session_id, kSummaryName), kSummarySizeMax);
  if (!file || !file->starts_with("---")) {
    return {};
  }
  std::string_view text = std::string_view(*file).substr(file->find('\n') + 1);
  while (!text.empty() && !text.starts_with("---")) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(kKey)) {
      return std::string(trimmed(line.substr(kKey.size())));
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return {};
}

}  // namespace bmad_mem
