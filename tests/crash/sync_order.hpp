// sync_order.hpp - whether what a command acknowledged would have survived a power cut.
//
// A kill leaves the page cache alone, so no kill shows a forgotten fsync. The list of system calls
// of a run shows it: replay the calls, and remember what only the page cache knows.
//
//   open(events.jsonl, O_CREAT)   name events.jsonl not safe
//   write(events.jsonl)           bytes of events.jsonl not safe
//   fdatasync(events.jsonl)       bytes safe
//   fsync(sessions/s1/)           name safe
//   write(1, "evt-...")           acknowledged: nothing that is truth may be unsafe here
//
// A rename needs the bytes of the old name safe before, and the folder synced after.
#pragma once

#include <string>
#include <vector>

#include "syscall_tracer.hpp"

namespace bmad_mem {

/// The losses that a power cut could bring after the command of `points` had reported success: at
/// its first output, and at its end. One sentence each; empty when there is none. `folder` is the
/// watched folder, for shorter sentences.
std::vector<std::string> unsafe_when_acknowledged(const std::vector<TracePoint>& points,
                                                  const std::string& folder);

}  // namespace bmad_mem
