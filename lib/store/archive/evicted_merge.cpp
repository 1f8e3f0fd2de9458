#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/log_merge.hpp"
#include "store/evicted_file.hpp"
#include "store/gzip.hpp"

namespace bmad_mem {
namespace {

Error refused(const char* side, std::string_view what) {
  return path_error(ErrorCode::E_STORAGE_CORRUPT, side,
                    fmt::format("{}; take the file of one side", what));
}

/// What `text` has behind `base`. Only whole members may be followed by others.
Result<std::string_view> added_behind(std::string_view base, std::string_view text,
                                      const char* side) {
  if (!text.starts_with(base)) {
    return refused(side, "this side has rewritten the file, and not only added to it");
  }
  for (const std::string_view bytes : {base, text}) {
    const Result<WholeMembers> whole = gunzip_whole(bytes, kEvictedSizeMax);
    if (!whole && whole.error().code == ErrorCode::E_SIZE_LIMIT) {
      return whole.error();
    }
    if (!whole || whole->whole_size != bytes.size()) {
      return refused(side, "this side's file is damaged, or its last write was interrupted");
    }
  }
  return text.substr(base.size());
}

}  // namespace

Result<std::string> merge_evicted(std::string_view base, std::string_view ours,
                                  std::string_view theirs) {
  if (ours == theirs || base == theirs) {
    return std::string(ours);
  }
  if (base == ours) {
    return std::string(theirs);
  }
  BMAD_TRY_ASSIGN(std::string_view first, added_behind(base, ours, "ours"));
  BMAD_TRY_ASSIGN(std::string_view second, added_behind(base, theirs, "theirs"));
  if (second < first) {
    std::swap(first, second);  // The same bytes, whoever merges.
  }
  return fmt::format("{}{}{}", base, first, second);
}

}  // namespace bmad_mem
