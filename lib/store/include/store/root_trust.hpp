// root_trust.hpp - the mark that a root is the user's own, in the user's state folder.
//
//   STATE/roots/4f0c5a…/        0700, of this user alone
//     mark.json                 {"path":…,"device":…,"inode":…,"born":…,"made":"own",…}
//                               made: own, trusted, or revoked; settings: the config.json that
//                               the user trusted
//     link.json                 {"link":…,"target":…}: the user trusts this link to a root
//     ledger                    origins of lines, see origin_ledger.hpp
//     waiting.jsonl             entries that wait for their key, see waiting_lines.hpp
//     hand.jsonl, hand.look     lines that an editor changed, before their review, and the time of
//                               the last look for them: lifecycle/repair/hand_edits.hpp
//     imports.jsonl             transcripts that are in the memory: MemoryManager::change_note
//     encryption.json           sealing.json as this machine knows it, see privacy/sealing.hpp
//     encrypted.jsonl           the encrypted entries that it knows, see encrypted_head.hpp
//
// The name of the folder is a hash of the root's real path. The mark holds for the folder that has
// this path, inode and time of birth; where a file system knows no birth, this device. A root that
// was copied, moved or cloned anew is foreign. So is one that a link `.bmad` or `.bmad/memory`
// leads to, which git may have brought, until the user trusts it there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "bmad_mem/trust.hpp"
#include "store/config.hpp"
#include "store/origin_ledger.hpp"

namespace bmad_mem {

/// Where the model is that `config` names; empty when it names none.
std::string encoder_path(const Config& config, const std::string& root);

class RootOrigins {
 public:
  /// Without a state folder nothing is checked.
  RootOrigins(std::string state_folder, const std::string& root);

  [[nodiscard]] RootTrust trust() const { return trust_; }
  /// Whether it is foreign since nobody has ever marked it.
  [[nodiscard]] bool is_unknown() const { return is_foreign() && reason_.empty(); }
  [[nodiscard]] bool is_foreign() const { return trust_ == RootTrust::kForeign; }
  /// Null for a foreign root, and for one that nobody checks.
  [[nodiscard]] const OriginLedger* ledger() const {
    return is_foreign() ? nullptr : ledger_.get();
  }
  /// For lines when there is no ledger.
  [[nodiscard]] Origin without_ledger() const {
    return is_foreign() ? Origin::kElsewhere : Origin::kAccepted;
  }
  /// Why nothing is written: a link leads to the root, and the user does not trust it.
  [[nodiscard]] const std::optional<Error>& link_problem() const { return link_problem_; }
  /// Of one line.
  [[nodiscard]] Origin origin_of(std::string_view session_id, std::string_view line) const {
    return ledger_ == nullptr ? without_ledger() : ledger_->origin_of(session_id, line);
  }
  [[nodiscard]] LineOrigins lines() const { return {ledger(), without_ledger()}; }
  /// The same with what is still known of a root whose trust was revoked.
  [[nodiscard]] LineOrigins known_lines() const { return {ledger_.get(), without_ledger()}; }

  /// All but `lines`. `config` is the part of `written`, which is config.json, in effect.
  [[nodiscard]] TrustReport report(const Config& config, const Config& written) const;
  /// The text of config.json that the user trusted: `written`, which reads as `config`, where
  /// the root is unchecked, or where it is the one; empty for that of a foreign root.
  [[nodiscard]] std::string trusted_config(const Config& config, const std::string& written) const;
  /// Whether all files that `config`, which holds, makes this program run, read or obey are as the
  /// user trusted them, or the root is unchecked.
  [[nodiscard]] bool trusts(const Config& config) const {
    return trust_ == RootTrust::kUnchecked || (!is_foreign() && digest(config) == config_digest_);
  }
  /// Of the trusted config.json and of all files that it makes this program run, read or obey.
  [[nodiscard]] std::string digest(const Config& config) const;
  /// Nothing when the programs, servers and models that `config` names may be used, and `written`
  /// names no others: it is read again whether the trust was revoked. Errors: E_ACCESS_DENIED,
  /// which says what to do.
  [[nodiscard]] Status check_programs(const Config& config, const Config& written) const;

  /// Marks the root with `config`, the text of which the user trusts, and with what it is now; a
  /// ledger that is there stays. Errors: E_STORAGE_IO, E_ACCESS_DENIED for a folder that others may
  /// write.
  Status mark(RootTrust trust, const Config& config, const std::string& text);
  // Files beside the mark, also of a foreign root.
  static constexpr std::string_view kWaitingName = "/waiting.jsonl";
  static constexpr std::string_view kHandName = "/hand.jsonl";

  /// Where the file `name` is; empty without a state folder.
  [[nodiscard]] std::string state_file(std::string_view name) const;
  /// The same, with the folders above it. Errors: E_ACCESS_DENIED for what others may write, and
  /// where no state folder is known.
  [[nodiscard]] Result<std::string> make_state_file(std::string_view name) const;
  /// What it holds; empty without it, without a state folder, and for what others may write.
  [[nodiscard]] std::string state_text(std::string_view name) const;
  /// Another number once change_state() was called, by whatever process; 0 where there is none.
  [[nodiscard]] std::uint64_t state_stamp(std::string_view name) const;
  /// Replaces it by what `change` makes of it, one process at a time. Errors: as make_state_file();
  /// E_STORAGE_IO, E_STORAGE_FULL: it is as it was.
  Status change_state(std::string_view name, const std::function<std::string(std::string)>& change,
                      bool is_durable = true) const;
  /// Adds `text` at its end. Errors: as change_state().
  Status append_state(std::string_view name, std::string_view text) const;
  /// Which folder is at the root's path: it differs after a move and for a new clone.
  [[nodiscard]] std::string identity() const;
  /// The time of the last look for them, as ctime has it; 0 for never.
  [[nodiscard]] std::int64_t last_look_ns() const;
  void note_look(std::int64_t time_ns) const;

  /// Makes it foreign. Of the ledger only what agents wrote stays: that is theirs when the root is
  /// trusted again. Errors: E_STORAGE_IO, E_STORAGE_FULL.
  Status revoke();

 private:
  void read_mark();
  void read_mark_file();
  [[nodiscard]] std::string link_text() const;
  [[nodiscard]] std::string digest(const Config& config, std::string text) const;
  /// Since the mark was read, by whatever process.
  [[nodiscard]] bool was_revoked() const;

  std::string state_folder_;
  std::string root_;    // Its real path.
  std::string folder_;  // Of the mark; empty when nothing is checked.
  RootTrust trust_ = RootTrust::kUnchecked;
  std::string reason_;
  std::string config_digest_;            // As marked.
  std::optional<std::string> settings_;  // As marked; a mark of version 0.1 has none.
  std::string link_;                     // To the root; empty for none.
  std::string link_file_;                // Its link.json.
  std::optional<Error> link_problem_;
  std::unique_ptr<OriginLedger> ledger_;  // May be there for a foreign root: see revoke().
};

}  // namespace bmad_mem
