// installation.hpp - what `git install` and `git uninstall` do to a repository, as a plan first.
//
//   .gitattributes      # bmad-mem: begin
//   of the memory       /sessions/*/*.jsonl merge=bmadmem diff=bmadmem text eol=lf
//                       …
//                       # bmad-mem: end
//   .git/config         merge.bmadmem.driver, merge.bmadmem.name, diff.bmadmem.textconv
//
// The attributes lie in the memory's folder, beside its .gitignore: they go wherever the memory
// goes, and no path in them depends on where in a repository that is. What is not between the marks
// is somebody else's. git takes no program from a repository: each clone has to be told. A section
// that has a name and no driver makes every merge end in a fatal error, so the driver is written
// first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

struct GitSetting {
  std::string key;
  std::string value;
};

/// What stands in the way of the wish, or is as it should be already, is no step.
struct GitPlan {
  std::string repository;       ///< Its top folder.
  std::string attributes_path;  ///< The memory's .gitattributes.
  /// What it will hold; nothing when it stays as it is. Empty text: it goes.
  std::optional<std::string> attributes;
  std::vector<GitSetting> settings;     ///< To be written, in this order.
  std::vector<std::string> sections;    ///< To be removed.
  std::string ignore_path;              ///< The memory's .gitignore.
  std::optional<std::string> ignore;    ///< As `attributes`.
  std::vector<std::string> event_logs;  ///< Below the root: git stops tracking them.
  bool is_ignored = false;              ///< git ignores the memory, so none of this has an effect.

  [[nodiscard]] bool is_empty() const {
    return !attributes && settings.empty() && sections.empty() && !ignore && event_logs.empty();
  }
};

/// How the memory at `root` gets its driver. With `tracks_events` its .gitignore leaves them in.
/// Errors: E_STORAGE_IO without git or a repository.
Result<GitPlan> plan_install(const std::string& root, bool tracks_events);
/// How it loses it. With `keep_attributes` .gitattributes stays as it is.
Result<GitPlan> plan_uninstall(const std::string& root, bool keep_attributes);

/// Whether git is to track events: memory_config.events.track.
bool tracks_events(const MemoryManager& memory);
/// How git stops tracking events; the files stay.
Result<GitPlan> plan_untrack_events(const std::string& root);

/// Does it, the settings first: attributes name nothing that is not there. Errors: E_STORAGE_IO.
Status carry_out(const GitPlan& plan);

// The parts, for tests.

/// `text` with our lines: in the place of those it has, else at its end.
std::string with_attributes(std::string_view text);
/// `text` without our lines.
std::string without_attributes(std::string_view text);

/// Whether a .gitignore of `text` leaves events out, and one that is to do the other.
bool ignores_events(std::string_view text);
std::string with_events_ignored(std::string_view text, bool ignored);

/// The settings, in the order in which they are to be written. `program` is our path, or our name
/// where the PATH leads to us. Both commands do without us when we are gone: git then merges and
/// shows text, and says why.
std::vector<GitSetting> driver_settings(std::string_view program);

// What diff.bmadmem.textconv shows: a log as text that reads well in `git diff`, a paragraph for
// each line.
//
//   2026-01-11 10:10:00  architect  decision dec-1kep8he609d3kfw, version 2
//     Use PostgreSQL
//     rationale: ACID
//
// Every field of a line is there, so that no change of it stays unseen; what says nothing, as
// decay_factor 1.0 and the source of a user's message, is left out. A manifest is one paragraph,
// without its statistics. The paragraph of a line depends on the line, and on how many
// lines before it have the same id: adding lines changes no paragraph.

/// `text`, the content of a log, as prose. `file_name` may say what kind of entries they are, such
/// as "x/decisions.jsonl". Lines that are no entries are shown as they are. Nothing in the result
/// can steer a terminal.
std::string log_as_prose(std::string_view text, std::string_view file_name);

// What should not be in a repository that holds a memory.
//
//   conflict_marker   a merge that nobody finished
//   unmerged          a file that git waits for somebody to merge
//   not_for_git       derived, local or deleted files that git tracks
//   repeated_line     a line that says again what is the newest version already
//   half_installed    a driver's section without a driver: every merge would end in a fatal error
//   secret            what the rules would take out today, in some commit

struct GitFinding {
  std::string kind;
  std::string path;        ///< Relative to the memory.
  std::uint64_t line = 0;  ///< 1-based; 0 when the whole file is meant.
  std::string detail;
  std::string remedy;
};

struct GitCheck {
  std::vector<GitFinding> findings;
  std::uint64_t files = 0;    ///< Tracked ones that were looked at.
  std::uint64_t commits = 0;  ///< Whose changes were looked at.
  std::string obstacle;       ///< What could not be looked at; empty when all was.
};

/// Looks at the memory at `root`, and with `history` at all that was ever committed of it.
/// `on_progress` is told how many commits of how many were looked at.
/// Errors: E_STORAGE_IO without git or a repository.
Result<GitCheck> check_repository(
    const std::string& root, const SecretScanner& scanner, bool history,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& on_progress);

/// Why a file of a memory should not be tracked, as half a sentence; empty when it should.
std::string_view reason_against_tracking(std::string_view path);

/// Conflict markers in `text`, as findings for `path`.
std::vector<GitFinding> find_conflict_markers(std::string_view path, std::string_view text);

/// Lines of a log that repeat the newest version before them of the same id.
std::vector<GitFinding> find_repeated_lines(std::string_view path, std::string_view text);

}  // namespace bmad_mem::cli
