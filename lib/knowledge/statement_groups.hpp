// statement_groups.hpp - which lines state something about the same: lines to entries, and entries
// to what is about the same.
//
//   lines     s1: a  b  a'  c    s2: d  e      session by session
//   entries   a-a'  b  c  d  e                 by session, type and id
//   groups    a-a'-d   b-e   c                 by category and key
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/entry_columns.hpp"
#include "store/root_trust.hpp"

namespace bmad_mem {

/// A statement and the session that it is in, by its number.
struct Stated {
  std::uint32_t session = 0;
  const StatementRow* row = nullptr;
};

/// The versions of an entry of a session.
struct StatedEntry {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t first = 0;  ///< Line; so for the next. kNone: they went to another entry.
  std::uint32_t last = 0;
  std::uint32_t next = kNone;    ///< Entry that is about the same.
  std::uint32_t behind = kNone;  ///< Entry of what others have written behind a voice.
  bool speaks = false;           ///< Whether a line of it has a voice.
};

/// Made at once of all lines there are: a few thousand sessions have a hundred thousand.
class StatementGroups {
 public:
  /// `lines` are session by session, and must outlive it. `origins`: who wrote each; without any
  /// all have a voice. What others have written behind the last line with a voice is an entry of
  /// its own. Entries that have expired by `now` are in no group.
  StatementGroups(std::span<const Stated> lines, std::span<const OriginQuery> origins,
                  Timestamp now);

  /// The first entry of each group, in the order of the lines.
  [[nodiscard]] std::span<const std::uint32_t> firsts() const { return firsts_; }
  /// Calls `use(entry, line)` for each line of the group that begins with entry `first`: entry by
  /// entry, and each entry's lines in their order.
  template <typename Use>
  void for_each_line(std::uint32_t first, const Use& use) const {
    for (std::uint32_t number = first; number != StatedEntry::kNone;
         number = entries_[number].next) {
      for (std::uint32_t line = entries_[number].first; line != StatedEntry::kNone;
           line = next_[line]) {
        use(entries_[number], line);
      }
    }
  }

 private:
  void find_entries(std::span<const OriginQuery> origins);
  void add_version(std::uint32_t number, std::uint32_t line, bool speaks);
  void find_groups(Timestamp now);
  [[nodiscard]] const StatementOutline& last_of(std::uint32_t entry) const {
    return lines_[entries_[entry].last].row->outline;
  }

  std::span<const Stated> lines_;
  std::vector<std::uint32_t> next_;  // By line: the next version.
  std::vector<StatedEntry> entries_;
  std::vector<std::uint32_t> firsts_;
};

}  // namespace bmad_mem
