// import_sink.hpp - where importers put entries: gathered into batches, counted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

// Forks, branches and resumed copies begin with messages of another session.
//
//   session cc-1   A  B  C          stored in cc-1, when they were said
//   session cc-2   A  B  C  D  E    D and E are stored in cc-2; D answers the C of cc-1
//
// A message is a copy where all before it in its session are, and another session had it first: by
// id, role and text, or by role, time and text. Where a record names the session that it was made
// from, role and text are enough: there times are those of the fork.

/// What tells one message from all others.
struct MessageKey {
  std::string_view session;
  std::string_view id;
  std::string_view role;
  std::string_view time;  ///< Empty: it has none.
  std::string_view text;
};

/// The messages of an import and of the memory that it goes to: hashes of 64 bits, and ids.
class CopiedMessages {
 public:
  struct Origin {
    std::string id = {};  ///< The original's; empty: the message is no copy.
    /// Of the original. Of what is no copy: of the first message behind the copies the session
    /// that they are of, else empty.
    std::string_view session = {};
  };

  /// A message that `key.session` has as `id`. Who comes first has said it first.
  void add(const MessageKey& key, const std::string& id);
  /// An event of this session.
  void add_event(std::string_view session, std::string_view id);

  /// Whether any session has the message. `parent`: as in origin_of().
  [[nodiscard]] bool knows(const MessageKey& key, std::string_view parent) const {
    return find(key, parent) != nullptr;
  }
  /// Whether a message was seen in the session that is no copy: all others are none, either.
  [[nodiscard]] bool is_past_copies(std::string_view session) const {
    const auto found = progress_.find(session);
    return found != progress_.end() && found->second.is_own;
  }
  /// From here on nothing in the session is a copy.
  void end_copies(std::string_view session) { progress_[std::string(session)].is_own = true; }
  /// The original of the next message of `key.session`. `parent`: the session that a record says
  /// it was made from; empty where none does.
  Origin origin_of(const MessageKey& key, std::string_view parent);
  /// Whether an event that comes next in the session is one of another session, or was there
  /// before.
  [[nodiscard]] bool is_copied_event(std::string_view session, std::string_view id);

 private:
  struct Said {
    std::uint32_t session = 0;
    std::string id;
  };
  struct Progress {
    bool is_own = false;
    std::uint32_t copies_of = 0;  ///< 0: none was seen.
  };

  std::uint32_t number_of(std::string_view session);
  [[nodiscard]] const Said* find(const MessageKey& key, std::string_view parent) const;

  std::vector<Said> said_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_hash_;  ///< Where in said_.
  std::unordered_map<std::uint64_t, std::uint32_t> events_;   ///< By hash of the id: the session.
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::vector<std::string_view> names_ = {{}};  ///< By number; 0 is none.
  std::map<std::string, Progress, std::less<>> progress_;
};

/// What an import did.
struct ImportReport {
  std::uint64_t files = 0;
  std::array<std::uint64_t, kEntryTypeCount> written{};  ///< By type; in a dry run what was read.
  std::uint64_t known = 0;                               ///< Left out, as they were there already.
  std::uint64_t deleted = 0;                             ///< Left out; undelete() restores them.
  std::uint64_t refused = 0;                             ///< Lines that are no entries.
  std::set<std::string, std::less<>> sessions;
  std::map<std::string, std::uint64_t> skipped;  ///< Left out on purpose, by reason.
  std::vector<std::string> notices;              ///< BatchReport::notices, each once.

  [[nodiscard]] std::uint64_t written_in_all() const;
};

/// What an import made of one file.
struct ImportTally {
  std::string name;           ///< ImportFile::name; empty: not read to its end, or no transcript.
  std::string state;          ///< ImportFile::state.
  std::uint64_t entries = 0;  ///< Written or known.
  bool differs = false;       ///< The memory may have a text of it in other words.
  bool is_odd = false;        ///< Something was refused, deleted or not written: it is read again.
  std::map<std::string, std::uint64_t> skipped;
  std::map<std::string, std::string> sessions;  ///< Which hold its entries, with their stamps.
};

/// The `source` of facts that another memory gave away. Somebody stored them there, but nobody here
/// has looked at them.
inline constexpr std::string_view kImportSource = R"({"kind":"import","trust":0.7})";

/// Why a version is left out, as skip() counts it.
inline constexpr std::string_view kOlderVersions = "older versions of entries that are there";

/// When this version of the entry was written: the later of written_at and updated_at, else
/// timestamp, else 1970.
Timestamp version_time(JsonValue entry);

/// Where in the input something came from.
struct ImportOrigin {
  std::string_view file;
  std::uint64_t line = 0;
};

/// Holds at most kBytesMax of entries before it writes them.
class ImportSink {
 public:
  /// `memory` is null in a dry run: then nothing is written. `on_refused` is called for each line
  /// that is no entry.
  /// `checker` says in a dry run what a memory would refuse; null: nothing is checked.
  ImportSink(MemoryManager* memory, std::function<void(const Error&)> on_refused,
             const MemoryManager* checker = nullptr)
      : memory_(memory), checker_(checker), on_refused_(std::move(on_refused)) {}

  /// From here on add() fails once there is something to read at `descriptor`: a signal.
  void stop_at(int descriptor) { stop_descriptor_ = descriptor; }
  /// Whether add() failed for that.
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }

  /// Makes the session unless it is there, with the `identity` if one is given. One of which
  /// something can be undeleted is made for its first other entry. Errors: E_INVALID_FORMAT for its
  /// id, and I/O.
  Status need_session(const SessionParams& params, const std::optional<Session>& identity = {});

  /// The session of the name `params.session_id` to write to (shared_session.hpp), made unless it
  /// is there. What other sessions of the name hold counts as known, and newer versions go to them.
  Result<std::string> need_shared_session(SessionParams params);

  /// Entries of this session get a blank line behind each; see BatchOptions::spaced.
  void space_out(const std::string& session_id) { session_import(session_id).is_spaced = true; }

  /// Whether need_session() has seen it. The file at hand counts as one that has entries of it.
  [[nodiscard]] bool has_session(std::string_view session_id) {
    tally().sessions.try_emplace(std::string(session_id));
    return report_.sessions.contains(session_id);
  }

  /// The id of a message of this role, or an event of this kind, and text that was recorded in the
  /// session when it was said, and not imported, deleted or not; empty when there is none. Also of
  /// an answer in which a hook recorded several: Gemini CLI tells those of a turn as one. It counts
  /// as known, and is found once: who says "yes" twice has said it twice.
  std::string take_recorded(const std::string& session_id, std::string_view what,
                            std::string_view text);

  /// What is known of the next message of a session that need_session() has seen: whether another
  /// session had it first. Then it counts as known. See CopiedMessages::origin_of().
  Result<CopiedMessages::Origin> take_copied(const MessageKey& key, std::string_view parent);
  /// Whether the session has messages, and not this one.
  Result<bool> has_others_than(const MessageKey& key);
  /// Whether the session has a message of this role and text. It counts as known.
  bool take_same(const MessageKey& key);
  /// The same of an event.
  bool take_copied_event(std::string_view session, std::string_view id);
  /// From here on the message counts as said in `key.session`, where it has this id.
  void note_said(const MessageKey& key, const std::string& id) {
    session_import(key.session).has_said = true;
    copied_.add(key, id);
  }

  /// Whether there is such a session, an archived one included. False in a dry run.
  [[nodiscard]] bool is_there(const std::string& session_id) const;

  /// One entry of a session that need_session() has seen; `json` has an id. With kSkipIdentical
  /// also versions are left out that are older than what is there. With kAppendVersion the importer
  /// has looked what is there, and only what was purged is left out; it must not be mixed with the
  /// others before flush(). Errors: those of add_batch().
  Status add(std::string_view session_id, EntryType type, std::string json, KnownEntries known,
             const ImportOrigin& origin);
  /// A version like an earlier one of the same entry, which is to be the latest again; not if the
  /// entry was purged.
  Status add_again(const std::string& session_id, EntryType type, std::string json,
                   const std::string& id, const ImportOrigin& origin);
  /// Counts something that is left out, such as "progress records".
  void skip(std::string_view reason, std::uint64_t count = 1) {
    if (count != 0) {
      report_.skipped[std::string(reason)] += count;
      tally().skipped[std::string(reason)] += count;
    }
  }
  /// Counts and reports a line that is no entry.
  void refuse(Error error, const ImportOrigin& origin);

  /// Writes what is left.
  Status flush();

  /// Must follow the last file. Writes what is left, and gives sessions the times of what they
  /// hold: one that was made begins with its first entry, and is closed if its last is over a day
  /// old; one that was closed is closed again.
  Status finish();

  /// Null in a dry run.
  [[nodiscard]] MemoryManager* memory() const { return memory_; }
  [[nodiscard]] ImportReport& report() { return report_; }
  /// Of the file at hand.
  [[nodiscard]] ImportTally& tally() { return tallies_[report_.files]; }
  /// By the number of the file.
  [[nodiscard]] const std::map<std::uint64_t, ImportTally>& tallies() const { return tallies_; }

 private:
  static constexpr std::size_t kBytesMax = 4U << 20U;

  struct Pending {
    std::string json;
    KnownEntries known = KnownEntries::kSkipId;
    std::string file;
    std::uint64_t file_number = 0;
    std::uint64_t line = 0;
  };
  using Key = std::pair<std::string, EntryType>;
  struct RecordedText {
    std::string id;
    std::string rest;  ///< Of an answer: what no message was found in yet.
  };
  /// What hooks recorded in a session, by role or kind and text.
  using Recorded = std::multimap<std::string, RecordedText, std::less<>>;

  [[nodiscard]] Pending pending(std::string json, KnownEntries known,
                                const ImportOrigin& origin) const;
  /// The memory that is asked what is there; null: none.
  [[nodiscard]] const MemoryManager* there() const {
    return memory_ != nullptr ? memory_ : checker_;
  }
  /// Counts an entry of the file at hand that the memory has.
  /// Returns `is_known`.
  bool count_known(bool is_known) {
    report_.known += is_known ? 1 : 0;
    tally().entries += is_known ? 1 : 0;
    return is_known;
  }
  Status read_recorded(const std::string& session_id, bool is_there);
  /// `kind`: the member that says what it is, beside its text.
  void add_recorded(Recorded& recorded, const Entry& entry, std::string_view kind);
  std::string take_part_of_recorded(Recorded& recorded, std::string_view text);
  /// Tells copied_ what other sessions of this type hold.
  Status read_said(std::string_view session_type);
  /// Takes out what other sessions of the same name hold, and writes newer versions to these.
  Status leave_out_shared(const Key& key, std::vector<Pending>& entries);
  Status write(const Key& key, std::vector<Pending>& entries);
  /// A batch that the session has no room for is written in halves: compaction makes room for each.
  Status write_batch(const Key& key, std::span<const Pending> entries, KnownEntries rule);
  /// In a dry run: counts what write() would write, and refuses what it would.
  Status check(const Key& key, std::vector<Pending>& entries);
  void refuse_all(const std::vector<RejectedLine>& rejected, std::span<const Pending> entries);
  /// Takes out what is known already, where a batch has lines of both rules: the engine applies one
  /// rule to a batch, and two batches would change the order of the lines.
  Status leave_out_known(const std::string& session_id, EntryType type,
                         std::vector<Pending>& entries);

  /// A session that entries are put into, or whose versions are.
  struct SessionImport {
    std::string type;
    std::function<Status()> make;  ///< What makes it, if that was put off.
    bool is_new = false;           ///< It is made here, or was.
    bool is_shared = false;
    bool is_spaced = false;
    bool has_said = false;           ///< It has messages of this import.
    std::optional<Session> closed;   ///< As it was, where it was closed.
    std::optional<Timestamp> first;  ///< When its entries were made, as far as they say so.
    std::optional<Timestamp> last;
    std::vector<std::string> siblings;       ///< Other sessions of its name.
    std::set<std::string, std::less<>> own;  ///< Ids of messages there.
    /// Ids of entries that were deleted: of one that is not there, and of others of its name. The
    /// engine sees the rest.
    std::set<std::string, std::less<>> deleted;
    Recorded recorded;  ///< Most have none.
  };
  SessionImport& session_import(std::string_view session_id) {
    return sessions_[std::string(session_id)];
  }
  /// Makes the session if that was put off.
  static Status make_session(SessionImport& session);
  Status give_times(const std::string& session_id, const SessionImport& had);

  MemoryManager* memory_;
  const MemoryManager* checker_;
  std::function<void(const Error&)> on_refused_;
  JsonParser parser_;
  ImportReport report_;
  std::map<std::uint64_t, ImportTally> tallies_;
  std::map<Key, std::vector<Pending>> pending_;
  std::size_t pending_bytes_ = 0;
  int stop_descriptor_ = -1;
  std::uint64_t adds_ = 0;
  bool is_stopped_ = false;
  std::set<std::string> judged_;  ///< Sessions in which a value was judged to be a secret.
  std::map<std::string, SessionImport> sessions_;
  std::map<std::string, std::string> shared_;  ///< By name: where to write.
  CopiedMessages copied_;
  std::set<std::string, std::less<>> read_types_;  ///< Types of sessions that copied_ knows.
  std::optional<SecretScanner> scanner_;           ///< Only where something is recorded.
};

}  // namespace bmad_mem::cli
