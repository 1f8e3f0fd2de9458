// known_statements.hpp - what all sessions state, as the index of the memory has it: only the lines
// of the items that somebody wants are read.
//
//   session   as a segment covers it  -> its rows
//             grown since             -> its rows, and the lines behind them
//             anything else           -> the lines of its two logs
//   rows      --(category, key)-->  outlines  --chosen-->  lines  -->  KnowledgeCollector
//
// Whatever lines an item is made of are given to KnowledgeCollector, in the same order as all lines
// of all logs would be: so it makes of them what it would make of all.
//
// Groups: which lines state something about the same: lines to entries, and entries to what is
// about the same.
//
//   lines     s1: a  b  a'  c    s2: d  e      session by session
//   entries   a-a'  b  c  d  e                 by session, type and id
//   groups    a-a'-d   b-e   c                 by category and key
#pragma once

#include <cassert>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "knowledge/knowledge_item.hpp"
#include "search/entry_columns.hpp"
#include "search/segment.hpp"
#include "search/session_sources.hpp"
#include "store/root_trust.hpp"
#include "store/store.hpp"

namespace bmad_mem {

struct ChosenIndexes;

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
  std::uint32_t next = kNone;  ///< Entry that is about the same.
  std::uint32_t behind =
      kNone;            ///< Entry of what others have written after the statement of an author.
  bool speaks = false;  ///< Whether a line of it has an author here.
};

/// Made at once of all lines there are: a few thousand sessions have a hundred thousand.
class StatementGroups {
 public:
  /// `lines` are session by session, and must outlive it. `origins`: who wrote each; without any
  /// all have an author here. What others have written behind the last line by an author of this
  /// root is an entry of its own. Entries that have expired by `now` are in no group.
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
      assert(number < entries_.size());
      for (std::uint32_t line = entries_[number].first; line != StatedEntry::kNone;
           line = next_[line]) {
        assert(line < next_.size());
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

/// A KnowledgeItem without its texts.
struct ItemOutline {
  Category category = Category::kProjectFact;
  EntryType type = EntryType::kFact;  ///< Of the entry that holds, and so for the next two.
  std::uint32_t session = 0;
  Review review = Review::kNone;
  bool pinned = false;
  bool sensitive = false;
  bool contradicted = false;
  bool proposed =
      false;  ///< Somebody who is no author of this root has stated something else since.
  double confidence = 0;
  double trust = 1;
  Timestamp updated_at{};
  std::uint64_t key_hash = 0;
  std::uint64_t agent_hash = 0;
  std::uint64_t value_hash = 0;
  std::span<const std::uint32_t> chain;  ///< Lines, oldest first.
  std::span<const std::uint32_t> lines;  ///< All that it is made of.

  [[nodiscard]] bool is_reviewed() const { return is_in_force(review); }
  /// No item of Review::kStated is without; some others have it, too.
  [[nodiscard]] bool may_be_stated() const {
    return review == Review::kNone && type == EntryType::kFact && confidence >= kStatedConfidence;
  }
};

/// What something under a key is about: its category and outline_hash() of the key.
using SubjectHashes = std::set<std::pair<Category, std::uint64_t>>;
/// Those about which something holds: candidates, what was dropped and what is of low trust don't
/// count.
SubjectHashes valid_subjects(std::span<const ItemOutline> outlines);
SubjectHashes valid_subjects(std::span<const KnowledgeItem> items);

/// Threads: one.
class KnownStatements {
 public:
  /// Of `wanted` sessions, or of all; archived ones too. `store` must outlive it.
  KnownStatements(const Store& store, std::span<const std::string> wanted)
      : store_(store), wanted_(wanted.begin(), wanted.end()) {}

  /// Looks at the sessions. items() does it where nobody has. With `chosen`, those of all sessions
  /// as somebody has found them just now: nobody looks twice. Errors: as all_knowledge().
  Status gather(const ChosenIndexes* chosen = nullptr);

  /// The items that `choose` chooses, by their numbers in outlines(), as all_knowledge() has them;
  /// some more where the index does not hold. Errors: as all_knowledge().
  using Choose = std::function<std::vector<std::size_t>()>;
  Result<std::vector<KnowledgeItem>> items(const Choose& choose);

  /// items() has proposals too, see KnowledgeCollector.
  void want_proposals() { with_proposals_ = true; }

  /// For `choose`.
  [[nodiscard]] std::span<const ItemOutline> outlines() const { return outlines_; }
  /// What they are made of, session by session.
  [[nodiscard]] std::span<const Stated> lines() const { return lines_; }
  /// Lines of preferences and facts, as items() found them.
  [[nodiscard]] std::size_t statement_count() const { return lines_.size(); }
  [[nodiscard]] const std::string& session_id(std::uint32_t session) const {
    assert(session < sessions_.size());
    return sessions_[session].source.session_id;
  }

 private:
  struct Session {
    SessionSource source;
    bool is_archived = false;
    std::span<const StatementRow> known = {};     // Of a session as a segment has it.
    std::vector<StatementRow> scanned = {};       // Of any other.
    std::shared_ptr<FileSystem> files = nullptr;  // Where its lines are; null: not asked for yet.
  };

  Status choose_and_scan();
  Status take(const ChosenIndexes& chosen);
  Status take_covered(std::vector<std::shared_ptr<SegmentPart>> parts);
  void add_archive(ArchiveReaderPtr archive);
  Status scan_from(std::size_t first);
  Status scan(Session& session) const;
  Status scan_log_of(Session& session, EntryType type, const std::optional<SessionBase>& base,
                     JsonParser& parser) const;
  void list_lines();
  [[nodiscard]] std::vector<OriginQuery> find_origins() const;
  void outline();
  bool is_left(const Error& error);
  Result<std::vector<KnowledgeItem>> read_items(std::span<const std::size_t> chosen);

  const Store& store_;
  std::vector<std::string> wanted_;
  std::set<std::string, std::less<>> by_logs_;  // What the index says of them did not hold.
  bool is_gathered_ = false;
  bool with_proposals_ = false;
  std::vector<std::shared_ptr<SegmentPart>> parts_;  // Have the rows that sessions know.
  std::deque<Session> sessions_;
  std::vector<Stated> lines_;          // Session by session, log by log.
  std::vector<std::uint32_t> chains_;  // Where they are not the lines as they come.
  std::vector<std::uint32_t> line_numbers_;
  std::vector<ItemOutline> outlines_;
};

/// Items that are about these.
Result<std::vector<KnowledgeItem>> known_under_keys(KnownStatements& known,
                                                    const SubjectHashes& subjects);

/// Says of `items`, which wait for a decision, what accepting them would replace.
Status find_replaced(const Store& store, KnownStatements& known, std::span<KnowledgeItem> items);

}  // namespace bmad_mem
