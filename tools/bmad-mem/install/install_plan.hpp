// install_plan.hpp - what `install`, `uninstall` and `setup` have in common: all files of a client
// are read and worked out first, then shown, then written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "cli/command.hpp"
#include "cli/tool.hpp"
#include "install/client_files.hpp"
#include "install/settings_file.hpp"

namespace bmad_mem::cli {

/// A file before and after.
struct PlannedFile {
  SettingsFile file;
  SettingsText read;
  std::optional<std::string> after;

  [[nodiscard]] bool is_changed() const { return read.text != after; }
  [[nodiscard]] std::string_view action() const;
  [[nodiscard]] std::string diff() const;  ///< As `diff -u` shows it; empty without a change.
};

struct InstallPlan {
  const ClientFacts& client;
  bool is_install = true;
  bool for_user = false;
  std::string project;  ///< The project's folder, absolute.
  OwnProgram program;
  std::string root;  ///< Of the memory; empty when none is looked for.
  bool makes_memory = false;
  std::vector<PlannedFile> files;
  std::vector<std::string> warnings;    ///< Sentences.
  std::vector<std::string_view> steps;  ///< What the user must still do.
};

/// Works out how our settings go in, or come out; writes nothing. What to do by hand with a file
/// that we can't change is printed when it `advises`. Errors: those of changed_settings() and
/// read_settings(); E_INVALID_FORMAT without a home for the user's settings.
Result<InstallPlan> plan_install(Tool& tool, const ClientFacts& client, bool is_install,
                                 bool for_user, bool advises);

/// Places the program, makes the memory and writes all files. On a full disk none of them has
/// changed. Errors: those of place_program(), MemoryManager::init() and PreparedSettings.
Status carry_out(const InstallPlan& plan);

// The commands `install` and `uninstall`.

/// What to say where no client has that name.
ExitStatus no_such_client(Tool& tool, std::string_view name);

/// Puts our settings in, or takes them out.
Result<ExitStatus> run_install(Tool& tool, bool is_install);

// Hosts of this machine, and whether what `install` wrote for one works.
//
//   the hook's command, as its settings have it  <- a prompt    -> a memory that goes at once
//   the server's command                         <- initialize  -> an answer

/// How the client is known to be here: the path of its program in PATH, or the folder of its
/// settings. Empty: it is not.
std::string find_host(const ClientFacts& client);

/// The version of the client's program, as "0.25.0", if it is newer than the one that was tried;
/// else empty. Runs the program in PATH with --version, for two seconds at most.
std::string newer_version(const ClientFacts& client);

/// Why what was written by `plan`, which has been carried out and names no memory, does not record
/// or serve: a sentence; empty: it does. Runs the hook's command on a prompt as the client would,
/// with another memory, and starts the server. Nothing stays of it.
std::string host_problem(const InstallPlan& plan);

}  // namespace bmad_mem::cli
