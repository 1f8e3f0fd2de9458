// process.hpp - what is asked of the system once and not each time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bmad_mem {

/// As getpid(), which glibc does not remember and an append asked for six times. A forked child
/// gets its own number: what belongs to one process only (locks, random parts of ids) compares it.
int process_id();

/// The name of this machine; "unknown" when it has none.
const std::string& host_name();

/// What the system calls its present boot; empty when it doesn't say.
const std::string& boot_id();

/// A path from settings or the environment, where no shell has done it: with $HOME in place of "~",
/// "$HOME" or "${HOME}" at its head. The same without a HOME.
std::string with_home(std::string_view path);

/// How many threads run at once here, at least 1; asked once, since asking reads files.
std::size_t core_count();

}  // namespace bmad_mem
