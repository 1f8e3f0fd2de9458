// encryption_plan.hpp - what a run of `encrypt` is to do, and with which keys. Nothing but key
// files is written.
#pragma once

#include "bmad_mem/encryption.hpp"
#include "bmad_mem/result.hpp"
#include "privacy/encrypted_line.hpp"
#include "privacy/encryption.hpp"

namespace bmad_mem {

/// What is to become of each line.
struct Encryption {
  EncryptStep step = EncryptStep::kOn;
  EncryptionRecord record;
  EncryptionKeys keys;   ///< The first encrypts.
  bool forgets = false;  ///< As EncryptOptions::without_key: nothing is opened, and all is over.
};

/// What sealing.json is to say, and the keys for it. Errors: E_INVALID_QUERY when there is nothing
/// to open or to rotate, and for `without_key` when the key is here; E_ACCESS_DENIED when no key
/// here opens what is encrypted, before anything changes; as StoreEncryption::keys().
Result<Encryption> plan_encryption(const StoreEncryption& own, const EncryptOptions& options);

Error nothing_encrypted();

}  // namespace bmad_mem
