// crash_store.hpp - a memory root that can be broken, looked at, and put back.
//
//   {temporary folder}/
//   ├── template/          the prepared store; a fault never sees it
//   └── work/              a fresh copy for each fault; the tracer watches this folder
//       ├── memory/        the memory root: --root
//       └── ...            other files of the case, for example one to import
//
// What the logs of the prepared store hold is what was acknowledged: each of these lines must be in
// its log, once and byte for byte, whatever happens to the commands that follow.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "child_process.hpp"
#include "temp_folder.hpp"

namespace bmad_mem {

/// Log file, relative to the memory root -> its whole lines.
using LogLines = std::map<std::string, std::vector<std::string>>;

class CrashStore {
 public:
  /// `binary` is the bmad-mem program under test.
  explicit CrashStore(std::string binary);

  const std::filesystem::path& folder() const { return work_; }
  std::filesystem::path root() const { return work_ / "memory"; }
  std::filesystem::path session_folder() const { return root() / "sessions" / session; }

  /// Keeps the present state as the one to which reset() returns, and its entries as acknowledged
  /// unless acknowledge() has been called before.
  void keep_as_template();
  /// Takes what the logs hold now as acknowledged: for stores whose entries then leave the logs.
  void acknowledge();
  void reset();

  /// The command line with --root, and with $S (the session), $T (a second session), $D (the work
  /// folder) and $ID (the first acknowledged id) replaced.
  ChildCommand command(const std::vector<std::string>& arguments,
                       std::string_view input = {}) const;
  ChildResult run(const std::vector<std::string>& arguments, std::string_view input = {}) const;
  /// As run(), for commands that must succeed; returns their output and throws when they fail.
  std::string must(const std::vector<std::string>& arguments, std::string_view input = {}) const;

  LogLines logs() const;
  Tree tree() const { return read_tree(root()); }

  const LogLines& acknowledged() const { return acknowledged_; }
  /// All files of the template, relative to folder().
  const Tree& prepared_tree() const { return prepared_tree_; }
  const std::vector<std::string>& acknowledged_ids() const { return ids_; }

  std::string session;         ///< $S
  std::string second_session;  ///< $T

 private:
  std::string expand(std::string text) const;

  TempFolder temporary_;
  std::filesystem::path template_;
  std::filesystem::path cached_state_;  // The state folder of the template,
  std::filesystem::path state_;         // and where the program has it.
  std::filesystem::path work_;
  std::string binary_;
  Tree prepared_tree_;
  LogLines acknowledged_;
  std::vector<std::string> ids_;
};

/// `text` up to its first line break.
inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The program under test: $BMAD_MEM_BINARY, else what the build says. Throws when there is none.
std::string binary_under_test();

/// Whether this file name is one of the eight logs of a session.
bool is_log_name(std::string_view name);

}  // namespace bmad_mem
