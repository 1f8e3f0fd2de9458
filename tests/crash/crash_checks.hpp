// crash_checks.hpp - what must hold after a command was broken: the promises, one by one.
#pragma once

#include <string>
#include <vector>

#include "crash_store.hpp"
#include "crash_table.hpp"
#include "syscall_tracer.hpp"

namespace bmad_mem {

/// Looks at the files of the store on which `command` ran with `outcome`, changes nothing, and
/// returns each promise that did not hold as a sentence; empty when all is well:
///
///   1. Every acknowledged line is in its log, in its order, once and byte for byte.
///   2. A success has written all its entries, an error none, a kill each of them whole or not.
///   3. An error has status 1 and a code on stderr; a success printed an id for each entry.
///   4. What is truth and no log (config, manifests) is whole JSON.
///   5. Bytes that were no entry before the command are still in some file.
std::vector<std::string> check_state(const CrashStore& store, const CrashCommand& command,
                                     const TraceOutcome& outcome);

/// Goes on working with that store, recovers it, and returns what did not hold:
///
///   6. What the command promised can be seen; `verify` is clean, or names a torn tail or what was
///      wrong before the command.
///   7. `get`, `list` and `session list` work and return every acknowledged entry once.
///   8. The next `add` works, and the command can be run again where it says so.
///   9. After `repair`, `verify` is clean, no temporary file is left, nothing that was readable is
///      gone, and a second `repair` changes no byte.
std::vector<std::string> check_recovery(const CrashStore& store, const CrashCommand& command,
                                        const TraceOutcome& outcome);

}  // namespace bmad_mem
