// encryption.hpp - which entries of a root are encrypted, with which key, and where the key is.
//
//   sealing.json   {"all":true,"sensitive":false,"sessions":[],"key":"yTDm0bWjhAo",
//                   "former":["x2bQ0c8nLWE"],
//                   "passphrase":{"salt":"0f…","passes":3,"memory":268435456}}
//
// It is tracked by git, names no path, and is no secret. Who may write it may remove or weaken it,
// so the state folder has a copy, encryption.json, from the first write here with the key: what
// either wants is encrypted, and where sealing.json is gone, nothing is written until `encrypt on`
// or `off`. A machine without a copy makes one of the key of the first encrypted lines that it
// finds.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/encryption.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "privacy/encrypted_line.hpp"
#include "store/line_encryption.hpp"
#include "store/root_trust.hpp"

namespace bmad_mem {

struct Store;

struct EncryptionRecord {
  bool all = false;
  bool sensitive = false;
  bool ends = false;  ///< Lines are being opened: nothing new is encrypted.
  std::vector<std::string> sessions;
  std::string key_id;
  /// The keys of before a rotation that has not reached all lines yet.
  std::vector<std::string> former_ids;
  /// Of the one of all these keys that is made of a passphrase.
  std::optional<PassphraseRecipe> recipe;
  bool is_gone = false;   ///< sealing.json is not there: this is what the state folder knows.
  bool is_noted = false;  ///< The state folder knows all of it.

  [[nodiscard]] bool wants(std::string_view session_id, EntryType type, JsonValue entry) const;
  /// Of a copy that was made of encrypted lines, nothing is there but the key.
  [[nodiscard]] bool is_of_lines() const { return !all && !sensitive && sessions.empty(); }
  /// Those that are not there yet.
  void add_sessions(std::span<const std::string> more);
  [[nodiscard]] std::string to_text() const;
};

/// Threads: safe.
class StoreEncryption : public LineEncryption {
 public:
  /// `files` and `origins` are the root's and must outlive it; `project` the folder no key file may
  /// be in.
  StoreEncryption(FileSystem& files, const RootOrigins& origins, EncryptionKeySource source,
                  std::string project)
      : files_(files),
        origins_(origins),
        source_(std::move(source)),
        project_(std::move(project)) {}

  [[nodiscard]] bool is_on() const override;
  [[nodiscard]] bool is_on_for_writes() const override;
  [[nodiscard]] Result<EncryptionRule> rule() const override;
  [[nodiscard]] bool opens() const override;
  [[nodiscard]] Result<std::unique_ptr<LineOpener>> opener() const override;
  [[nodiscard]] Result<std::optional<std::string>> encrypt(std::string_view session_id,
                                                           EntryType type, JsonValue entry,
                                                           std::string_view line) const override;

  /// The keys that the source has; for a passphrase with `recipe`. Read once. Errors:
  /// E_ACCESS_DENIED when it names none; E_INVALID_FORMAT when it names two, and for what is no
  /// key; as read_private_file().
  [[nodiscard]] Result<std::shared_ptr<const EncryptionKeys>> keys(
      const std::optional<PassphraseRecipe>& recipe) const;
  [[nodiscard]] const EncryptionKeySource& source() const { return source_; }
  /// The keys in the file at `path`. Errors: as EncryptionKeys::read(), and E_ACCESS_DENIED for a
  /// file in the project.
  [[nodiscard]] Result<EncryptionKeys> read_file(const std::string& path) const;

  /// The record in force here; nothing without the file and a copy. Errors: E_STORAGE_CORRUPT for a
  /// file that can't be read.
  [[nodiscard]] Result<std::optional<EncryptionRecord>> record() const;
  /// Makes `record` the copy in the state folder; null: that nothing is encrypted. Nothing where
  /// none can be kept.
  void note(const EncryptionRecord* record) const;
  /// What the copy then says.
  [[nodiscard]] std::string note_text(const EncryptionRecord* record) const;

  /// All but what waits.
  [[nodiscard]] EncryptionState state() const;

  /// Writes a new key into a new file at `path`; one that is there stays. Errors: as read_file().
  [[nodiscard]] Status make_file(const std::string& path) const;

 private:
  /// The copy, with an empty key where nothing is encrypted; nothing without one of this folder.
  [[nodiscard]] std::optional<EncryptionRecord> noted() const;
  /// The same; a root without one, and without sealing.json, has its lines read for it, once.
  [[nodiscard]] std::optional<EncryptionRecord> noted_or_learned() const;
  void learn() const;
  [[nodiscard]] Status check_place(const std::string& path) const;
  [[nodiscard]] Result<EncryptionKey> encryption_key(const EncryptionRecord& record) const;
  [[nodiscard]] Result<EncryptionKeys> read_keys(
      const std::optional<PassphraseRecipe>& recipe) const;

  FileSystem& files_;
  const RootOrigins& origins_;
  EncryptionKeySource source_;
  std::string project_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const EncryptionKeys> keys_;
  mutable PassphraseRecipe recipe_;  // Of `keys_`.
  mutable std::once_flag learned_;
};

/// What `options` say, for all sessions, and all copies of them. One file after another is replaced
/// whole; running it again goes on. Errors: E_INVALID_QUERY when there is nothing to open or to
/// rotate, and for EncryptOptions::without_key where the key is here; as StoreEncryption::keys().
Result<std::vector<EncryptReport>> encrypt_sessions(Store& store, const EncryptOptions& options,
                                                    const MemoryManager::Progress& on_progress);

}  // namespace bmad_mem
