// live_entries.hpp - a table without its superseded entries, for a checkpoint that begins anew.
#pragma once

#include <span>
#include <vector>

#include "session_table.hpp"

namespace bmad_mem {

/// The live entries of a table alone, in the same order: superseded ones need not be kept where
/// nothing old refers to them.
class LiveEntries {
 public:
  explicit LiveEntries(const SessionTable& table) : numbers_(table.columns.size(), kNoOrdinal) {
    Ordinal next = 0;
    for (Ordinal ordinal = 0; ordinal < numbers_.size(); ++ordinal) {
      if ((table.columns.flags[ordinal] & kFlagTombstone) == 0) {
        numbers_[ordinal] = next++;
        add(table.columns, ordinal);
      }
    }
    for (const auto& [id, ordinal] : table.conversation_ends) {
      conversation_ends_.emplace(id, numbers_[ordinal]);
    }
  }

  [[nodiscard]] const EntryColumns& columns() const { return columns_; }
  [[nodiscard]] const ConversationEnds& conversation_ends() const { return conversation_ends_; }

  /// The live ones of `postings`, as they are numbered here. Valid until the next call.
  std::span<const Posting> renumbered(std::span<const Posting> postings) {
    renumbered_.clear();
    for (const Posting& posting : postings) {
      if (numbers_[posting.ordinal] != kNoOrdinal) {
        renumbered_.push_back(
            {.ordinal = numbers_[posting.ordinal], .frequency = posting.frequency});
      }
    }
    return renumbered_;
  }

 private:
  void add(const EntryColumns& all, Ordinal ordinal) {
    const std::uint32_t back = all.previous[ordinal];
    const std::uint32_t previous = back == 0 ? 0 : numbers_[ordinal] - numbers_[ordinal - back];
    const std::uint32_t flags = all.flags[ordinal] & ~std::uint32_t{kFlagFollows};
    columns_.lengths.push_back(all.lengths[ordinal]);
    columns_.flags.push_back(flags | (previous == 1 ? kFlagFollows : 0U));
    columns_.previous.push_back(previous);
    columns_.timestamps.push_back(all.timestamps[ordinal]);
    columns_.id_hashes.push_back(all.id_hashes[ordinal]);
    columns_.rows.push_back(all.rows[ordinal]);
    if (const auto odd = all.odd.find(ordinal); odd != all.odd.end()) {
      columns_.odd.emplace(numbers_[ordinal], odd->second);
    }
  }

  std::vector<Ordinal> numbers_;  // By the table's ordinal; kNoOrdinal for tombstones.
  EntryColumns columns_;
  ConversationEnds conversation_ends_;
  std::vector<Posting> renumbered_;
};

}  // namespace bmad_mem
