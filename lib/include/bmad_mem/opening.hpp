// opening.hpp - how a memory is opened, and what hooks may do with it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/encryption.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/trust.hpp"

namespace bmad_mem {

struct OpenOptions {
  /// The memory root: the folder that holds config.json and sessions/. See
  /// MemoryManager::find_root.
  std::string root;
  /// The root of the user's own memory, which query(), ask(), recall() and context() take in beside
  /// this one, and get(), history() and load_session() look in last; the same as `root`, or empty:
  /// none. It need not exist.
  std::string user_root = {};
  /// Where the program works: in a worktree of git whose memory is the main one's, `root`, what
  /// only its own checkout holds is read beside it. Empty: not.
  std::string working_directory = {};
  /// Who writes, for the lock's holder and the audit; free text, may be empty.
  std::string agent_id = {};
  /// Where the user's programs keep their state, such as ~/.local/state/bmad-mem: there stands
  /// which roots are the user's own, and who wrote which line. Empty: nobody checks, and lines are
  /// taken at their word; for programs that wrote all of them.
  std::string state_folder = {};
  /// Who is behind the writes, unless ActingAs says otherwise.
  Origin writes_as = Origin::kPerson;
  /// The wall clock when null. Must outlive the manager.
  const Clock* clock = nullptr;
  /// How long a write waits for the session's lock; the config's lock_timeout_ms when absent.
  std::optional<std::chrono::milliseconds> lock_timeout = {};
  /// What is allowed, see read_workflow(); everything when absent.
  std::optional<MemoryAccess> access = {};
  /// Go on when config.json is damaged and nobody knows what the user trusted of it; for verify()
  /// and repair(), which name it. See MemoryManager::config_problem().
  bool tolerate_bad_config = false;
  /// The key of what is encrypted: without it that is counted, and not written.
  EncryptionKeySource encryption_key = {};
  /// Count what queries and get() return as accesses, as the config says. False: reading leaves no
  /// trace at all, for people who look at what agents remember.
  bool note_accesses = true;
  /// Whether indexes that a question finds wanting are made when the manager is closed, and not
  /// before it answers. Of archives that no index has and that were not written here, 512 KiB are
  /// read: the next process takes more, and one without this option those that are larger.
  bool index_at_the_end = false;
  /// For a program that stays and asks often: the kernel tells in which folders something changes
  /// (inotify), and a question looks at no other log. It sees each change at once, except those
  /// that the kernel does not tell: of a file that is mapped or has a second name. These
  /// are seen after 10 s. Takes a descriptor, and a watch for each session; where there are none,
  /// and on network file systems, questions look at all logs as without.
  bool watch_folders = false;
  /// Whether questions may start the program of memory_config.encoder.command. False: they compare
  /// words alone then; for programs that may be killed at any moment, and would leave it behind.
  bool runs_programs = true;
  /// Told when a call leaves out an archive that can't be read, once for each; the call answers
  /// with the rest. One call at a time; it must not call the manager.
  std::function<void(const Error&)> on_problem = {};
};

/// What hooks of agents' clients may do, as config.json says.
struct HookPolicy {
  bool tells = true;          ///< memory_config.context.inject
  bool records = true;        ///< memory_config.recording.enabled, and so for the next three
  bool learns_at_end = true;  ///< memory_config.knowledge.learn_at_session_end
  bool asks_agent = false;    ///< memory_config.learning.ask_agent
  bool syncs_at_end = false;  ///< memory_config.hub.auto, in a memory that has joined a hub.
  std::vector<std::string> skip_clients;
  std::vector<std::string> skip_tools;  ///< '*' is any text.
  std::vector<std::string> skip_paths;  ///< The same.
};

}  // namespace bmad_mem
