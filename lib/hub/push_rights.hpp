// push_rights.hpp - which rows of the feed a role may push, and what waits since it may not.
#pragma once

#include <span>
#include <string_view>

#include "bmad_mem/hub.hpp"

namespace bmad_mem {

/// Whether a role with the rights HubHead::rights may push a row with this operation.
inline bool may_push(std::string_view rights, FeedOp op) {
  const bool forgets = op == FeedOp::kPurge || op == FeedOp::kRedact;
  return rights != "read" && (rights != "write" || !forgets);
}

/// Counts rows that wait and, when they `are_pushed`, the others.
inline void count_rows(std::span<const FeedRow> rows, bool are_pushed, SyncReport& report) {
  for (const FeedRow& row : rows) {
    const bool is_line = row.op == FeedOp::kLine;
    if (!may_push(report.rights, row.op)) {
      ++(is_line ? report.waiting_lines : report.waiting_operations);
    } else if (are_pushed) {
      ++(is_line ? report.pushed_lines : report.pushed_operations);
    }
  }
}

}  // namespace bmad_mem
