// sealing.hpp - which entries of a root are sealed, with which key, and where the key is.
//
//   sealing.json   {"all":true,"sensitive":false,"sessions":[],"key":"yTDm0bWjhAo",
//                   "former":["x2bQ0c8nLWE"],
//                   "passphrase":{"salt":"0f…","passes":3,"memory":268435456}}
//
// It is tracked by git, names no path, and is no secret. Whoever may write it may remove it: then
// new lines are clear, and what is sealed stays sealed.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/sealing.hpp"
#include "privacy/sealed_line.hpp"
#include "store/line_sealing.hpp"

namespace bmad_mem {

struct Store;

struct SealingRecord {
  bool all = false;
  bool sensitive = false;
  bool ends = false;  ///< Lines are being opened: nothing new is sealed.
  std::vector<std::string> sessions;
  std::string key_id;
  /// The keys of before a rotation that has not reached all lines yet.
  std::vector<std::string> former_ids;
  /// Of the one of all these keys that is made of a passphrase.
  std::optional<PassphraseRecipe> recipe;

  [[nodiscard]] bool wants(std::string_view session_id, EntryType type, JsonValue entry) const;
  [[nodiscard]] std::string to_text() const;
};

/// Nothing without the file. Errors: E_STORAGE_CORRUPT for one that can't be read.
Result<std::optional<SealingRecord>> load_sealing(FileSystem& files);

/// Threads: safe.
class StoreSealing : public LineSealing {
 public:
  /// `files` is the root's and must outlive it; `project` the folder no key file may be in.
  StoreSealing(FileSystem& files, SealKeySource source, std::string project)
      : files_(files), source_(std::move(source)), project_(std::move(project)) {}

  [[nodiscard]] bool is_on() const override;
  [[nodiscard]] Result<SealingRule> rule() const override;
  [[nodiscard]] bool opens() const override;
  [[nodiscard]] Result<std::unique_ptr<LineOpener>> opener() const override;
  [[nodiscard]] Result<std::optional<std::string>> seal(std::string_view session_id, EntryType type,
                                                        JsonValue entry,
                                                        std::string_view line) const override;

  /// The keys that the source has; for a passphrase with `recipe`. Read once. Errors:
  /// E_ACCESS_DENIED when it names none; E_INVALID_FORMAT when it names two, and for what is no
  /// key; as read_private_file().
  [[nodiscard]] Result<std::shared_ptr<const SealKeys>> keys(
      const std::optional<PassphraseRecipe>& recipe) const;
  [[nodiscard]] const SealKeySource& source() const { return source_; }
  /// The keys in the file at `path`. Errors: as SealKeys::read(), and E_ACCESS_DENIED for a file in
  /// the project.
  [[nodiscard]] Result<SealKeys> read_file(const std::string& path) const;

  /// All but what waits.
  [[nodiscard]] SealState state() const;

  /// Writes a new key into a new file at `path`; one that is there stays. Errors: as read_file().
  [[nodiscard]] Status make_file(const std::string& path) const;

 private:
  [[nodiscard]] Status check_place(const std::string& path) const;
  [[nodiscard]] Result<SealKey> sealing_key(const SealingRecord& record) const;
  [[nodiscard]] Result<SealKeys> read_keys(const std::optional<PassphraseRecipe>& recipe) const;

  FileSystem& files_;
  SealKeySource source_;
  std::string project_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const SealKeys> keys_;
  mutable PassphraseRecipe recipe_;  // Of `keys_`.
};

/// What `options` say, for all sessions, and all copies of them. One file after another is replaced
/// whole; running it again goes on. Errors: E_INVALID_QUERY when there is nothing to open or to
/// rotate; as StoreSealing::keys().
Result<std::vector<SealReport>> seal_sessions(Store& store, const SealOptions& options,
                                              const MemoryManager::Progress& on_progress);

}  // namespace bmad_mem
