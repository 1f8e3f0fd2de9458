// session_rewrite.hpp - what operations share that rewrite all files of a session.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/file_system.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/reports.hpp"
#include "lifecycle/session_copies.hpp"
#include "search/indexing.hpp"
#include "search/root_index.hpp"
#include "store/atomic_file.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/root_trust.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Removes what killed operations began to write in `folder`: it may hold what was there before.
inline Status remove_temporaries(FileSystem& files, const std::string& folder) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, list_if_there(files, folder));
  for (const std::string& name : names) {
    if (name.ends_with(".tmp")) {
      BMAD_TRY(remove_durably(files, fmt::format("{}/{}", folder, name)));
    }
  }
  return {};
}

/// Removes what is made from the logs of a session, and quotes them; the caller takes it out of the
/// index of the root.
inline Status remove_derived_files(FileSystem& files, const std::string& session_id) {
  for (const std::string& path : {index_path(session_id), std::string(kUserPreferencesFile),
                                  std::string(kAgentKnowledgeFile)}) {
    BMAD_TRY(remove_durably(files, path));
  }
  return {};
}

/// Replaces each line of `bytes` by `change(line)`, where that is another one. How many changed.
template <typename Change>
std::uint64_t change_lines(std::string& bytes, const Change& change) {
  std::string other;
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t newline = bytes.find('\n', at);
    const std::size_t end = newline == std::string::npos ? bytes.size() : newline;
    const std::string_view line = std::string_view(bytes).substr(at, end - at);
    const std::optional<std::string> changed = change(line);
    other += changed ? std::string_view(*changed) : line;
    other += newline == std::string::npos ? "" : "\n";
    count += changed ? 1 : 0;
    at = end + 1;
  }
  bytes = std::move(other);
  return count;
}

/// Has the index of the root know the session as it was rewritten. The caller has no lock of it.
inline Status renew_index(Store& store, const std::string& session_id) {
  store.forget_session(session_id);
  BMAD_TRY(store.root_index->remove({&session_id, 1}));
  refresh_index(store, session_id);
  return {};
}

/// All sessions, archived and deleted ones, too; those that are `wanted` must be there.
Result<std::vector<std::string>> rewritable_sessions(const Store& store,
                                                     std::span<const std::string> wanted);

/// The largest file that is rewritten, in bytes.
inline constexpr std::uint64_t kRewrittenSizeMax = std::uint64_t{4} << 30U;

/// Replaces the files of one session, each as a whole, one after another: a crash leaves some of
/// them done, and running it again does the rest. What it derives from gives the changes.
class SessionRewriter {
 public:
  /// The references must outlive it. A dry run locks and changes nothing.
  SessionRewriter(Store& store, const std::string& session_id, bool dry_run)
      : store_(store), session_id_(session_id), dry_run_(dry_run) {}
  virtual ~SessionRewriter() = default;
  SessionRewriter(const SessionRewriter&) = delete;
  SessionRewriter& operator=(const SessionRewriter&) = delete;

 protected:
  /// The line that replaces it; nothing: it stays.
  virtual std::optional<std::string> changed_entry(EntryType type, std::string_view line) = 0;
  /// See FileChange.
  virtual std::uint64_t change_file(std::string_view name, std::string& bytes) = 0;
  /// Takes the session out of the index of the root.
  virtual Status leave_index() { return store_.root_index->remove({&session_id_, 1}); }

  /// Locks the root, and the session if it is live, until the object goes; removes what killed
  /// operations left.
  Status lock(std::string_view operation);
  /// leave_index(), once. Before anything changes: after a crash nobody would find anything to do.
  Status leave_root_index();
  Status rewrite_logs();
  /// Replaces the file at `path`, which is `name` in the session, if it is there and changes. A log
  /// takes what is derived from it along.
  Status rewrite_file(const std::string& path, std::string_view name, bool is_log);
  /// What lies outside the folder: evicted, kept, deleted, archived. Whether anything changed.
  Result<bool> rewrite_copies(const FileChange& change);
  /// Calls `use(path, name)`, which returns a Status, for each document.
  template <typename Use>
  Status for_each_artifact(const Use& use) {
    const std::string folder = session_file(session_id_, kArtifactsName);
    BMAD_TRY(dry_run_ ? Status() : remove_temporaries(*store_.files, folder));
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, list_if_there(*store_.files, folder));
    for (const std::string& name : names) {
      BMAD_TRY(use(fmt::format("{}/{}", folder, name), name));
    }
    return {};
  }

  Store& store_;
  const std::string& session_id_;
  bool dry_run_;
  bool is_live_ = false;
  JsonParser parser_;
  CarriedLines carried_{store_.origins->provenance(), session_id_};
  std::vector<FileCount> files_;  ///< That changed.
  std::uint64_t log_lines_ = 0;   ///< That changed in logs.

 private:
  bool has_left_index_ = false;
  std::optional<FileLock::Guard> root_guard_;
  std::optional<FileLock::Guard> session_guard_;
};

}  // namespace bmad_mem
