// host_trial.hpp - hosts of this machine, and whether what `install` wrote for one works.
//
//   the hook's command, as its settings have it  <- a prompt    -> a memory that goes at once
//   the server's command                         <- initialize  -> an answer
#pragma once

#include <string>

#include "install/install_plan.hpp"

namespace bmad_mem::cli {

/// How the client is known to be here: the path of its program in PATH, or the folder of its
/// settings. Empty: it is not.
std::string find_host(const ClientFacts& client, const std::string& home);

/// The version of the client's program, as "0.25.0", if it is newer than the one that was tried;
/// else empty. Runs the program in PATH with --version, for two seconds at most.
std::string newer_version(const ClientFacts& client);

/// Why what was written by `plan`, which has been carried out and names no memory, does not record
/// or serve: a sentence; empty: it does. Runs the hook's command on a prompt as the client would,
/// with another memory, and starts the server. Nothing stays of it.
std::string host_problem(const InstallPlan& plan);

}  // namespace bmad_mem::cli
