// repair_steps.hpp - what `verify` looks at, part by part.
//
//   sessions/ID     verify.cpp           every line of every log, the manifest, foreign files
//   archive/ID.*    verify_stored.cpp    every file in the archive, its manifest, what was evicted
//   shared/kept/ID  deleted/ID           against the archive; lines, record, whole sessions
//   */ID/audit, quarantine, memories/    line by line; that they can be read
//
// What is derived (indexes, catalog, views, access counts) is no finding: the next read that needs
// it makes it again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "store/entry_scanner.hpp"
#include "store/line_encryption.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Adds findings of one session, or of the root when the id is empty.
class FindingList {
 public:
  FindingList(VerifyReport& report, std::string session_id)
      : report_(report), session_id_(std::move(session_id)) {}

  void add(FindingKind kind, std::string path, std::uint64_t line, std::string reason);
  /// As the error has it.
  void add_as(FindingKind kind, const Error& error);
  /// The same, but kNewerVersion and kUnreadable go before `kind`.
  void add(FindingKind kind, const Error& error);

 private:
  VerifyReport& report_;
  std::string session_id_;
};

/// Opens encrypted lines, and counts them in a report.
class EncryptedCheck {
 public:
  /// Both must outlive it.
  EncryptedCheck(const Store& store, VerifyReport& report);

  /// Why an encrypted line of the session does not open; nothing when it does, or without its key.
  std::optional<Error> problem_of(std::string_view session_id, const ScannedEntry& scanned);
  /// Gives what does not open of the session to `on_damage`.
  template <typename OnDamage>
  auto handler(std::string_view session_id, const OnDamage& on_damage) {
    return [this, session_id, &on_damage](const ScannedEntry& entry) {
      if (const auto problem = problem_of(session_id, entry)) {
        on_damage(encrypted_damage(entry, *problem));
      }
    };
  }
  /// The same of what may be an encrypted document.
  std::optional<Error> problem_of_document(std::string_view session_id, std::string_view text);

 private:
  VerifyReport& report_;
  std::unique_ptr<LineOpener> opener_;  // Null where the key can't be used.
  JsonParser parser_;
};

/// The sessions that something is stored of outside their folders, sorted.
Result<std::vector<std::string>> stored_session_ids(const Store& store);

/// Checks what is stored of a session outside its logs and manifest.
void verify_stored(const Store& store, const std::string& session_id, VerifyReport& report);

/// Checks memories/.
void verify_memories(const Store& store, VerifyReport& report);

/// Names what is in the folders of sessions and of archives and can be neither, such as the copies
/// "s1 (1)" and "s2 (1).tar.gz" of a cloud drive: no command reads them.
void verify_names(const Store& store, VerifyReport& report);

// What git says of the lines of one log: whether it has put them there.
//
//   reflogs of all work trees   commit: …          made here
//                               pull: …, clone: …  brought
//                               rebase …, merge …  a copy: of what was made here before, or brought
//
// A line was brought when any commit that adds it was not made here: in doubt it is from elsewhere.
// Git runs without the programs that a repository may name.

/// The hash of a line as the line hashes have it.
std::uint32_t line_hash(std::string_view line);
/// Without what an editor puts around it: a byte order mark, a carriage return.
std::string_view bare_line(std::string_view line);

class GitLines {
 public:
  /// Of the log at `path`. Asks git, unless the log is in no work tree.
  GitLines(const FileSystem& files, const std::string& path);

  /// Whether the log is in HEAD or in the index.
  [[nodiscard]] bool is_tracked() const { return has_file_ || !head_.empty(); }
  /// Whether a commit has it, of any branch. Asks for the history.
  [[nodiscard]] bool was_tracked();
  /// The hashes of its lines in the index, in order; none while it is unmerged.
  [[nodiscard]] const std::vector<std::uint32_t>& index() const { return index_; }
  [[nodiscard]] bool has_now(std::uint32_t line) const { return now_.contains(line); }
  /// Whether an unfinished merge has `line` in its base, and not in both of its sides.
  [[nodiscard]] bool is_removed_by_side(std::uint32_t line) const;
  /// The lines that a commit adds. Asks for the history.
  [[nodiscard]] std::vector<std::uint32_t> history();

  /// Whether git has put `line` there. Asks for the history; when that takes too long, what HEAD
  /// or the index has was brought.
  [[nodiscard]] bool brought(std::uint32_t line);
  /// Whether a commit that was made here since `time_s` removes `line`, or moves it.
  [[nodiscard]] bool is_removed_here(std::uint32_t line, std::int64_t time_s);
  /// A line that HEAD, the index or a commit has.
  [[nodiscard]] std::optional<std::string> text_of(std::uint32_t line);

 private:
  /// What the reflogs say first of a commit.
  struct Made {
    std::int64_t time_s = 0;
    std::size_t place = 0;  ///< Of equal times.
    bool is_made = false;
  };

  [[nodiscard]] std::optional<std::string> ask(const std::vector<std::string>& words,
                                               std::string_view input = {}) const;
  void add_now(std::string_view text, std::vector<std::uint32_t>& lines);
  void read_reflogs();
  void read_history();

  std::string folder_;
  std::string name_;
  bool has_file_ = false;
  bool is_converted_ = false;  // Between what git stores and the file.
  std::vector<std::uint32_t> head_;
  std::vector<std::uint32_t> index_;
  std::array<std::vector<std::uint32_t>, 4> stages_;  // Of an unfinished merge, by number.
  std::unordered_set<std::uint32_t> now_;             // In HEAD or in a stage of the index.
  std::unordered_map<std::uint32_t, std::string> texts_;
  bool has_asked_ = false;
  bool is_complete_ = false;  // The history.
  std::string fetched_;       // Commits, a line each.
  std::map<std::string, Made, std::less<>> commits_;
  std::unordered_map<std::uint32_t, std::vector<std::string>> adders_;
  std::unordered_map<std::uint32_t, std::vector<std::string>> removers_;
};

// What waits for a review, as hand.jsonl in the state folder has it, a line each
// and without the text:
//
//   {"session_id":"s1","type":"fact","change":"changed_line","line":3,"hash":…,"old":…,…}

std::vector<HandEdit> read_edits(std::string_view text);
std::string to_text(std::span<const HandEdit> edits);

/// What may have become of lines, in the order of LineFate.
inline constexpr std::array kLineFindings = {FindingKind::kChangedLine, FindingKind::kLostLine,
                                             FindingKind::kAddedLine, FindingKind::kDoubledLine,
                                             FindingKind::kMovedLine};

/// Records a log as it is now. The caller holds the session's lock.
Status hash_as_it_is(FileSystem& files, const std::string& session_id, const std::string& log_file);

}  // namespace bmad_mem
