// settings_file.hpp - the files of clients, which belong to somebody else.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bmad_mem/result.hpp"
#include "exchange/files.hpp"
#include "install/client_files.hpp"

namespace bmad_mem::cli {

/// A settings file as it is.
struct SettingsText {
  std::string path;                 ///< As it was asked for.
  std::string target;               ///< Where it really lies, behind symbolic links.
  std::optional<std::string> text;  ///< Nothing: the file isn't there.
};

/// Reads the file at `path`. Symbolic links are followed, and what is written later goes to their
/// target; but where `inside` names a folder, only as long as they stay in it: a project that comes
/// from somebody else must not lead us into the user's own settings. Errors: E_STORAGE_IO for what
/// can't be read or is no regular file, E_ACCESS_DENIED for a link that leads out.
Result<SettingsText> read_settings(const std::string& path, const std::string& inside);

/// Writes beside `target` what is to replace it whole, see PreparedSettings::prepare().
Result<FileReplacement> begin_target(const std::string& target, std::string_view text,
                                     bool is_program);

/// A file that is replaced in two steps, so that several files change together or not at all when
/// the disk is full: what was prepared lies beside the file, and goes with this object.
class PreparedSettings {
 public:
  /// Writes beside the file what is to replace it whole; without `text` the file is to go. One that
  /// is there keeps its mode and owner, and a new one can be run if it `is_program`; folders are
  /// made as needed. Errors: E_CONCURRENT_MOD when the file is not as it was read any more;
  /// E_STORAGE_IO. Nothing has changed then except folders that were made.
  static Result<PreparedSettings> prepare(const SettingsText& read,
                                          const std::optional<std::string>& text, bool is_program);
  /// Puts it into its place. Once. Durable on return.
  Status commit();
  [[nodiscard]] const std::string& path() const { return read_.path; }

 private:
  PreparedSettings(SettingsText read, std::optional<FileReplacement> fresh)
      : read_(std::move(read)), fresh_(std::move(fresh)) {}

  SettingsText read_;
  std::optional<FileReplacement> fresh_;  ///< Nothing: the file is to go.
};

/// Removes the folders above `path`, which is gone, that are empty now, up to `stays`, which stays.
void remove_empty_folders(const std::string& path, const std::string& stays);

// By which path clients start this program: one that stays.
//
//   this program lies in          scope project                    scope user
//   a folder of PATH              bmad-mem                         bmad-mem
//   another folder                bmad-mem, and a warning          its path
//   the project's node_modules    node_modules/.bin/bmad-mem       as below
//   npm's cache, a temporary      bmad-mem, copied to ~/.local/bin, and started by its path
//   folder, other node_modules    for the user where PATH does not find it
//
// Settings of a project are committed, so they never name a path of one machine.

struct OwnProgram {
  InstalledCommand command;  ///< Without a memory.
  std::string path;          ///< Of this process; empty when the system doesn't say.
  std::string copy;          ///< Where it must be copied to first; empty: it stays where it is.
  std::string warning;       ///< A sentence; empty: none.
};

/// How clients are to start this program. `project` is the project's folder.
OwnProgram own_program(bool for_user, const std::string& project);

/// The first of the numbers in a text, such as "qwen 0.12.3", that have dots between them.
std::array<unsigned, 3> version_numbers(std::string_view text);

/// Makes the copy, if one is needed, atomically. One of the same version or older is replaced, a
/// newer one stays. Errors: E_CONCURRENT_MOD for a program that is not ours, or a link;
/// E_STORAGE_IO.
Status place_program(const OwnProgram& program);

}  // namespace bmad_mem::cli
