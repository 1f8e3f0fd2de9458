// exports.hpp - reading a whole memory, or what a filter chooses of it, entry by entry.
//
//   session s1 (oldest)   on_session  on_entry  on_entry  ...  on_session_end
//   session s2            on_session  on_entry  ...            on_session_end
//
// One session is in memory at a time. Its entries come in order of time. With all versions the
// order within a log wins, where it is another one: writing them down as they come makes the same
// logs again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

struct ExportOptions {
  /// Which entries, by their latest version; but one that was ever marked as sensitive counts as
  /// such. `limit` and `archived` are passed over.
  EntryFilter filter = {};
  /// Archived sessions, too: they come as a whole. Without it they are left out, and named.
  bool archived = false;
  /// Every version of the entries that pass; otherwise the latest of each.
  bool all_versions = false;
};

/// Who takes in what is exported. An error that a call returns ends the export with that error.
class ExportVisitor {
 public:
  ExportVisitor() = default;
  ExportVisitor(const ExportVisitor&) = delete;
  ExportVisitor& operator=(const ExportVisitor&) = delete;
  virtual ~ExportVisitor() = default;

  /// A session begins. One without entries comes too, unless the filter chooses entries. `problem`
  /// is set when its manifest can't be read: then only its id is known.
  virtual Status on_session(const Session& /*session*/) { return {}; }
  /// Entry::versions is the number of this version when all of them come.
  virtual Status on_entry(const Entry& entry) = 0;
  virtual Status on_session_end() { return {}; }
  /// Something could not be read: a damaged line (path, line, column), a manifest, a session.
  virtual void on_problem(const Error& problem) = 0;
  /// `done` of about `total` bytes are read.
  virtual void on_progress(std::uint64_t /*done*/, std::uint64_t /*total*/) {}
};

struct ExportReport {
  std::uint64_t sessions = 0;
  std::uint64_t entries = 0;    ///< Lines: with all versions, each counts.
  std::uint64_t sensitive = 0;  ///< Of those that pass otherwise; left out if the filter says so.
  std::uint64_t problems = 0;
  std::vector<std::string> archived;  ///< Sessions that were left out as they are archived.
};

/// How people, hosts, addresses and paths become pseudonyms.
struct AnonymizeOptions {
  std::vector<std::string> sessions = {};  ///< All when empty.
  /// The same key gives the same pseudonyms. Random for each call when absent.
  std::optional<std::array<unsigned char, 16>> key = {};
  /// The folder of the project, absolute: what lies below it keeps its name. May be empty.
  std::string workspace = {};
  bool all_paths = false;  ///< Below the workspace too.
  bool dry_run = false;    ///< In place: say what would change, and change nothing.
};

/// What may name somebody and stayed.
struct AnonymizeLeft {
  std::string kind;  ///< "name" (two words with capitals), "project", "tag" or "id".
  std::string text;
  std::uint64_t count = 0;
};

struct AnonymizeReport {
  std::uint64_t sessions = 0;
  std::uint64_t entries = 0;   ///< Lines that were looked at.
  std::uint64_t changed = 0;   ///< Lines that are others now.
  std::uint64_t problems = 0;  ///< What can't be read stays as it is.
  /// How many different things got a pseudonym: person, host, email, ip, user (of a home folder),
  /// path.
  std::map<std::string, std::uint64_t> pseudonyms;
  /// Copies that still name everybody: archived, evicted, deleted, and what is no entry.
  std::vector<std::string> untouched;
  std::vector<AnonymizeLeft> left;  ///< For a person's eye, by kind, the most frequent first.
};

}  // namespace bmad_mem
