// own_program.hpp - by which path clients start this program: one that stays.
//
//   this program lies in          scope project                    scope user
//   a folder of PATH              bmad-mem                         bmad-mem
//   another folder                bmad-mem, and a warning          its path
//   the project's node_modules    node_modules/.bin/bmad-mem       as below
//   npm's cache, a temporary      bmad-mem, copied to ~/.local/bin, and started by its path
//   folder, other node_modules    for the user where PATH does not find it
//
// Settings of a project are committed, so they never name a path of one machine.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "install/client_files.hpp"

namespace bmad_mem::cli {

struct OwnProgram {
  InstalledCommand command;  ///< Without a memory.
  std::string path;          ///< Of this process; empty when the system doesn't say.
  std::string copy;          ///< Where it must be copied to first; empty: it stays where it is.
  std::string warning;       ///< A sentence; empty: none.
};

/// How clients are to start this program. `project` is the project's folder, `home` the user's.
OwnProgram own_program(bool for_user, const std::string& project, const std::string& home);

/// The first of the numbers in a text, such as "qwen 0.12.3", that have dots between them.
std::array<unsigned, 3> version_numbers(std::string_view text);

/// Makes the copy, if one is needed, atomically. One of the same version or older is replaced, a
/// newer one stays. Errors: E_CONCURRENT_MOD for a program that is not ours, or a link;
/// E_STORAGE_IO.
Status place_program(const OwnProgram& program);

}  // namespace bmad_mem::cli
