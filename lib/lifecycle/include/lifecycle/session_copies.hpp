// session_copies.hpp - what there is of a session's entries outside its logs: evicted, kept and
// deleted lines, its archive, and sessions of its name that were deleted as a whole.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "store/deletion_record.hpp"
#include "store/evicted_file.hpp"
#include "store/line_encryption.hpp"
#include "store/session_archive.hpp"

namespace bmad_mem {

struct Store;

// Which entries a deletion means.

/// Opens what is encrypted in one session, for criteria that ask for words.
struct EncryptedWords {
  EncryptedWords(const Store& store, std::string session);

  std::string session_id;
  std::unique_ptr<LineOpener> opener;                  ///< Null without any key.
  std::set<std::pair<EntryType, std::string>> closed;  ///< Entries that could not be looked into.
  JsonParser parser;
};

/// Whether one line answers to the criteria, but for sessions: those are chosen before.
class EntryMatcher {
 public:
  /// `criteria` and `encrypted` must outlive the matcher. Without `encrypted` no encrypted line has
  /// words.
  explicit EntryMatcher(const DeletionCriteria& criteria, EncryptedWords* encrypted = nullptr);

  /// Whether `entry`, parsed from `text`, answers to all that is given.
  [[nodiscard]] bool matches(EntryType type, JsonValue entry, std::string_view text) const;

 private:
  [[nodiscard]] bool has_words(EntryType type, JsonValue entry, std::string_view text) const;

  const DeletionCriteria& criteria_;
  EncryptedWords* encrypted_;
};

/// Whether `needle` stands in a string, a key or a number of `value`, or in `text` as it is
/// written.
bool holds_text(JsonValue value, std::string_view text, std::string_view needle);

/// What a purge is about, grown while its ids are found.
class PurgeTarget {
 public:
  /// As EntryMatcher().
  explicit PurgeTarget(const DeletionCriteria& criteria, EncryptedWords* encrypted = nullptr)
      : criteria_(criteria), matcher_(criteria, encrypted) {}

  void add(std::string_view id) { ids_.emplace(id); }
  void add_all(std::span<const std::string> ids) { ids_.insert(ids.begin(), ids.end()); }
  [[nodiscard]] const std::set<std::string, std::less<>>& ids() const { return ids_; }

  /// Adds the id of `line`, an entry, if it answers to the criteria.
  void note(EntryType type, std::string_view line);
  /// Whether the entry in `line` is to go.
  [[nodiscard]] bool is_entry(EntryType type, std::string_view line);
  /// Whether `entry` is a candidate of an entry that is to go: it has its words.
  [[nodiscard]] bool is_candidate_of(EntryType type, JsonValue entry) const;
  /// Whether a line that is no entry (quarantine, summary, access, a damaged one) speaks of it.
  [[nodiscard]] bool is_named_in(std::string_view line) const;
  /// Whether one of the ids stands in `text`: as a whole, so that a1 is not in "a10".
  [[nodiscard]] bool is_id_in(std::string_view text) const;
  /// Whether `line` holds the text that is looked for.
  [[nodiscard]] bool is_text_in(std::string_view line) const;
  /// Whether `name` is "artifacts/{id}.md" of an entry that is to go.
  [[nodiscard]] bool is_artifact(std::string_view name) const;

 private:
  [[nodiscard]] bool is_id(std::string_view token) const;

  const DeletionCriteria& criteria_;
  EntryMatcher matcher_;
  std::set<std::string, std::less<>> ids_;
  JsonParser parser_;
};

/// What is to stand in the place of a line; nothing: it stays.
using LineChange = std::function<std::optional<std::string>(EntryType type, std::string_view line)>;
/// Changes the bytes of the session's file `name` ("facts.jsonl", "artifacts/a1.md"); returns how
/// many lines are others then.
using FileChange = std::function<std::uint64_t(std::string_view name, std::string& bytes)>;

class SessionCopies {
 public:
  /// Reads all copies of session `session_id`; `record` is its record of deletions.
  static Result<SessionCopies> read(FileSystem& files, const std::string& session_id,
                                    const DeletionRecord& record);

  /// Adds to `target` the ids of the entries in them that answer to its criteria.
  void note_ids(PurgeTarget& target) const;
  /// The ids of the lines that count what is in `target`: they name its files.
  [[nodiscard]] std::vector<std::string> ids_of_counts(PurgeTarget& target) const;
  // Both make each file durable; a dry run changes none. They return where lines are others then.
  // The caller holds the root's lock.
  /// Takes the lines of `target` out of all copies.
  Result<std::vector<FileCount>> purge(FileSystem& files, bool dry_run, PurgeTarget& target);
  /// Changes the entries among the copies with `change_line`, and whole files, which are in the
  /// archive and in deleted sessions, with `change_file`.
  Result<std::vector<FileCount>> rewrite(FileSystem& files, bool dry_run,
                                         const LineChange& change_line,
                                         const FileChange& change_file);

 private:
  template <typename ChangeLines>
  Result<std::vector<FileCount>> change(FileSystem& files, bool dry_run,
                                        const ChangeLines& change_lines,
                                        const FileChange& change_file, const PurgeTarget* purged);
  Status change_archive(FileSystem& files, bool dry_run, const FileChange& change,
                        const PurgeTarget* purged, std::vector<FileCount>& counts);
  Status change_deleted_sessions(FileSystem& files, bool dry_run, const FileChange& change,
                                 const PurgeTarget* purged, std::vector<FileCount>& counts);
  Status read_deleted_sessions(FileSystem& files, const DeletionRecord& record);
  Status drop_retained(FileSystem& files);

  std::string session_id_;
  std::vector<EvictedLine> evicted_;
  std::vector<EvictedLine> kept_;
  std::vector<DeletedLine> deleted_;
  std::vector<ArchivedFile> archived_;
  std::vector<std::pair<std::string, ArchivedFile>> deleted_sessions_;  // By path.
};

}  // namespace bmad_mem
