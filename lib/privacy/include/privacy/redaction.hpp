// redaction.hpp - the store's redactor: what every byte goes through before it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/exports.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/reports.hpp"
#include "privacy/redactor.hpp"
#include "store/store.hpp"

namespace bmad_mem {

class JudgedMemory;

/// Where values that were judged are kept: a file of RootOrigins.
inline constexpr std::string_view kJudgedName = "/judged";

/// Where the key of a store's placeholders comes from.
enum class KeyUse : std::uint8_t {
  kAsConfigured,  ///< Kept in a file when the config says linkable, else made for this process.
  kKept,          ///< Kept in a file: for work that a crash may cut in two.
  kNone,          ///< Made for this object, which writes nothing.
};

/// The redactor of a store and the key of its placeholders. Thread-safe.
class StoreRedaction final : public WriteRedaction {
 public:
  /// With `hub_policy`, the rules of a hub: what they find is taken out whatever the project
  /// allows. Errors: those of Redactor::make, with the path of config.json; E_STORAGE_IO,
  /// E_STORAGE_FULL and E_LOCK_TIMEOUT when a key has to be kept and can't be; the first that is
  /// wrong with the rules of the hub.
  static Result<std::unique_ptr<StoreRedaction>> make(const Store& store,
                                                      KeyUse key_use = KeyUse::kAsConfigured,
                                                      const std::string& hub_policy = {});

  [[nodiscard]] std::optional<std::string> redact_entry(
      JsonValue entry, std::string_view line, std::string_view session_id, RedactionCounts& counts,
      RedactPass pass = RedactPass::kWhole) const override;

  [[nodiscard]] std::string redact_object(const std::string& json, std::string_view session_id,
                                          RedactionCounts& counts) const override;
  [[nodiscard]] std::string redact_text(std::string_view text, std::string_view session_id,
                                        RedactionCounts* counts = nullptr) const override;
  [[nodiscard]] bool has_secret(std::string_view text) const override;
  [[nodiscard]] SecretScanner scanner() const override;
  [[nodiscard]] std::uint64_t judged_count() const override;

  /// What is judged from here on holds in all sessions, and what was judged in any does.
  void judge_for_all();
  /// From here on only what was judged before is looked for.
  void seek_repeated() { seeks_repeated_ = true; }
  /// From here on what is redacted is listed, without its place. Not for several threads.
  void list() { lists_ = true; }
  /// What was listed since the last call.
  [[nodiscard]] std::vector<TakenSecret> take_listed() const { return std::exchange(listed_, {}); }

  ~StoreRedaction() override;

 private:
  StoreRedaction(Redactor redactor, const RedactionKey& key, std::unique_ptr<JudgedMemory> memory);

  /// Calls `redact(redactor, scope, tally)` for the policy, if there is one, then for the project's
  /// rules. Adds to `counts`; whether anything came near.
  template <typename Redact>
  bool with_both(std::string_view session_id, RedactionCounts* counts, const Redact& redact,
                 RedactPass pass = RedactPass::kWhole) const;
  /// `json` without secrets, nothing when it has none.
  std::optional<std::string> without_secrets(JsonValue root, std::string_view json,
                                             std::string_view session_id, RedactionCounts& counts,
                                             bool& comes_near,
                                             RedactPass pass = RedactPass::kWhole) const;

  std::shared_ptr<const Redactor> redactor_;
  std::optional<Redactor> policy_;  // Goes first.
  RedactionKey key_;
  std::unique_ptr<JudgedMemory> memory_;
  bool lists_ = false;
  bool seeks_repeated_ = false;
  mutable std::vector<TakenSecret> listed_;
};

/// The rules of the hub that the root has joined; empty for none. Errors: as read_file().
Result<std::string> load_hub_policy(const Store& store);

/// What stands for an id that holds a text that was forgotten: see RoomsAbove::hide_id.
/// Errors: E_STORAGE_IO when there is no key and none may be made.
Result<std::string> hidden_id(const Store& store, std::string_view id, bool makes_key);

/// What of the config takes protection away, or reads rules outside the project, once the root is
/// trusted: a sentence each.
std::vector<std::string> trusted_switches(const Store& store);

// What is stored already: redacted, made anonymous, and reported.

/// Applies the rules of today to `wanted`, or to all sessions there are in any form.
/// `only_repeated`: replaces what was judged in them before, and nothing else.
Result<std::vector<RedactReport>> redact_sessions(Store& store, std::span<const std::string> wanted,
                                                  bool dry_run,
                                                  const MemoryManager::Progress& on_progress = {},
                                                  bool only_repeated = false);
Result<AnonymizeReport> export_anonymized(const Store& store, const AnonymizeOptions& options,
                                          ExportVisitor& visitor);
Result<AnonymizeReport> anonymize_sessions(Store& store, const AnonymizeOptions& options,
                                           const std::function<void(const Error&)>& on_problem);
Result<PrivacyReport> report_privacy(const Store& store, std::span<const std::string> wanted);

}  // namespace bmad_mem
