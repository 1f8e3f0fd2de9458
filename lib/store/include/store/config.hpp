// config.hpp - the settings of a memory root: config.json.
//
//   {"memory_config": {"version": "1.0", "defaults_version": 2, "set_on_purpose": [],
//                      "storage": {"max_session_size_mb": 10, …},
//                      "concurrency": {…}, "indexing": {…}, "relevance": {…}, "decay": {…},
//                      "compaction": {…}, "lifecycle": {…}, "privacy": {…},
//                      "performance": {…}, "knowledge": {…}, "context": {…},
//                      "learning": {…}, "events": {…}, "summarizer": {…}, "extractor": {…},
//                      "encoder": {…}, "hub": {…}}}
//
// Every key may be left out and takes its default; so may the file. A value of the wrong type or
// out of its range is an error that names the key; an unknown key is a warning that names the
// nearest known one; so is a key of the specification that has no effect here, unless it says what
// happens anyway. One MB is 1,048,576 bytes.
//
// The file has every key with a value, so that people see what there is to set, and yet follows the
// defaults of the program: a value that was the default of the file's `defaults_version` is not
// set, unless its key is in `set_on_purpose`. Files of 0.1 have neither, and its defaults are
// version 1.
//
//   defaults_version 2, "context": {"snippets_max": 6}    in the file of version 2: follows
//   set_on_purpose ["context.snippets_max"], the same     set: stays 6 when the default changes
//   "context": {"snippets_max": 3}                        set: not the default of version 2
//   no defaults_version, "context": {"snippets_max": 3}   version 1's default: follows, so 6
//
// Each write of the program brings the file to kDefaultsVersion, and its values with it.
//
// A new setting is a member here and a row in the table of config_table.cpp. A default that changes
// is a row of kFormerDefaults there as well; in the first change after a release kDefaultsVersion
// is raised, and what `init` wrote until then becomes tests/store/config-defaults-N.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/settings.hpp"

namespace bmad_mem {

/// Of the defaults below.
inline constexpr std::int64_t kDefaultsVersion = 2;

struct StorageConfig {
  std::string format = "jsonl";    ///< The only one.
  std::string encoding = "utf-8";  ///< The only one.
  /// Most bytes that the logs of one session may have together; 10 MB is about a month of work.
  double max_session_size_mb = 10;
};

struct ConcurrencyConfig {
  /// Longest wait for a lock. 5 s is far beyond any write, and an agent still notices a hang.
  std::int64_t lock_timeout_ms = 5000;
};

struct IndexingConfig {
  bool enabled = true;  ///< Off: queries scan the logs.
  /// "incremental" adds the tail to what is indexed; "full" indexes a session that grew again.
  std::string update_strategy = "incremental";
  /// Entries outside of the index that make it worth to take them in: their scan takes about 1 ms.
  std::int64_t rebuild_threshold_writes = 1000;
  /// Whose stems words are reduced to, a Snowball name; another one indexes everything anew.
  std::string language = "english";
  /// Most memory that one session's warm index may take; a full session's is about that size.
  double cache_size_mb = 5;
};

/// How much each component of relevance counts when a query doesn't say: specification 5.3.
struct RelevanceConfig {
  std::string combine = "factors";  ///< Or "sum": then the weights below count in every query.
  double text = 0.4;
  double time = 0.3;
  double importance = 0.2;
  double access = 0.1;
};

/// How fast entries of a type fade, per day: after ln 2 / rate days an entry counts half.
struct DecayRates {
  double conversation = 0.1;  ///< Half after a week: most talk is soon stale.
  double decision = 0.02;     ///< Half after five weeks.
  double finding = 0.05;      ///< Half after two weeks.
  double preference = 0.01;   ///< Half after ten weeks: people change slowly.
};

struct DecayConfig {
  bool enabled = true;  ///< Off: age doesn't count.
  /// "exponential", with boosts for access and importance; or "priority", with a penalty for age.
  std::string model = "exponential";
  std::int64_t update_interval_hours = 24;  ///< Rates are per day, so more often changes little.
  double minimum_factor = 0.1;              ///< Old entries stay findable.
  DecayRates rates;
};

struct CompactionConfig {
  bool enabled = true;  ///< Off: a session at its limit takes no more entries.
  /// Size from which a session is compacted: before the limit, so that no write has to wait for it.
  /// Not given: 90 % of storage.max_session_size_mb.
  double trigger_threshold_mb = 9;
  /// Share of storage.max_session_size_mb from which writers are warned.
  double warn_threshold = 0.8;
  /// Share of it from which a write has to wait for a compaction.
  double force_threshold = 0.95;
  double keep_percentage = 0.8;  ///< Share of the entries that stays; 0.8 is 80 %.
  /// "relevance_based" evicts what counts least; "tiered" first what has decayed, then old talk,
  /// resolved findings and old states.
  std::string strategy = "relevance_based";
};

struct LifecycleConfig {
  /// Hours without a write after which a session is called idle.
  std::int64_t idle_after_hours = 24;
  /// Days without a write after which maintenance archives a session; 0: never.
  std::int64_t archive_after_idle_days = 30;
  /// Where it does: "untracked" (roots of which git tracks nothing), "always" or "never".
  std::string archive = "untracked";
};

/// For how many days entries of a type are kept; 0: for ever. What was learned is kept for as long
/// as nobody deletes it; what merely happened goes with the messages about it.
struct RetentionDays {
  std::int64_t conversation = 90;
  std::int64_t decision = 365;
  std::int64_t finding = 180;
  std::int64_t preference = 730;
  std::int64_t fact = 0;
  std::int64_t event = 90;
  std::int64_t agent_state = 90;
  std::int64_t artifact = 0;

  [[nodiscard]] std::int64_t of(EntryType type) const;

  friend bool operator==(const RetentionDays&, const RetentionDays&) = default;
};

/// Other days for the sessions of some projects, by the names of these. A type that the file does
/// not name has that of `retention_days`.
using ProjectRetention = std::map<std::string, RetentionDays, std::less<>>;

/// What a user wants to be taken out beyond what is known.
struct RedactionPattern {
  std::string type;   ///< Its name, as the rule in "[REDACTED:rule]".
  std::string regex;  ///< In the syntax of RE2. Checked by who compiles it (privacy/).

  friend bool operator==(const RedactionPattern&, const RedactionPattern&) = default;
};

/// What is done about each kind of personal data: "redact", "mark" (the entry is called sensitive)
/// or "keep". Addresses of machines are what half of all debugging is about.
struct PersonalDataConfig {
  std::string email = "redact";
  std::string phone = "redact";
  std::string iban = "redact";
  std::string card = "redact";
  std::string ip = "keep";
  std::string national_id = "redact";
};

struct RedactionConfig {
  std::string replacement = "[REDACTED:{rule}]";  ///< "{rule}" becomes the id of the rule.
  /// Patterns apply everywhere, also those that would take out every long word.
  bool aggressive = false;
  /// The same secret gets the same placeholder within a session: "[REDACTED:rule:1f3870be]".
  bool linkable = false;
  PersonalDataConfig personal;
  std::vector<RedactionPattern> patterns;
};

struct PrivacyConfig {
  bool auto_redaction = true;  ///< Secrets leave an entry before it is written: git never forgets.
  /// Search also finds what tells of a file outside the workspace: its path, and of an artifact the
  /// snippet. Entries written while it is off keep their mark.
  bool index_outside_paths = false;
  RedactionConfig redaction;
  /// More rules, in gitleaks' form; relative to the project. Its .gitleaks.toml needs no mention.
  std::vector<std::string> rules_files;
  /// What is left as it is: "rule=ID", "text=HASH", "path=GLOB", or several of them.
  std::vector<std::string> allow;
  RetentionDays retention_days;
  ProjectRetention project_retention_days;
  /// How long what was deleted can be brought back.
  std::int64_t deleted_retention_days = 30;
  bool auto_purge = true;  ///< Maintenance removes what is past its retention.
  /// When it does: five fields as in a crontab, UTC.
  std::string purge_schedule_cron = "0 2 * * 0";
  bool audit_deletions = true;  ///< Deletions leave a line in the audit log: ids, never content.
};

struct PerformanceConfig {
  /// Queries note what they returned, for ranking and decay; off, they write nothing at all.
  bool record_access = true;
};

/// What is remembered when a task has gone well and its output matches.
struct LearnRule {
  std::string agent;  ///< Only for the output of this agent; any when empty.
  std::string match;  ///< In the syntax of RE2, looked for anywhere in the output.
  std::string category;
  std::string key;
  std::string value;
  double confidence = 0.8;

  friend bool operator==(const LearnRule&, const LearnRule&) = default;
};

struct KnowledgeConfig {
  /// Whether "I prefer", "never", "we decided" in a user's messages are proposed to be remembered.
  bool detect_preferences = true;
  bool learn_at_session_end = true;  ///< Whether hooks look for candidates then.
  /// Whether a rule that the person states in a prompt is in force from the next one on; else it
  /// waits for review.
  bool apply_stated_rules = true;
  std::vector<LearnRule> learn_rules;
};

/// What an agent is told before it begins.
struct ContextConfig {
  bool inject = true;             ///< Whether hooks print briefings.
  bool user_memory = true;        ///< Whether answers take in the user's own memory.
  double gate = 0.5;              ///< How near a prompt must come; 0: all are, 1: almost none.
  std::int64_t max_tokens = 800;  ///< A twentieth of the smallest window that agents have today.
  std::int64_t facts_max = 5;     ///< More than a few steer a model where it should not go.
  std::int64_t snippets_max = 6;  ///< Pieces of earlier talk, with their neighbours.
  std::int64_t recency_days = 0;  ///< How old those may be, against the newest entry; 0: any age.
  /// What is trusted less is quoted as data, in a fence.
  double quote_below_trust = 0.7;
};

/// What hooks record.
struct RecordingConfig {
  bool enabled = true;
  std::vector<std::string> skip_clients;  ///< "cursor"
  std::vector<std::string> skip_tools;    ///< Names; '*' is any text, as in "mcp__browser__*".
  std::vector<std::string> skip_paths;    ///< The same of the file that a tool is about.
};

/// Whether the agent itself is asked to say what it has learned.
struct LearningConfig {
  bool ask_agent = false;  ///< At the end of a turn, where the client lets a hook say something.
  std::int64_t ask_every_turns = 20;  ///< An answer costs a turn, so not each time.
};

/// What hooks record of the calls of tools.
struct EventsConfig {
  /// So many of the newest calls and results of a session stay as they are; what is older is folded
  /// into lines that count it. 2,000 lines are one to two of the ten megabytes. 0: all stay.
  std::int64_t keep = 2000;
  /// Whether git tracks them. They are nine of ten bytes of a session.
  bool track = false;
};

/// Who writes running summaries, and when.
struct SummarizerConfig {
  bool enabled = true;
  /// Program and arguments; takes the prompt on stdin and answers on stdout. Empty: by hand.
  std::vector<std::string> command;
  std::int64_t timeout_ms = 60'000;
  std::int64_t minimum_message_tokens_to_init = 5000;
  std::int64_t minimum_tokens_between_update = 5000;
  std::int64_t tool_calls_between_updates = 10;
  std::int64_t stale_update_ms = 60'000;  ///< An update pending for longer counts as dead.
  std::int64_t wait_timeout_ms = 15'000;  ///< How long a compaction waits for a pending one.
};

/// Who extracts facts from a session; rules do when there is no command.
struct ExtractorConfig {
  std::vector<std::string> command;
  std::int64_t timeout_ms = 60'000;
};

/// Which model compares texts by their meaning. Without a command and a url: the model in C++.
struct EncoderConfig {
  bool enabled = true;
  /// Of encoder.bmw, relative to the project; empty: where the packages put it.
  std::string path;
  /// Program and arguments; takes texts as JSON lines on stdin and answers vectors on stdout.
  std::vector<std::string> command;
  std::string url;  ///< Of a server with OpenAI's form of embeddings: "http://127.0.0.1:8080/v1/…".
  std::string model;  ///< Its name, for the server; with another one all is encoded again.
  /// Of a batch of at most 64 texts; a server that loads its model first needs seconds.
  std::int64_t timeout_ms = 10'000;
  bool sensitive = false;  ///< Whether sensitive entries are encoded.
  bool remote = false;     ///< Whether `url` may name another machine than this one.

  friend bool operator==(const EncoderConfig&, const EncoderConfig&) = default;
};

/// See docs/fleet.md.
struct HubConfig {
  std::string service;            ///< A name in pg_service.conf; never an address with a password.
  std::string project;            ///< Its name at the hub.
  std::string automatic = "off";  ///< "session_end": hooks start a sync there.
  bool push_sensitive = false;    ///< Whether sensitive entries leave this machine.
  /// A replica that was not seen for so long must pull before it may push.
  std::int64_t stale_days = 90;

  friend bool operator==(const HubConfig&, const HubConfig&) = default;
};

struct Config {
  std::string version = "1.0";
  std::int64_t defaults_version = kDefaultsVersion;  ///< Higher: of a newer program's file.
  /// Keys of values that are set although they are the default.
  std::vector<std::string> set_on_purpose;
  /// "share": a worktree of git uses the memory of the main one; "own": each its own.
  std::string worktrees = "share";
  StorageConfig storage;
  ConcurrencyConfig concurrency;
  IndexingConfig indexing;
  RelevanceConfig relevance;
  DecayConfig decay;
  CompactionConfig compaction;
  LifecycleConfig lifecycle;
  PrivacyConfig privacy;
  PerformanceConfig performance;
  KnowledgeConfig knowledge;
  ContextConfig context;
  RecordingConfig recording;
  LearningConfig learning;
  EventsConfig events;
  SummarizerConfig summarizer;
  ExtractorConfig extractor;
  EncoderConfig encoder;
  HubConfig hub;

  /// The default of compaction.trigger_threshold_mb, which follows the limit.
  [[nodiscard]] double usual_trigger_mb() const { return 0.9 * storage.max_session_size_mb; }
  [[nodiscard]] std::uint64_t max_session_size_bytes() const;
  [[nodiscard]] std::uint64_t compaction_trigger_bytes() const;
  /// From which size on a session is compacted without being asked: the trigger, or the size from
  /// which a write waits for it, if that is less.
  [[nodiscard]] std::uint64_t compaction_start_bytes() const;
  [[nodiscard]] std::uint64_t index_cache_size_bytes() const;
};

/// Keys with new values as JSON; without one, the key is removed.
using SettingChanges = std::map<std::string, std::optional<std::string>>;

struct LoadedConfig {
  Config config;
  /// A sentence each, without path, in the order of the file. Empty when all is well.
  std::vector<std::string> warnings;
  std::string text = {};  ///< Of the file; empty for none.
  /// What brings the file to kDefaultsVersion without a change of what is set; empty for a file of
  /// it. Of a newer program's file only `set_on_purpose` changes.
  SettingChanges renewals;
};

/// Reads the settings in `text`. `display_path` is where they lie, for the error. `changes` are in
/// the text already: those with a value are set on purpose.
/// Errors: E_INVALID_FORMAT for text that isn't JSON; E_SCHEMA_INVALID for a value that isn't
/// allowed, with field ("memory_config.decay.model"). Both with path, line and column.
Result<LoadedConfig> parse_config(std::string_view text, const std::string& display_path,
                                  const SettingChanges& changes = {});

/// Reads the root's config.json; the defaults when there is none.
/// Errors: as parse_config(); E_SIZE_LIMIT above 1 MB; E_STORAGE_IO.
Result<LoadedConfig> load_config(FileSystem& files);

/// The settings in effect where `written` may be by strangers: those of `trusted`, except where
/// `written` is stricter, or its row allows any. `waiting` gets all other values of `written`, and
/// `stricter` the keys of those that are.
Config settled_config(Config trusted, Config written, std::vector<WaitingSetting>& waiting,
                      std::vector<std::string>& stricter);

/// All settings of `config` that have an effect, in the order in which they are written.
std::vector<SettingInfo> list_config(Config config);

/// The key that `written` names, without "memory_config."; that of a setting or of a section of
/// them. Errors: E_INVALID_QUERY for one that is unknown, with what was meant, or has no effect.
Result<std::string> known_config_key(std::string_view written);

/// `config` as it would stand in config.json, every key that has an effect with its value, laid out
/// for people.
std::string config_text(Config config);

/// What `init` writes: every key that has an effect with its default, laid out for people.
std::string default_config_text();

}  // namespace bmad_mem
