// crash_settling.hpp - what must hold after a command of the life cycle was broken, whose work is
// to move entries: nothing is lost on the way, nothing is there twice at the end.
//
//   the fault          each entry is in a log, an archive, the evicted or the deleted
//   `purge`            a purge that had begun is finished; one that had not left all as it was
//   the command again  succeeds, or says that it is done; what it destroys is in no file any more
//   the way back       each entry is in its log once
#pragma once

#include "crash_evidence.hpp"

namespace bmad_mem {

/// Brings the store of `evidence` to rest and reports what did not hold.
void settle(CrashEvidence& evidence);

}  // namespace bmad_mem
