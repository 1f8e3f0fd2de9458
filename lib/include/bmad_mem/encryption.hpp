// encryption.hpp - lines that only a key opens.
//
//   sealing.json   which entries are encrypted when they are written, and the id of their key
//   the key        32 bytes, outside the project: a file, $BMAD_MEM_KEY, or a passphrase
//
// Losing the key is final.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Where the key comes from: one of them, or none.
struct EncryptionKeySource {
  std::string key = {};       ///< 64 hexadecimal digits, or a line of a key file.
  std::string key_file = {};  ///< A key a line, the first encrypts; mode 600, outside the project.
  std::string passphrase = {};  ///< With the recipe in sealing.json.

  [[nodiscard]] bool is_empty() const {
    return key.empty() && key_file.empty() && passphrase.empty();
  }
};

/// What to do where the key is missing.
inline constexpr std::string_view kKeyRemedy =
    "name it in $BMAD_MEM_KEY_FILE, $BMAD_MEM_KEY or $BMAD_MEM_PASSPHRASE";

/// Whether new entries are encrypted, and whether they can be here.
struct EncryptionState {
  bool is_on = false;
  bool is_gone = false;     ///< sealing.json was removed: nothing is written.
  std::string key_id = {};  ///< Of the key that encrypts; empty when sealing.json is damaged.
  std::optional<Error> problem = {};  ///< Why nothing can be encrypted here: the key, or the file.
  std::uint64_t waiting = 0;          ///< As MemoryManager::count_waiting().
};

enum class EncryptStep : std::uint8_t {
  kOn,      ///< Encrypts what is there, and what is written from now on.
  kOff,     ///< Opens all, and encrypts no more.
  kRotate,  ///< Encrypts all with another key.
};

struct EncryptOptions {
  EncryptStep step = EncryptStep::kOn;
  std::vector<std::string> sessions = {};  ///< kOn: these alone; with `sensitive`, both.
  bool sensitive = false;                  ///< kOn: sensitive entries alone.
  std::string new_key_file = {};           ///< kRotate. A key file that is not there is made.
  bool without_key = false;                ///< kOff: it is lost; what is encrypted stays as it is.
};

/// What helps where two branches have encrypted: the file names what is encrypted, and is merged by
/// hand.
inline constexpr std::string_view kConflictRemedy =
    "take one side (`git checkout --ours` or `--theirs` of the file), then run `bmad-mem encrypt "
    "on "
    "--session ID` for each session that the other side encrypted";

/// What was done to one session.
struct EncryptReport {
  std::string session_id;
  std::uint64_t changed = 0;           ///< Lines and documents.
  std::vector<FileCount> files = {};   ///< Where they are.
  std::vector<Leftover> left = {};     ///< What stays as it was, and what to do.
  std::vector<std::string> gone = {};  ///< Derived files that quoted entries.
};

}  // namespace bmad_mem
