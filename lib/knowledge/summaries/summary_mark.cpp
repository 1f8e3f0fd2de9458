#include "knowledge/summary_mark.hpp"

#include "knowledge/front_matter.hpp"
#include "store/layout.hpp"

namespace bmad_mem {

std::string last_summarized_id(FileSystem& files, std::string_view session_id) {
  constexpr std::uint64_t kMarkedSizeMax = 16U << 20U;
  const Result<std::string> text =
      read_file(files, session_file(session_id, kSummaryName), kMarkedSizeMax);
  return text ? FrontMatter(*text).value(kLastSummarizedId) : std::string();
}

}  // namespace bmad_mem
