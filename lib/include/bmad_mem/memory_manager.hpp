// memory_manager.hpp - the memory of one project, for programs that embed it.
//
//   auto memory = bmad_mem::MemoryManager::open({.root = ".bmad/memory", .agent_id = "architect"});
//   auto session = memory->create_session({.user_id = "user-789"});
//   memory->add_decision(*session, {.decision = "Use PostgreSQL", .rationale = "ACID"});
//   auto hits = memory->query({.text = "why postgres"});
//
// What a write call returned as done survives power loss. Reads take no lock and never wait for a
// writer. Threads: all calls are safe from any thread; so are any number of processes on one root.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/encryption.hpp"
#include "bmad_mem/entries.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/exports.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/opening.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/trust.hpp"

namespace bmad_mem {

class MemoryManager {
 public:
  /// How many typed links in a row related() follows at most.
  static constexpr std::size_t kLinkDepthMax = 10;
  /// Most bytes of a document that is kept as an artifact.
  static constexpr std::size_t kArtifactSizeMax = std::size_t{1} << 20U;

  /// The root to use: `explicit_root` if not empty, else `env_value` if not empty, else the nearest
  /// .bmad/memory in `working_directory` or above. `state_folder`, as init() has it, tells whether
  /// the user trusts what a main worktree says of the others. Errors: E_SESSION_NOT_FOUND.
  /// Why a worktree of git has no memory of a main one, as a sentence; empty where it has, or is
  /// none.
  static std::string worktree_problem(const std::string& working_directory);
  /// The folder of the project in the other worktrees of its repository; none for most.
  [[nodiscard]] const std::vector<std::string>& worktrees() const;
  static Result<std::string> find_root(std::string_view explicit_root, std::string_view env_value,
                                       const std::string& working_directory,
                                       const std::string& state_folder = {});

  /// Where init puts a root: `explicit_root`, else `env_value`, else .bmad/memory right in
  /// `working_directory`.
  static std::string root_to_create(std::string_view explicit_root, std::string_view env_value,
                                    const std::string& working_directory);

  /// Creates the root with config.json and .gitignore. What is there already stays as it is. A root
  /// where nothing was is marked as the user's own in `state_folder`, see OpenOptions.
  static Result<InitReport> init(const std::string& root, const std::string& state_folder = {});

  /// Opens an existing root. Errors: E_SESSION_NOT_FOUND when there is none; E_INVALID_FORMAT and
  /// E_SCHEMA_INVALID for a bad config.json that the user trusted, naming line and key.
  static Result<MemoryManager> open(OpenOptions options);

  MemoryManager(MemoryManager&&) noexcept;
  MemoryManager& operator=(MemoryManager&&) noexcept;
  ~MemoryManager();

  /// What is odd about config.json but prevents nothing: unknown keys, and what is not as the user
  /// trusted it.
  [[nodiscard]] std::vector<std::string> config_warnings() const;
  /// What is wrong with config.json, which has no effect then: what the user trusted of it holds,
  /// else the defaults. It is one of the warnings.
  [[nodiscard]] const std::optional<Error>& config_problem() const;
  [[nodiscard]] HookPolicy hook_policy() const;

  // Trust, see trust.hpp.

  /// Whether somebody else made the root: all of it is quoted, and no program of it runs.
  [[nodiscard]] bool is_foreign() const;
  /// Whether it could not be noted who wrote something through this object, as on a full disk: that
  /// is quoted.
  [[nodiscard]] bool has_lost_origins() const;
  [[nodiscard]] TrustReport trust_report() const;
  /// Trusts the root as it is: its programs may run, and its lines that nobody has a record of are
  /// taken at their word. Errors: E_STORAGE_IO, E_STORAGE_FULL; E_ACCESS_DENIED for a state folder
  /// that others may write; E_INVALID_QUERY without one.
  Result<TrustReport> trust();
  /// Makes the root foreign. Errors: E_STORAGE_IO.
  Result<TrustReport> revoke_trust();
  [[nodiscard]] const std::string& root() const;
  /// What programs noted about the root as `name`, which begins with '/', in the state folder;
  /// empty without it, without a state folder, and for what other users may write.
  [[nodiscard]] std::string note_text(std::string_view name) const;
  /// Replaces it, atomically, by what `change` makes of it; one process at a time. Errors:
  /// E_STORAGE_IO, E_STORAGE_FULL, E_ACCESS_DENIED: it is as it was.
  Status change_note(std::string_view name,
                     const std::function<std::string(std::string)>& change) const;

  // Sessions.

  /// Creates a session and returns its id. Durable on return.
  /// Errors: E_INVALID_FORMAT for a bad id, E_CONCURRENT_MOD when the id is taken.
  Result<std::string> create_session(const SessionParams& params);
  /// The open session that was written last; a new one of `fresh` where none is open. `is_needed`,
  /// if given, is asked before a new one is made: when it says no, none is, and `session_id` is
  /// empty. Errors: as create_session(); those of `is_needed`.
  Result<UsualSession> usual_session(const SessionParams& fresh = {},
                                     const std::function<Result<bool>()>& is_needed = {});
  /// Errors: E_SESSION_NOT_FOUND, E_SESSION_CORRUPT.
  Result<Session> load_session(std::string_view session_id) const;
  /// All sessions, oldest first. One whose manifest is damaged is there with `problem` set.
  Result<std::vector<Session>> list_sessions() const;
  /// Refreshes the statistics in the manifest and notes the time. The next write opens it again.
  Result<Session> close_session(std::string_view session_id);
  /// Changes title and metadata, without their secrets; a session that is archived is restored, one
  /// that is closed stays closed. Durable on return. Errors: E_SESSION_NOT_FOUND; E_INVALID_FORMAT
  /// for metadata that are no object; E_SCHEMA_INVALID for a member of another kind, with field;
  /// E_SIZE_LIMIT. The session is unchanged then.
  Result<Session> update_session(std::string_view session_id, const SessionChange& change);
  /// Which files the logs of the session are, and of which size and times: the same text as long as
  /// nothing changed them. Empty where there are none. Reads no log.
  [[nodiscard]] std::string log_stamp(std::string_view session_id) const;
  /// Counted from the logs as they are now.
  Result<SessionStatistics> statistics(std::string_view session_id) const;
  Result<GlobalStatistics> global_statistics() const;
  /// Whether a session that load_session() or list_sessions() gave is in use: kActive, or kIdle
  /// when it is closed or was not written to for memory_config.lifecycle.idle_after_hours.
  [[nodiscard]] SessionState session_state(const Session& session) const;

  // Writing. Each returns the id of the entry, durable. An id that is in the log already makes the
  // entry a new version. Errors: E_SCHEMA_INVALID and E_INVALID_FORMAT with field and, for batches,
  // line; E_SESSION_NOT_FOUND; E_SIZE_LIMIT; E_LOCK_TIMEOUT; E_STORAGE_FULL: nothing was written.
  // E_STORAGE_IO: the entry may be there, but nothing is promised.

  Result<std::string> add_conversation(std::string_view session_id,
                                       const ConversationEntry& entry) {
    return add(session_id, EntryType::kConversation, to_json(entry));
  }
  Result<std::string> add_decision(std::string_view session_id, const DecisionRecord& entry) {
    return add(session_id, EntryType::kDecision, to_json(entry));
  }
  Result<std::string> add_finding(std::string_view session_id, const FindingRecord& entry) {
    return add(session_id, EntryType::kFinding, to_json(entry));
  }
  Result<std::string> update_preference(std::string_view session_id, const UserPreference& entry) {
    return add(session_id, EntryType::kPreference, to_json(entry));
  }
  Result<std::string> add_fact(std::string_view session_id, const FactEntry& entry) {
    return add(session_id, EntryType::kFact, to_json(entry));
  }
  Result<std::string> add_event(std::string_view session_id, const EventEntry& entry) {
    return add(session_id, EntryType::kEvent, to_json(entry));
  }
  Result<std::string> set_agent_state(std::string_view session_id, const AgentStateEntry& entry) {
    return add(session_id, EntryType::kAgentState, to_json(entry));
  }
  Result<std::string> add_artifact(std::string_view session_id, const ArtifactEntry& entry) {
    return add(session_id, EntryType::kArtifact, to_json(entry));
  }

  /// `json` is one JSON object with the fields of `type`; unknown fields are kept byte for byte.
  Result<std::string> add(std::string_view session_id, EntryType type, std::string_view json);

  /// Corrects an entry: a newer version of the one with this id, with the members of `changes`, a
  /// JSON object, in place of its own; null takes one away, what is not named stays byte for byte.
  /// Two that change different members at the same time both hold. An entry that says it already
  /// stays as it is. Returns the newest version. Durable on return. Errors: E_ENTRY_NOT_FOUND for
  /// an unknown id; E_INVALID_QUERY for no change, one of id, type or session_id, and an id that
  /// several of `sessions` (all when empty) have; as add()'s.
  Result<Entry> update_entry(std::string_view id, std::string_view changes,
                             std::span<const std::string> sessions = {});

  /// Links two entries, or takes the link away: a newer version of the entry that holds the link,
  /// whose time stays. The target of kSupersedes holds it, and counts as replaced from now on, in
  /// lists, queries and knowledge, until the link is taken away; of other kinds the source. Needs
  /// the right to write the entry that holds it. Durable on return. Errors: E_ENTRY_NOT_FOUND for
  /// an unknown id; E_INVALID_QUERY for an entry and itself, for two that supersede each other or
  /// state the same key, and for an id that several of the sessions have; as add()'s.
  Result<LinkReport> link(const LinkRequest& request);
  /// Pins the entries with these ids, or takes the pins away: a new version of each, in whatever
  /// sessions of `sessions` (all when empty) they are. What is pinned never decays, is never
  /// evicted, and is told to every agent. Durable on return. Errors: as add()'s.
  Result<PinReport> pin(std::span<const std::string> ids, bool pinned = true,
                        std::span<const std::string> sessions = {});
  /// Moves the entries with these ids, in their newest version, into the open session of `target`
  /// that was written last, or a new one; here they are deleted, and can be brought back. First
  /// they are durable there. Errors: E_CONCURRENT_MOD when `target` has another entry with such an
  /// id; as add()'s.
  Result<MoveReport> move_entries(std::span<const std::string> ids, MemoryManager& target);
  /// Keeps a document, UTF-8, at most kArtifactSizeMax bytes, as artifacts/{id}.md of the session,
  /// without its secrets, and an entry that points to it. Durable on return. Errors: E_SIZE_LIMIT;
  /// E_INVALID_FORMAT for what is no text; as add()'s.
  Result<std::string> add_artifact_document(std::string_view session_id, ArtifactEntry entry,
                                            std::string_view document);

  /// The document of artifact `id` whose file holds `stored`: opened, if it is encrypted. Errors:
  /// E_ACCESS_DENIED without its key; E_STORAGE_CORRUPT when it was changed.
  [[nodiscard]] Result<std::string> document_text(std::string_view session_id,
                                                  std::string stored) const;

  /// Many entries of one type: one lock, one write, one sync. Empty lines are passed over.
  Result<BatchReport> add_batch(std::string_view session_id, EntryType type,
                                std::span<const std::string_view> lines,
                                const BatchOptions& options = {});
  /// How many entries wait for their key, see BatchOptions::may_wait.
  [[nodiscard]] std::uint64_t count_waiting() const;
  /// Writes those that wait into their sessions, if their key is here by now. Their number. Errors:
  /// as add_batch()'s: all wait on.
  Result<std::uint64_t> write_waiting();
  /// What add_batch() would refuse of these, whatever the session, without its ids and notices.
  /// Writes nothing. Errors: as add_batch()'s about entries.
  [[nodiscard]] Result<BatchReport> check_batch(EntryType type,
                                                std::span<const std::string_view> lines,
                                                const BatchOptions& options = {}) const;

  // Reading: always the latest version of an entry, unless said otherwise.

  /// The entries with these ids, in this order, from the sessions in `sessions` (all when empty).
  /// An id that several sessions know yields one entry for each; an unknown one none.
  /// With `as_of` the versions of that time, see EntryFilter::as_of.
  Result<std::vector<Entry>> get(std::span<const std::string> ids,
                                 std::span<const std::string> sessions = {},
                                 std::optional<Timestamp> as_of = {}) const;
  /// Every version of the entry, oldest first.
  Result<std::vector<Entry>> history(std::string_view id,
                                     std::span<const std::string> sessions = {}) const;
  /// What to say of an id that no entry has: E_ENTRY_NOT_FOUND, with the reason and the remedy.
  [[nodiscard]] Error no_entry(std::string_view id) const;
  /// The ids that begin with `begin`, sorted: of a large memory those alone that this library made.
  [[nodiscard]] Result<std::vector<std::string>> ids_that_begin(std::string_view begin) const;
  /// Newest first.
  Result<std::vector<Entry>> list(const EntryFilter& filter) const;
  /// How many encrypted lines of the sessions and types that the filter names have no key here.
  /// Errors: also why a key that was named can't be used.
  Result<std::uint64_t> closed_entries(const EntryFilter& filter) const;
  /// How many encrypted lines these sessions have, with the key or without (all sessions when
  /// empty).
  Result<std::uint64_t> encrypted_lines(std::span<const std::string> sessions = {}) const;
  /// Best first; equal ones newest first. Sees every entry whose append returned before, by
  /// whatever process, and every edit by hand. Errors: E_INVALID_QUERY with column;
  /// E_QUERY_TIMEOUT; E_SESSION_NOT_FOUND.
  Result<std::vector<Hit>> query(const Query& query) const;
  /// The same, and how the query was understood.
  Result<QueryAnswer> ask(const Query& query) const;
  /// What getByTopic, getByAgent and getByTimeRange of the specification ask for, newest first:
  /// entries of one topic (which counts as an access, as a query does), by one agent or person, and
  /// from `since` to `until`, both inclusive. `filter` narrows them down; its own limit is 20.
  /// Errors: as query() and list(); E_INVALID_QUERY for an empty topic.
  Result<std::vector<Entry>> entries_by_topic(std::string_view topic,
                                              const EntryFilter& filter = {}) const;
  Result<std::vector<Entry>> entries_by_agent(std::string_view agent_id,
                                              EntryFilter filter = {}) const;
  Result<std::vector<Entry>> entries_by_time_range(Timestamp since, Timestamp until,
                                                   EntryFilter filter = {}) const;
  /// What is linked to entry `id`: typed links first, then references both ways, then entries of
  /// its topic, then those that read like it; each once. `filter` chooses among them, and in which
  /// sessions to look. Errors: E_ENTRY_NOT_FOUND.
  /// Typed links are followed `depth` steps far, 1 to kLinkDepthMax, nearest first; what does not
  /// pass the filter leads no further.
  Result<std::vector<RelatedEntry>> related(std::string_view id, const EntryFilter& filter,
                                            std::size_t depth = 1) const;
  /// The topics of the entries that pass, most entries first.
  Result<std::vector<TopicCount>> topics(const EntryFilter& filter) const;
  /// How many entries pass in each stretch of time that has any, oldest first; the newest
  /// filter.limit ones.
  Result<std::vector<TimelineBucket>> timeline(const EntryFilter& filter, TimelineUnit unit) const;

  /// Hands everything that the options choose to `visitor`, a session after the other, oldest
  /// first. What can't be read is named to the visitor, and the rest comes. Errors: those of the
  /// visitor; E_SESSION_NOT_FOUND and E_SESSION_ARCHIVED for a session that was asked for;
  /// E_INVALID_QUERY.
  Result<ExportReport> export_entries(const ExportOptions& options, ExportVisitor& visitor) const;
  /// Gives a session the identity that it had where it was exported (id, created_at, closed_at,
  /// user, agents, project, type, tags), and creates it when there is none of that id. Durable on
  /// return. Errors: those of create_session(), but for one that is there.
  Status adopt_session(const Session& identity);

  /// As export_entries() with all versions, with pseudonyms for people, hosts, e-mail and IP
  /// addresses and paths: the same for the same thing everywhere. Ids and references stay.
  Result<AnonymizeReport> export_anonymized(const AnonymizeOptions& options,
                                            ExportVisitor& visitor) const;
  /// The same in the logs and manifests themselves; there is no way back. Log by log, each replaced
  /// whole: a call that was stopped goes on with the same key. `on_problem`, if given, hears of
  /// lines that can't be read. Errors: E_LOCK_TIMEOUT, E_SESSION_NOT_FOUND, I/O.
  Result<AnonymizeReport> anonymize(const AnonymizeOptions& options,
                                    const std::function<void(const Error&)>& on_problem = {});

  /// The state that an agent left last, in any of `sessions` (all when empty).
  Result<std::optional<Entry>> agent_state(std::string_view agent_id,
                                           std::span<const std::string> sessions = {}) const;

  // The typed reads of the specification, newest first: those that pass a filter, whose sessions
  // and types don't count; its limit 0 is none.
  Result<std::vector<Entry>> decisions(std::string_view session_id,
                                       const EntryFilter& filter = {.limit = 0}) const;
  Result<std::vector<Entry>> findings(std::string_view session_id,
                                      const EntryFilter& filter = {.limit = 0}) const;
  Result<std::vector<Entry>> preferences(std::string_view session_id) const;

  // Deleting. What is deleted can be brought back for 30 days (memory_config.privacy.
  // deleted_retention_days), unless it is purged.

  /// Deletes the entries that `criteria` describe, in all their versions. With DeleteOptions::purge
  /// also from archives and from what was evicted or deleted before. Durable on return. Errors:
  /// E_INVALID_QUERY for criteria that name nothing; E_SESSION_NOT_FOUND; E_LOCK_TIMEOUT.
  Result<DeletionReport> delete_entries(const DeletionCriteria& criteria,
                                        const DeleteOptions& options = {});
  /// Deletes a session with all that is in it; an archived one too.
  Result<DeletionReport> delete_session(std::string_view session_id,
                                        const DeleteOptions& options = {});
  /// Brings back what was deleted. An entry whose id is in use again stays deleted.
  Result<UndeleteReport> undelete(const UndeleteCriteria& criteria);
  /// What is deleted and not purged, oldest first.
  Result<std::vector<Deletion>> deletions() const;
  /// The lines of the session that undelete() can restore, in no order; `json` is empty where they
  /// are encrypted and the key is not here.
  Result<std::vector<Entry>> deleted_entries(std::string_view session_id) const;
  /// Removes for good what was deleted longer ago than it can be brought back; with `all`,
  /// everything that was deleted. A clock that has jumped is believed a day later only, see
  /// maintain(). Finishes purges that were interrupted.
  Result<DeletionReport> purge_deleted(bool all = false);
  /// Where `text` stands below the root, in any file, compressed ones too. Reads every byte.
  Result<std::vector<Leftover>> find_text(std::string_view text) const;
  /// Ids and counts of what was done to sessions, oldest first.
  Result<std::vector<AuditRecord>> audit(const AuditFilter& filter = {}) const;

  // Ageing.

  /// Folds old versions, drops what is there twice, and moves the least relevant entries to the
  /// archive. Writes do this by themselves when a session has grown to its trigger. Readers never
  /// wait for it; writers only while logs are rewritten.
  Result<CompactionReport> compact(std::string_view session_id, const CompactOptions& options = {});
  /// Puts evicted entries back: those with `ids`, or all. Returns how many; one whose id is in use
  /// stays where it is.
  Result<std::uint64_t> restore_evicted(std::string_view session_id,
                                        std::span<const std::string> ids = {});
  /// Packs a session into archive/{id}.tar.gz, checked by reading it back. Its entries
  /// stay searchable. A dry run reports sizes without the record of the archiving itself.
  Result<ArchiveReport> archive_session(std::string_view session_id,
                                        const ArchiveOptions& options = {});
  /// The way back. A write to an archived session does this by itself.
  Result<Session> restore_session(std::string_view session_id);
  /// Makes one of a session that is in a folder and in an archive, as after a merge of which one
  /// side packed it and the other wrote to it: with the entries of both, in the form of the side
  /// with the newest entry. Returns whether that is the archive. Errors: E_SESSION_NOT_FOUND
  /// without an archive; as restore_session().
  Result<bool> resolve_session(std::string_view session_id);
  Result<std::vector<ArchivedSession>> archived_sessions() const;
  /// How much entries count at `as_of` (now when absent). With `write` the factors are written into
  /// the entries, as a snapshot for other readers: nothing depends on it.
  Result<std::vector<DecayReport>> decay(std::span<const std::string> sessions = {},
                                         std::optional<Timestamp> as_of = {}, bool write = false);
  /// The rates that the use of this memory teaches, for each type in the order of the enum, from
  /// the access logs of all sessions that are not archived. Changes nothing. Errors: as decay().
  Result<std::vector<LearnedRate>> learned_decay() const;
  /// How both models behave over a year, with the rates of the config: a line for each model and
  /// type.
  [[nodiscard]] std::vector<DecayTableLine> decay_table() const;
  /// Does what is due: compaction, retention, purging, archiving. Costs one small file to read when
  /// nothing is due. Errors: E_LOCK_TIMEOUT, naming the holder, when another process is at it all
  /// the time, unless only what is due was asked for; E_SCHEMA_INVALID for a bad schedule.
  Result<MaintenanceReport> maintain(const MaintainOptions& options = {});
  /// Whether the index covers the sessions. Reads no entry.
  [[nodiscard]] Result<IndexAge> index_age() const;
  /// Whether the memory is in a repository of git.
  [[nodiscard]] bool in_repository() const;
  /// Whether git tracks a file of this session, or anything of the memory when it is empty; all is
  /// tracked where git's index can't be read.
  [[nodiscard]] bool is_tracked(std::string_view session_id = {}) const;
  /// How many logs of events git tracks.
  [[nodiscard]] std::size_t tracked_event_logs() const;
  /// The sessions that an unfinished merge waits for: one side changed a file that the other one
  /// removed, or both have an archive. resolve_session() settles them.
  [[nodiscard]] std::set<std::string> sessions_in_conflict() const;
  /// When maintenance last ran in this copy of the memory, and whether that is too long ago.
  [[nodiscard]] Result<MaintenanceAge> maintenance_age() const;
  /// What create_session() and close_session() did by the way since this was last asked: they do
  /// what is due, for at most two seconds or so. Nothing that entries lose goes untold.
  std::vector<MaintenanceAction> maintained_by_the_way();

  // Care.

  /// Why archives and sessions that reads left out can't be read, as long as that is so, by path.
  [[nodiscard]] std::vector<Error> problems() const;
  /// E_NEWER_VERSION when a newer program made the root: every call that writes says so, too.
  [[nodiscard]] Status check_writable() const;
  /// Whether the agent's workflow allows `operation`, the name of a row of the operation table,
  /// such as "import". The calls here check their own row; this is for what is made of several
  /// calls, or writes beside the logs. `changes`: whether it would change something. Errors:
  /// E_ACCESS_DENIED; E_INVALID_QUERY when there is no such row.
  [[nodiscard]] Status check_allowed(std::string_view operation, bool changes = true) const;

  /// Checks every byte of `sessions` (all when empty, and the config). `on_progress`, if given, is
  /// called now and then with the bytes done and the bytes there are.
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;
  Result<VerifyReport> verify(std::span<const std::string> sessions = {},
                              const Progress& on_progress = {}) const;
  /// Indexes `sessions` (all when empty) anew from their logs, and writes what people read of it to
  /// their index.json. Queries index by themselves what needs it.
  Result<std::vector<IndexReport>> rebuild_index(std::span<const std::string> sessions = {},
                                                 const Progress& on_progress = {});
  /// Gives entries their vectors, by which questions find what says the same in other words. Stops
  /// where `options` say, and goes on there the next time. E_INVALID_QUERY when there is no
  /// encoder; those of the encoder and, with what was done kept, of the file system.
  Result<EncodeReport> encode(const EncodeOptions& options = {}, const Progress& on_progress = {});
  /// Takes entries that no segment covers into the index where they have become many, as a query
  /// does once it has answered, and encodes some, for half a second: for an idle server. Returns
  /// whether more wait for their vectors. A failure costs later queries time, and nothing else.
  /// With OpenOptions::index_at_the_end it is done when the manager is closed; returns whether
  /// there may be something to do then. With `with_readable` the sessions that were written here
  /// get their index.json as well.
  bool index_new_entries(bool with_readable = true) const;

  // Privacy.
  /// Applies the rules of today to what was written before: logs, quarantine, summaries, and every
  /// copy of them (evicted, archived, deleted). `sessions`: all when empty. One file after another
  /// is replaced whole; running it again goes on where a crash has stopped it. `on_progress`, if
  /// given, is told how many sessions of how many are done.
  Result<std::vector<RedactReport>> redact(std::span<const std::string> sessions, bool dry_run,
                                           const Progress& on_progress = {});
  /// The same for values alone that were judged to be secret in these sessions a moment ago, see
  /// BatchReport::judged: what was written before may repeat them.
  Result<std::vector<RedactReport>> redact_repeated(std::span<const std::string> sessions);
  /// Encrypts entries, so that only the key opens them, opens them for good, or changes the key;
  /// see EncryptOptions. Takes in all copies (evicted, archived, deleted), and goes on where a
  /// crash has stopped it. Reports sessions where something changed, or was left as it is. Errors:
  /// E_ACCESS_DENIED without the key.
  Result<std::vector<EncryptReport>> encrypt(const EncryptOptions& options,
                                             const Progress& on_progress = {});
  [[nodiscard]] EncryptionState encryption_state() const;
  /// What `sessions` (all when empty) keep, for how long, and what was taken out.
  Result<PrivacyReport> privacy_report(std::span<const std::string> sessions = {}) const;
  /// Looks at other texts by the rules of this memory's config.
  [[nodiscard]] Result<SecretScanner> scanner() const;

  /// Looks for lines that an editor changed since bmad-mem wrote, decides whose they are, and
  /// records it. What git brought stays from elsewhere; else they are the agent's while one of its
  /// sessions is open, and the person's. A line of the person or the agent that lacks what every
  /// entry has gets it, and loses its secrets. Does nothing in a foreign memory.
  Status look_for_hand_edits(HandLook look = HandLook::kChanged);
  /// Those that wait for a review, in the order of their looks. `with_texts` asks git, too.
  [[nodiscard]] std::vector<HandEdit> hand_edits(bool with_texts = false) const;
  /// Accepts `edits`, or puts back what was there before. Returns those that could not be restored,
  /// since the lines of before are nowhere. Errors: E_ACCESS_DENIED for an agent.
  Result<std::vector<HandEdit>> settle_hand_edits(std::span<const HandEdit> edits, bool restore);

  /// Mends what can be mended; damaged lines go to the session's quarantine, nothing is dropped.
  /// `is_elsewhere`: whether git has the manifest of a session on another branch. None is made in
  /// its place: git would not check that branch out any more.
  Result<RepairReport> repair(
      std::span<const std::string> sessions = {}, const Progress& on_progress = {},
      const std::function<bool(const std::string& session_id)>& is_elsewhere = {});
  /// Takes the logs of `sessions` (all when empty) as they are: what differs from what was written
  /// is no finding and no change from now on. `actions` says how many places of which log.
  Result<RepairReport> accept_changes(std::span<const std::string> sessions = {});

 private:
  friend struct MemoryInside;  // How the classes beside this one reach the store.
  struct Impl;
  explicit MemoryManager(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bmad_mem
