// process.hpp - which process this is, without asking the kernel each time.
#pragma once

namespace bmad_mem {

/// As getpid(), which glibc does not remember and an append asked for six times. A forked child
/// gets its own number: what belongs to one process only (locks, random parts of ids) compares it.
int process_id();

}  // namespace bmad_mem
