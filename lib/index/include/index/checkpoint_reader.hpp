// checkpoint_reader.hpp - index.json, searched in place. Its format is drawn in
// checkpoint_format.hpp.
//
// Everything is checked before it is believed; what does not hold is E_STORAGE_CORRUPT, and the
// caller indexes the session anew. Read with pread and not mapped: a first touch of a mapped page
// costs 2.4 us, and a file that is cut short under a mapping kills the reader.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "core/file_system.hpp"
#include "index/entry_columns.hpp"
#include "index/log_cover.hpp"
#include "index/memtable.hpp"
#include "index/slot_table.hpp"

namespace bmad_mem {

enum class Section : std::uint8_t;

/// The last live entry of each conversation, by its id.
using ConversationEnds = std::map<std::string, Ordinal, std::less<>>;

/// What ranking wants to know of a session as a whole. It counts all versions, live or not.
struct SessionFacts {
  std::vector<std::string> participants;  ///< Who spoke in its conversations; sorted.
  bool has_user = false;                  ///< Messages with role user; so for the next.
  bool has_assistant = false;
  Timestamp newest{};  ///< Latest timestamp; 1970 without entries.
};

/// Threads: safe; all calls are const and read the file with pread.
class CheckpointReader {
 public:
  /// Opens the checkpoint of session `session_id`.
  /// Errors: E_STORAGE_CORRUPT when it is none, one of another session, of another version, or of
  /// an analyzer for another language; as the file system's, is_not_found() among them.
  static Result<std::unique_ptr<CheckpointReader>> open(FileSystem& files,
                                                        const std::string& session_id,
                                                        std::string_view language);
  ~CheckpointReader();

  /// Once: of ten thousand readers each would keep half a kilobyte that nobody asks for again.
  [[nodiscard]] LogCovers take_covers();
  [[nodiscard]] const SessionFacts& facts() const;
  [[nodiscard]] Ordinal entry_count() const;
  [[nodiscard]] std::uint32_t tombstone_count() const;
  [[nodiscard]] std::uint64_t file_size() const;

  /// Appends the postings of `key`, tombstones among them, to `out`; nothing for an unknown key.
  Status postings(PostingKind kind, std::string_view key, std::vector<Posting>& out) const;

  /// Calls `use(key, list)` for all keys from `first` on, ascending, until it says false. The list
  /// is text for decode_postings().
  using UseKey = std::function<bool(std::string_view key, std::string_view list)>;
  Status keys(PostingKind kind, std::string_view first, const UseKey& use) const;

  /// Fills lengths, flags, odd and, where some entry doesn't follow the ordinal before it,
  /// previous.
  Status load_columns(EntryColumns& columns) const;
  Status load_odd(std::map<Ordinal, OddEntry>& odd) const;
  /// What build_slots() would give for the columns.
  Result<SlotTable> slots() const;
  /// For timestamp_at().
  Result<std::string> timestamps() const;
  /// What is needed besides to add entries behind these: id_hashes, timestamps; previous in any
  /// case.
  Status load_for_growth(EntryColumns& columns, ConversationEnds& conversation_ends) const;
  Result<std::vector<std::uint32_t>> id_hashes() const;
  Result<EntryRow> row(Ordinal ordinal) const;

  /// The bytes of a section, checked where it has a hash.
  Result<std::string> section(Section section) const;

 private:
  struct Impl;
  explicit CheckpointReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bmad_mem
