// reports.hpp - what the calls of MemoryManager take and give back, apart from entries to write and
// queries.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/encoder.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

struct InitReport {
  std::string root;
  bool created_config = false;  ///< False: it was there and is unchanged. So for .gitignore.
  bool created_gitignore = false;
  bool created_root = false;  ///< Nothing was there before: the root is the user's own.
  /// Why that could not be noted in the state folder: the root is foreign then.
  std::optional<Error> trust_problem = {};
};

/// Where the title of a session is from.
enum class TitleSource : std::uint8_t {
  kChosen,   ///< Somebody gave it: `session rename`.
  kRequest,  ///< What the user asked for first.
  kSummary,  ///< The first line of its summary.
  kDay,      ///< Who wrote, and on which day: nothing else is known.
  kEntry,    ///< One of its entries, where it has none of these and names no agent.
};

/// "chosen", "request", "summary", "day" or "entry". Static storage.
std::string_view title_source_name(TitleSource source);

/// Identity and metadata of a session.
struct Session {
  std::string session_id;
  Timestamp created_at{};
  /// Of an open one the time of its newest entry, else its close; created_at without entries.
  Timestamp last_write{};
  std::optional<Timestamp> closed_at;
  std::string user_id;
  std::vector<std::string> agent_ids;
  std::string project_name;
  std::string session_type;
  std::vector<std::string> tags;
  /// What people call it, on one line; only with a problem it may be empty.
  std::string title;
  TitleSource title_from = TitleSource::kDay;
  /// What its user asked for first in words that say something, else first of all, on one line of
  /// at most 200 characters; empty when nobody did, or when messages may not be read. It is read
  /// from the log, and goes with the message.
  std::string first_request = {};
  /// What else is in the manifest's `metadata`, as one JSON object; empty without any.
  std::string metadata_json;
  std::uint64_t size_bytes = 0;  ///< Of the tracked files.
  std::string manifest;          ///< The manifest as one JSON object; empty with a problem.
  std::optional<Error> problem;  ///< Why there is no more to say; only in lists.
  std::string notice;            ///< What was noticed of its logs at close; a sentence, or empty.
};

struct TypeStatistics {
  EntryType type = EntryType::kConversation;
  std::uint64_t entries = 0;          ///< Distinct ids.
  std::uint64_t versions = 0;         ///< Good lines.
  std::uint64_t encrypted_lines = 0;  ///< Lines that only a key opens; none of the above.
  std::uint64_t damaged_lines = 0;    ///< Lines that `verify` names.
  std::uint64_t bytes = 0;            ///< Size of the log.
  std::uint64_t torn_bytes = 0;       ///< Behind its last newline.
};

struct SessionStatistics {
  std::string session_id;
  std::array<TypeStatistics, kEntryTypeCount> types{};  ///< In the order of the enum.
  std::uint64_t size_bytes = 0;                         ///< Of the tracked files.
  std::uint64_t size_max_bytes = 0;                     ///< The session's quota.
  bool is_over_trigger = false;                         ///< Large enough for compaction.
  std::uint64_t quarantined = 0;                        ///< Lines in quarantine.jsonl.
  std::optional<Timestamp> oldest;                      ///< By the entries' timestamps.
  std::optional<Timestamp> newest;

  [[nodiscard]] std::uint64_t entries() const;
  [[nodiscard]] std::uint64_t versions() const;
  [[nodiscard]] std::uint64_t encrypted_lines() const;
  [[nodiscard]] std::uint64_t damaged_lines() const;
};

struct GlobalStatistics {
  std::vector<SessionStatistics> sessions;  ///< Those that can be read, oldest first.
  std::vector<Error> problems;              ///< Why others can't.
};

struct RejectedLine {
  std::uint64_t line = 0;  ///< 1-based in the batch.
  Error error;
};

/// How much was taken out of texts, by rule: {"github-pat": 2}.
using RedactionCounts = std::map<std::string, std::uint64_t, std::less<>>;

struct BatchReport {
  std::vector<std::string> ids;  ///< Of the entries written, in the order of the batch.
  std::uint64_t skipped = 0;     ///< Known already, see KnownEntries, or deleted or purged before.
  std::uint64_t deleted = 0;     ///< Of these: can be undeleted.
  std::vector<RejectedLine> rejected;
  /// Sentences for people about what else happened: the session is nearly full, was compacted, or
  /// was brought back from its archive.
  std::vector<std::string> notices;
  std::uint64_t waiting = 0;  ///< Entries that wait for their key, see BatchOptions::may_wait.
  RedactionCounts redacted;   ///< Secrets and personal data that were taken out before writing.
  std::uint64_t judged = 0;   ///< New values of these, which go wherever they stand from here on.
};

/// How an entry is linked to another one.
enum class Relation : std::uint8_t {
  kReferences,    ///< The asked one names it.
  kReferencedBy,  ///< It names the asked one.
  kSameTopic,
  kSimilar,  ///< Its text is like that of the asked one.
  // Typed links, each and its reverse: the asked one solves it, or is solved by it.
  kSolves,
  kSolvedBy,
  kCauses,
  kCausedBy,
  kSupersedes,
  kSupersededBy,
  kRefines,
  kRefinedBy,
};

/// The relation as it is printed, such as "referenced_by". Static storage.
std::string_view relation_name(Relation relation);
/// The relation that a typed link is for the entry it comes from, or for the one it leads to.
Relation relation_of(LinkKind kind, bool is_target);
/// Whether it is a typed link, and not a reference or a likeness.
constexpr bool is_typed(Relation relation) { return relation >= Relation::kSolves; }

/// A typed link of an entry.
struct EntryLink {
  Relation relation = Relation::kSolves;
  std::string session_id;  ///< Of the other entry, and so for the next.
  EntryType type = EntryType::kConversation;
  std::string id;
  std::string headline;  ///< Empty where that entry is sensitive.
};

/// One entry, or one version of it, as it stands in its log.
struct Entry {
  std::string session_id;
  EntryType type = EntryType::kConversation;
  std::string id;
  Timestamp timestamp{};
  std::string who = {};       ///< Agent, author or finder; may be empty.
  std::string headline = {};  ///< One line for people.
  /// The line, byte for byte; but get(), list() and queries leave out of its `links` what has been
  /// deleted or may not be read.
  std::string json = {};
  std::uint64_t line = 0;      ///< 1-based in its log.
  std::uint64_t versions = 1;  ///< How many lines carry this id.
  bool pinned = false;
  bool sensitive = false;                    ///< Not for a model, unless somebody asks for it.
  bool archived = false;                     ///< Its session is archived.
  bool evicted = false;                      ///< Compaction has moved it out of its session.
  std::optional<Timestamp> expires_at = {};  ///< Until when it is valid.
  bool of_user = false;                      ///< It is in the user's own memory.
  /// The headline of a newer version by somebody else, which nobody has accepted; else empty.
  std::string newer = {};
  /// Of get() without a time: its typed links, and those of others to it, that lead to an entry.
  std::vector<EntryLink> links = {};
};

struct MoveReport {
  std::vector<Entry> moved;  ///< As they were in the memory that they left.
  std::string session_id;    ///< Where they are now; empty when nothing was moved.
  std::vector<std::string> unknown_ids;
};

struct PinReport {
  std::vector<Entry> changed;    ///< As they are now.
  std::vector<Entry> unchanged;  ///< Which were like that already.
  std::vector<std::string> unknown_ids;
};

/// A session that was indexed anew.
struct IndexReport {
  std::string session_id;
  std::uint64_t entries = 0;      ///< Latest versions.
  std::uint64_t terms = 0;        ///< Distinct words.
  std::uint64_t log_bytes = 0;    ///< That it covers.
  std::uint64_t index_bytes = 0;  ///< Of index.json.
  std::chrono::nanoseconds took{0};
};

enum class FindingKind : std::uint8_t {
  kDamagedLine,      ///< A line that is no entry.
  kTornTail,         ///< Bytes behind the last newline: a write that was never acknowledged.
  kMissingManifest,  ///< Entries without a manifest.
  kDamagedManifest,
  kDamagedConfig,
  kForeignFile,     ///< A link, a device, a folder where a file belongs.
  kUnreadable,      ///< The disk fails, the right to read is missing, or it is far too large.
  kNewerVersion,    ///< A newer program wrote it; nothing is wrong with it.
  kDamagedArchive,  ///< An archive that can't be unpacked, or holds other bytes than it did.
  kDamagedFile,     ///< Any other file of the engine that can't be read as what it is.
  // Of lines that are entries, but not those that were written:
  kChangedLine,
  kLostLine,  ///< Behind this line.
  kAddedLine,
  kDoubledLine,
  kMovedLine,
};

/// The kind as it is printed, such as "damaged_line". Static storage.
std::string_view finding_kind_name(FindingKind kind);

/// Something that `verify` found.
struct Finding {
  FindingKind kind = FindingKind::kDamagedLine;
  std::string session_id;  ///< Empty for what belongs to the root.
  std::string path;
  std::uint64_t line = 0;    ///< 1-based; 0 when it is about the whole file.
  std::uint64_t column = 0;  ///< 1-based byte; 0 when unknown.
  std::uint64_t offset = 0;  ///< In the file, of the line.
  std::uint64_t size = 0;    ///< Bytes it is about.
  std::string field = {};
  std::string reason;
};

struct VerifyReport {
  std::vector<Finding> findings;  ///< By session, file and line.
  /// Where good lines are not those that were written, and the file was changed since: somebody
  /// edited, copied or merged. What git has put there is not among them.
  std::vector<Finding> changes;
  std::uint64_t sessions = 0;
  std::uint64_t logs = 0;
  std::uint64_t lines = 0;  ///< Encrypted ones too.
  std::uint64_t bytes = 0;
  std::uint64_t encrypted_lines = 0;
  std::uint64_t closed_lines = 0;  ///< Encrypted ones without their key: of these, the form alone.
  std::uint64_t unencrypted_lines =
      0;                        ///< In clear, though they are to be encrypted: of a merge, mostly.
  std::string encrypt_command;  ///< Which encrypts these.
  /// Whether this machine knows which encrypted entries there were, or there are none.
  bool knows_encrypted = true;
};

/// Where to look for lines that an editor changed.
enum class HandLook : std::uint8_t {
  kChanged,         ///< In logs that changed since the last look.
  kChangedByAgent,  ///< The same; the edits are the agent's.
  kAll,
};

/// A line of a log that an editor changed, before its review.
struct HandEdit {
  /// kChangedLine, kLostLine, kAddedLine, kDoubledLine or kMovedLine, and where it was found.
  Finding place;
  EntryType type = EntryType::kConversation;
  bool by_agent = false;   ///< While an agent's session was open; else the person's.
  std::uint32_t hash = 0;  ///< Of the line, as the line hashes have it; 0 of a lost one.
  std::uint32_t old = 0;   ///< Of the line that was there; 0 of an added one.
  std::string id;          ///< Of the entry; of a lost one only where git has it.
  // Where they are asked for:
  std::string text;    ///< The line; empty when it has gone, or changed again.
  std::string before;  ///< The line that was there; empty when git does not have it.
};

/// One thing that `repair` did.
struct RepairAction {
  std::string session_id;
  std::string path;
  std::string what;         ///< "set aside 2 damaged lines".
  std::uint64_t count = 0;  ///< Of lines or files.
};

struct RepairReport {
  std::vector<RepairAction> actions;
  std::vector<Finding> left;  ///< What a person must look at.
  std::uint64_t sessions = 0;
};

/// What is known of a new session. Everything may stay empty.
struct SessionParams {
  std::string session_id = {};  ///< Made from the date when empty.
  std::string user_id = {};
  std::vector<std::string> agent_ids = {};
  std::string project_name = {};
  std::string session_type = {};  ///< Free text, such as "architecture_review".
  std::vector<std::string> tags = {};
  std::string title = {};          ///< Derived from what is said when empty, see Session::title.
  std::string metadata_json = {};  ///< As SessionChange::metadata_json.
};

/// What is to be changed about a session; the rest stays.
struct SessionChange {
  /// One line; an empty one takes the chosen title away, and a derived one is shown again.
  std::optional<std::string> title = {};
  /// A JSON object of at most 16 KiB whose members take the place of those in the manifest's
  /// `metadata`; null removes one. project_name, session_type and title must be strings, tags
  /// a list of strings; all others may be anything. Empty: nothing.
  std::string metadata_json = {};
};

/// Where a write goes that names no session.
struct UsualSession {
  std::string session_id;
  std::size_t open_sessions = 0;  ///< How many were open; 0: this one was made.
};

/// What add_batch does with an entry whose id is in the log already. What was purged, or can be
/// undeleted and is not in the log again, kSkip… leave out as well.
enum class KnownEntries : std::uint8_t {
  kAppendVersion,  ///< A newer line with the same id: an update.
  kSkipDeleted,    ///< As above.
  kSkipIdentical,  ///< As above, unless the very same line is there.
  kSkipId,         ///< Leaves the entry out.
  kRefuse,         ///< E_CONCURRENT_MOD, unless the very same line is there: leaves that out.
};

struct BatchOptions {
  /// Write the good lines and report the others; otherwise one bad line refuses all.
  bool keep_going = false;
  KnownEntries known = KnownEntries::kAppendVersion;
  /// A blank line behind each entry: git merges changes of lines that are no neighbours.
  bool spaced = false;
  /// Entries that are to be encrypted and whose key is not here wait outside the project instead of
  /// an error; see write_waiting().
  bool may_wait = false;
};

}  // namespace bmad_mem
