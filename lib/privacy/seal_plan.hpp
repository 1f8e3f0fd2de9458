// seal_plan.hpp - what a run of `seal` is to do, and with which keys. Nothing but key files is
// written.
#pragma once

#include "bmad_mem/result.hpp"
#include "bmad_mem/sealing.hpp"
#include "privacy/sealed_line.hpp"
#include "privacy/sealing.hpp"

namespace bmad_mem {

/// What is to become of each line.
struct Sealing {
  SealStep step = SealStep::kOn;
  SealingRecord record;
  SealKeys keys;         ///< The first seals.
  bool forgets = false;  ///< As SealOptions::without_key: nothing is opened, and all is over.
};

/// What sealing.json is to say, and the keys for it. Errors: E_INVALID_QUERY when there is nothing
/// to open or to rotate, and for `without_key` when the key is here; E_ACCESS_DENIED when no key
/// here opens what is sealed, before anything changes; as StoreSealing::keys().
Result<Sealing> plan_sealing(const StoreSealing& own, const SealOptions& options);

Error nothing_sealed();

}  // namespace bmad_mem
