// crash_shape.hpp - tells store states apart, and forgets what differs from run to run by chance.
#pragma once

#include <string>

#include "crash_evidence.hpp"

namespace bmad_mem {

/// A text that is equal for two runs which left the same state of the store behind, up to ids and
/// times. Many faults leave the same few states: nothing written, all written, torn here or there.
/// What recovery does follows from the state alone, so one recovery of each is enough.
///
/// A file that is as it was in the prepared store counts as unchanged. In what is new, each letter
/// and digit counts as any other, because ids are random; lengths, line ends and punctuation stay,
/// and so does which entries are visible.
std::string state_shape(const CrashEvidence& evidence);

}  // namespace bmad_mem
