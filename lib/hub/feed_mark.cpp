#include "feed_mark.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"

namespace bmad_mem {

FeedMark mark_of(const FeedRow& row) {
  return {.seq = row.seq,
          .hash = xxh3(fmt::format("{} {} {} {} {} {}", row.replica, static_cast<int>(row.op),
                                   row.session_id, static_cast<int>(row.log), row.target,
                                   row.entry_id))};
}

Status check_feed(Hub& hub, const MirrorState& state) {
  if (state.mark.seq == 0) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<FeedRow> rows, hub.rows(std::array{state.mark.seq}));
  if (rows.size() != 1 || mark_of(rows.front()) != state.mark) {
    return restored_hub(state.mark.seq - 1, state.cursor);
  }
  return {};
}

Error restored_hub(std::uint64_t head, std::uint64_t cursor) {
  return {
      .code = ErrorCode::E_STORAGE_CORRUPT,
      .message = fmt::format(
          "the hub has {} rows at most of the {} that this memory has applied: it was restored "
          "from a backup; nothing was changed; `bmad-mem hub repush` gives it back what it lost",
          head, cursor)};
}

}  // namespace bmad_mem
