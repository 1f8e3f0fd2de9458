// root_trust.hpp - the mark that a root is the user's own, in the user's state folder.
//
//   STATE/roots/4f0c5a…/        0700, of this user alone
//     mark.json                 {"path":…,"device":…,"inode":…,"born":…,"made":"own",…}
//                               made: own, trusted, or revoked; settings: the config.json that
//                               the user trusted
//     link.json                 {"link":…,"target":…}: the user trusts this link to a root
//     ledger                    origins of lines, see root_trust.hpp
//     waiting.jsonl             entries that wait for their key, see line_encryption.hpp
//     hand.jsonl, hand.look     lines that an editor changed, before their review, and the time of
//                               the last look for them: lifecycle/repair/repair_steps.hpp
//     imports.jsonl             transcripts that are in the memory: MemoryManager::change_note
//     encryption.json           sealing.json as this machine knows it, see privacy/encryption.hpp
//     encrypted.jsonl           the encrypted entries that it knows, see line_encryption.hpp
//
// The name of the folder is a hash of the root's real path. The mark holds for the folder that has
// this path, inode and time of birth; where a file system knows no birth, this device. A root that
// was copied, moved or cloned anew is foreign. So is one that a link `.bmad` or `.bmad/memory`
// leads to, which git may have brought, until the user trusts it there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/trust.hpp"
#include "model/statement.hpp"
#include "store/config.hpp"

namespace bmad_mem {

// Who wrote the lines of a root, kept outside it.
//
//   magic, version | count, day | records by their tags ... | records as they came ...
//                                 `count` of them, each once   of a tag the strongest holds, then
//                                                              the first
//
// A record is 16 bytes: the tag of a line or of what it states, the day when it was last seen, the
// origin. Numbers are of the machine: the provenance log does not travel.
//
// The tag of a line is a keyed hash of its session and of all members but those that the engine
// itself changes (decay, accesses, pins, links): so it survives compaction, archiving and decay.
// A line without a record came from elsewhere: what can't be recorded is quoted, and nothing fails.
// What an editor changed has none, until lifecycle/repair/hand_edits.cpp decides whose it is.
//
// Threads and processes: any number; records are appended under a lock, a file beside the
// provenance log.

/// Whether the lines are the same, except members that say nothing about the subject, such as tags:
/// the author of a tag is not the author of the rest.
bool says_the_same(std::string_view old, std::string_view line);

/// A tag, and the origin that find() finds for it.
struct OriginQuery {
  std::uint64_t tag = 0;
  Origin origin = Origin::kElsewhere;
  bool is_known = false;  ///< There is a record, also of one from elsewhere.
};

class ProvenanceLog {
 public:
  /// `path` need not exist.
  ProvenanceLog(std::string path, const HashKey& key) : path_(std::move(path)), key_(key) {}

  /// The tag of `line`, which must be a whole entry, where it is seen without parsing it.
  [[nodiscard]] std::optional<std::uint64_t> plain_line_tag(std::string_view session_id,
                                                            std::string_view line) const;
  /// The tag of `line`, which `entry` was parsed from.
  [[nodiscard]] std::uint64_t line_tag(std::string_view session_id, JsonValue entry,
                                       std::string_view line) const;
  /// The tag of what a fact or preference states, for who has not read its line.
  [[nodiscard]] std::uint64_t statement_tag(std::string_view session_id,
                                            const StatementOutline& outline) const;

  /// Records that `lines`, whole entries of `type`, are by `origin`. What can't be recorded is
  /// quoted from then on, see has_lost().
  void note(std::string_view session_id, EntryType type, std::span<const std::string_view> lines,
            Origin origin) const;
  /// Records as accepted those of `lines` that have no record, or one from elsewhere. Their number.
  std::uint64_t accept(std::string_view session_id, EntryType type,
                       std::span<const std::string> lines) const;
  /// Records the lines of `text` that have no record as from elsewhere: no editor wrote them.
  void note_elsewhere(std::string_view session_id, EntryType type, std::string_view text) const;

  /// Fills in the origins. Reads what came since the provenance log was sorted, once, and looks up
  /// the rest.
  void find(std::span<OriginQuery> queries) const;
  [[nodiscard]] Origin origin_of(std::string_view session_id, std::string_view line) const;

  /// Whether something could not be recorded, as on a full disk.
  [[nodiscard]] bool has_lost() const { return has_lost_; }

  /// Whether the file is a provenance log; an empty one is.
  [[nodiscard]] bool is_whole() const;
  /// Whether it is time to compact() it: as much came since it was sorted as there was. With
  /// `today` also when that was long ago.
  [[nodiscard]] bool is_due(std::optional<std::int64_t> today = {}) const;
  /// Sorts the records, each tag once. With the tags of all lines that there are, `live`, those are
  /// marked as seen `today`, a day since 1970, and what nobody has seen for kRetainedDays goes: a
  /// line may come back from another branch, or be undeleted. Atomic. Nothing happens when it
  /// fails.
  void compact(const std::vector<std::uint64_t>* live, std::int64_t today) const;
  static constexpr std::int64_t kRetainedDays = 90;
  /// Forgets all lines but those of `origin`. Atomic. False, and nothing, when it can't be written.
  [[nodiscard]] bool keep_only(Origin origin) const;
  /// Adds the tags of `line`, a whole entry, to `tags`.
  void add_tags(std::string_view session_id, EntryType type, std::string_view line,
                std::vector<std::uint64_t>& tags) const;

 private:
  /// Notes those of `lines` that have no record, or none that counts against `origin`: how many.
  std::uint64_t note_unknown(std::string_view session_id, EntryType type,
                             std::span<const std::string_view> lines, Origin origin) const;

  std::string path_;
  HashKey key_;
  mutable std::atomic<bool> has_lost_ = false;
};

/// Lines that the engine itself rewrites, as redaction does: their origins go along, looked up in
/// one pass.
class CarriedLines {
 public:
  /// `ledger` may be null, and must outlive it; so must `session_id`.
  CarriedLines(const ProvenanceLog* provenance, std::string_view session_id)
      : provenance_(provenance), session_id_(session_id) {}

  /// `old` becomes `line`.
  void add(EntryType type, std::string_view old, std::string_view line);
  /// Records the origins of what was added. To be called before the lines are replaced.
  void settle();

 private:
  struct Line {
    EntryType type;
    std::string text;
  };

  const ProvenanceLog* provenance_;
  std::string_view session_id_;
  std::vector<OriginQuery> old_;
  std::vector<Line> lines_;
};

/// Origins of some lines: all are named first, and found in one pass. Without a provenance log all
/// are as the root is: accepted where nobody checks, else from elsewhere.
class LineOrigins {
 public:
  /// `ledger` may be null, and must outlive it.
  LineOrigins(const ProvenanceLog* provenance, Origin without)
      : provenance_(provenance), without_(without) {}

  void want(std::string_view session_id, JsonValue entry, std::string_view line);
  void find();
  /// Of a line that was wanted; from elsewhere for any other.
  [[nodiscard]] Origin of(std::string_view session_id, JsonValue entry,
                          std::string_view line) const;

 private:
  const ProvenanceLog* provenance_;
  Origin without_;
  std::unordered_map<std::uint64_t, Origin> origins_;
};

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
  [[nodiscard]] const ProvenanceLog* provenance() const {
    return is_foreign() ? nullptr : provenance_.get();
  }
  /// For lines when there is no provenance log.
  [[nodiscard]] Origin origin_without_provenance() const {
    return is_foreign() ? Origin::kElsewhere : Origin::kAccepted;
  }
  /// Why nothing is written: a link leads to the root, and the user does not trust it.
  [[nodiscard]] const std::optional<Error>& link_problem() const { return link_problem_; }
  /// Of one line.
  [[nodiscard]] Origin origin_of(std::string_view session_id, std::string_view line) const {
    return provenance_ == nullptr ? origin_without_provenance()
                                  : provenance_->origin_of(session_id, line);
  }
  [[nodiscard]] LineOrigins lines() const { return {provenance(), origin_without_provenance()}; }
  /// The same with what is still known of a root whose trust was revoked.
  [[nodiscard]] LineOrigins known_lines() const {
    return {provenance_.get(), origin_without_provenance()};
  }

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
  /// provenance log that is there stays. Errors: E_STORAGE_IO, E_ACCESS_DENIED for a folder that
  /// others may write.
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

  /// Makes it foreign. Of the provenance log only what agents wrote stays: that is theirs when the
  /// root is trusted again. Errors: E_STORAGE_IO, E_STORAGE_FULL.
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
  std::unique_ptr<ProvenanceLog> provenance_;  // May be there for a foreign root: see revoke().
};

}  // namespace bmad_mem
