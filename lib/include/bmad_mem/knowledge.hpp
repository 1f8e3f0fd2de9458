// knowledge.hpp - what agents have learned, over all sessions: told, recalled, learned by the way,
// and put together for an agent's prompt.
//
//   bmad_mem::Knowledge knowledge(memory);
//   knowledge.remember({.category = Category::kConstraint, .key = "chip_math",
//                       .value = "Always use Math.floor()", .agent_id = "MARS", .confidence
//                       = 1.0});
//   auto told = knowledge.context({.agent_id = "VENUS", .task = "Build the dashboard"});
//
// Knowledge is facts and preferences: entries like any other, in the log of the session that taught
// them. An item is all that was stated under one category and key, in whatever session; the newest
// statement holds, unless it is trusted far less than an older one (docs/knowledge.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entries.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/trust.hpp"

namespace bmad_mem {

/// What knowledge is about. Those of the user are preferences on disk, the others are facts.
enum class Category : std::uint8_t {
  kUserPreference,  ///< "prefers functional components"
  kArchitecture,    ///< "state is managed by Zustand"
  kPattern,         ///< "requireAuth() comes first in all mutations"
  kErrorSolution,   ///< "fix for X: do Y"
  kProjectFact,     ///< "the company table has name, status, ownerId"
  kStyle,           ///< "prefers Tailwind to CSS modules"
  kConstraint,      ///< "never REST, always Convex"
  kDecision,        ///< "Convex and not Supabase, because …"
};
inline constexpr std::size_t kCategoryCount = 8;

inline constexpr std::array<std::string_view, kCategoryCount> kCategoryNames = {
    "user_preference", "architecture", "pattern",    "error_solution",
    "project_fact",    "style",        "constraint", "decision"};

/// "user_preference", "architecture" … Static storage.
std::string_view category_name(Category category);
/// Also "preference" for user_preference and "rule" for constraint; nothing for any other text.
std::optional<Category> try_parse_category(std::string_view name);
/// The type of the entries that hold it: kPreference for kUserPreference and kStyle, else kFact.
EntryType category_type(Category category);

/// Whether somebody has looked at what was found without being told.
enum class Review : std::uint8_t {
  kNone,       ///< Told by somebody: there is nothing to review.
  kCandidate,  ///< Not looked at. Left out of what is recalled and told, unless asked for.
  kAccepted,
  kDropped,  ///< Stays, so that it is not proposed again; never recalled.
  kStated,   ///< The person typed it in a message: recalled and told, and not looked at yet.
};

/// "", "candidate", "accepted", "dropped" or "stated". As in the member `review` of an entry, but
/// for "stated": such an entry has none, and an id of candidate_id().
std::string_view review_name(Review review);

/// Whether it is recalled and told.
constexpr bool is_in_force(Review review) {
  return review != Review::kCandidate && review != Review::kDropped;
}

/// Something that was stated once: one line of a log.
struct KnowledgeVersion {
  std::string session_id;
  EntryType type = EntryType::kFact;
  std::string id;
  std::string value;
  std::string agent_id;
  double confidence = 0;    ///< 0 to 1, as it was stated.
  double trust = 1;         ///< 0 to 1; 1 when the entry names none.
  std::string source_kind;  ///< user, assistant, tool, web, import or empty.
  Timestamp at{};           ///< When it was stated: updated_at, else timestamp.
  Review review = Review::kNone;
  bool holds = false;  ///< Whether it is the item's value.
};

/// What is known under one category and key. One without a key is an item of its own.
struct KnowledgeItem {
  Category category = Category::kProjectFact;
  std::string key;    ///< May be empty.
  std::string value;  ///< The one that holds. A preference's value that is no string is JSON.
  std::string agent_id;
  double confidence = 0;              ///< The highest that was stated: it only rises.
  double trust = 1;                   ///< Of the statement that holds.
  std::string source_kind;            ///< As far as it is known who wrote it, as trust.
  Origin origin = Origin::kAccepted;  ///< Of the statement that holds.
  Timestamp created_at{};
  Timestamp updated_at{};
  std::uint64_t access_count = 0;
  std::optional<Timestamp> last_accessed;
  double score = 0;        ///< See recall_score().
  std::string session_id;  ///< Of the entry that holds, and so for the next three.
  EntryType type = EntryType::kFact;
  std::string id;
  std::vector<std::string> tags;
  std::vector<std::string> learned_from;
  bool pinned = false;
  bool sensitive = false;
  Review review = Review::kNone;
  bool contradicted = false;        ///< Another value was stated as well.
  bool of_user = false;             ///< It is in the user's own memory.
  std::string replaces_id = {};     ///< Of what waits for a decision: the entry that accepting it
  std::string replaces_value = {};  ///< would replace, and what that says. Empty: none.
  std::string json;                 ///< The line that holds, byte for byte.
  std::vector<KnowledgeVersion> chain;  ///< All that was stated, oldest first.
};

/// Where the item came from, as Knowledge::sources() says it of entries.
std::string item_source(const KnowledgeItem& item);

/// The confidence of those who state something and name none.
inline constexpr double kUsualConfidence = 0.8;

struct RememberParams {
  Category category = Category::kProjectFact;
  std::string key = {};  ///< May be empty: then nothing is updated.
  std::string value;     ///< Required.
  std::string agent_id = {};
  double confidence = kUsualConfidence;  ///< 0 to 1. An item's confidence never falls.
  std::vector<std::string> tags = {};
  std::vector<std::string> learned_from = {};  ///< Sessions or entries it was learned from.
  EntrySource source = {};
  Review review = Review::kNone;
  bool pinned = false;
  /// Of the entry; for what must not be remembered twice. Chosen when empty.
  std::string id = {};
  std::string extra = {};  ///< Further members of the entry, see EntryCommon::extra.
  /// Where to write; the open session that was written last when empty, or a new one.
  std::string session_id = {};
};

struct Remembered {
  std::string id = {};
  std::string session_id = {};
  Category category = Category::kProjectFact;
  std::string key = {};
  std::string value;  ///< As stored, without secrets.
  double confidence = 0;
  bool is_new = false;              ///< Nothing was known under this category and key.
  std::string previous_value = {};  ///< What held before, when it was another one and may be read.
  bool holds = true;                ///< False if a more trusted value remains current.
  Review review = Review::kNone;    ///< kCandidate: it waits until the user accepts it.
  std::vector<std::string> notices = {};
};

struct RecallOptions {
  std::optional<Category> category = {};
  std::string agent_id = {};               ///< Only what this agent stated.
  std::string key = {};                    ///< Only this key.
  std::vector<std::string> sessions = {};  ///< All when empty; archived ones too.
  /// What was known at that time.
  std::optional<Timestamp> as_of = {};
  double min_confidence = 0;
  bool candidates = false;         ///< The candidates instead, those in messages not yet looked
                                   ///< at among them; and what is Review::kStated.
  bool with_stated = false;        ///< Also what agents stated and the user has not accepted yet.
  bool with_foreign = false;       ///< With candidates: also what came from elsewhere.
  bool stored_only = false;        ///< With candidates: only what is stored and waits.
  bool contradicted_only = false;  ///< Only items about which different things were stated.
  bool without_sensitive = false;
  bool note_accesses = true;  ///< Count this as an access of what is returned.
  std::size_t limit = 20;     ///< 0: no limit.
  std::size_t offset = 0;     ///< Number of items to skip.
};

/// How highly knowledge is recalled: confidence x (1 + b), where b, from 0 to 1, is the greater of
/// accesses / (accesses + 4) and 2^(-age in days / 14). The specification's
/// confidence x (accesses + 1) is unbounded, so that what was popular once buries whatever is new
/// (docs/decisions/0032).
double recall_score(double confidence, std::uint64_t access_count, Timestamp updated_at,
                    Timestamp now);

/// The parts of a context, in the order in which they stand.
enum class ContextSection : std::uint8_t {
  kConstraints,     ///< Constraints and architecture that are nearly certain, and pins.
  kStatedRules,     ///< What the person stated: the newest, or what the task names.
  kAgentPatterns,   ///< What the agent itself has learned.
  kTaskFacts,       ///< What is known that the task brings up.
  kTaskSnippets,    ///< What was said, decided and found that the task brings up, with its dates.
  kPreferences,     ///< How the user likes things done.
  kErrorSolutions,  ///< What went wrong before in such work, and what helped.
};

/// "constraints", "agent_patterns" … Static storage.
std::string_view context_section_name(ContextSection section);

/// Who is told a context again and again: what was noted of it by note_told() is left out.
struct ContextReader {
  std::string session_id;
  std::string instance = {};  ///< Of a sub-agent, which is told for itself; empty: the main agent.
};

struct ContextOptions {
  std::string agent_id = {};
  std::string task = {};
  /// The task is a prompt in a session that has begun: nothing is told where nothing is about it.
  bool is_prompt = false;
  /// Hard ceiling in tokens as estimate_tokens() counts them; of the config when absent.
  std::optional<std::size_t> max_tokens = {};
  std::vector<std::string> sessions = {};          ///< All when empty.
  std::vector<std::string> without_sessions = {};  ///< The one that asks knows itself already.
  std::string project = {};  ///< Only sessions of this project, or of none; any when empty.
  /// Only what is not older, but for pins. When absent, snippets alone are bounded, by
  /// memory_config.context.recency_days before the newest entry.
  std::optional<Timestamp> since = {};
  std::optional<Timestamp> as_of = {};  ///< As EntryFilter::as_of.
  std::optional<ContextReader> reader = {};
  /// When it is over, words alone count; that of the config when absent.
  std::optional<std::chrono::milliseconds> encoder_timeout = {};
};

/// Something that a context says, and why.
struct ContextItem {
  ContextSection section = ContextSection::kConstraints;
  std::string session_id;
  EntryType type = EntryType::kFact;
  std::string id;
  Timestamp timestamp{};
  std::string text = {};  ///< As the Markdown has it.
  std::size_t tokens = 0;
  double trust = 1;
  bool quoted = false;  ///< It is in a fence, as data.
  Origin origin = Origin::kAccepted;
  bool of_user = false;  ///< It is in the user's own memory.
  std::string why;       ///< A sentence: "constraint, confidence 1.00".
  /// Ids of the messages of its session that are in the text, too.
  std::vector<std::string> beside = {};
};

/// Something that would have been said.
struct ContextOmission {
  ContextSection section = ContextSection::kConstraints;
  std::string session_id;
  std::string id;
  std::string why;  ///< "over the ceiling", "said above", "told in this session", "not near: …".
};

/// Whether the memory holds anything about the task.
struct ContextGate {
  bool asks = false;         ///< The task asks: it is a question, or no prompt.
  bool is_open = false;      ///< So nothing that the task brings up is told where this is false.
  double needed = 0;         ///< The score that opens it; 0 where nothing is asked.
  bool is_dialogue = false;  ///< The task has words of a dialogue only, so it asks nothing.
  Nearness best = {};        ///< Of what is nearest to the task; zeros where it asks nothing.
  std::vector<AskedWord> words = {};  ///< Of the task: those that count.
};

struct Context {
  ContextGate gate = {};
  std::string markdown;  ///< Empty when there is nothing to say.
  std::size_t tokens = 0;
  std::size_t max_tokens = 0;
  std::vector<ContextItem> items;  ///< In the order of the Markdown.
  std::vector<ContextOmission> omitted;
  std::uint64_t encrypted_lines =
      0;                          ///< Of the sessions asked: no context tells them, with no key.
  bool encoder_was_late = false;  ///< It took too long, so that words alone counted.
};

/// How many tokens of a language model `text` has, about, and rather more than fewer: see
/// docs/knowledge.md for how it counts and how far off it is. A pure function of the bytes.
std::size_t estimate_tokens(std::string_view text);

enum class TaskOutcome : std::uint8_t { kSuccess, kFailure };

struct LearnParams {
  std::string agent_id;
  std::string task;
  TaskOutcome outcome = TaskOutcome::kSuccess;
  std::string text = {};  ///< The output of a success, the error of a failure.
  std::string session_id = {};
};

struct LearnReport {
  std::vector<Remembered> learned;  ///< May be empty.
};

/// What the user seems to want, found in what the user said.
struct ReviewReport {
  std::vector<KnowledgeItem> reviewed;
  std::vector<std::string> unknown_ids;  ///< Of no candidate.
};

enum class ExtractionWay : std::uint8_t { kRules, kCommand, kAnswer };

struct ExtractOptions {
  std::string session_id;
  bool dry_run = false;
  /// The answer of a model to extraction_prompt(), by hand. Else the config's command, else rules.
  std::optional<std::string> answer = {};
  bool use_rules = false;  ///< Also where the config names a command.
  /// By rules, and only in messages behind the last such look of this machine. Where nothing is
  /// new, that costs two small reads.
  bool only_new = false;
  /// The id of a message that the person typed, as the caller can prove: the rules in it are in
  /// force at once, where memory_config.knowledge.apply_stated_rules is true and it is no paste.
  std::string typed_message = {};
};

struct ExtractionReport {
  ExtractionWay way = ExtractionWay::kRules;
  std::vector<Remembered> learned = {};
  std::vector<std::string> known = {};  ///< Texts that are known already, or nearly.
  std::vector<std::string> notices = {};
};

/// Items that say nearly the same.
struct MergeProposal {
  KnowledgeItem into;                ///< The one that stays.
  std::vector<KnowledgeItem> parts;  ///< Those that are merged into it.
  double similarity = 0;             ///< The lowest between `into` and a part: 0 to 1.
  double trust = 1;                  ///< Of the result: the lowest of them all.
};

struct ConsolidateOptions {
  bool dry_run = true;
  double min_similarity = 0.6;  ///< 0.3 to 1: shared by all pieces of 5 characters (Jaccard).
  std::optional<Category> category = {};
  std::vector<std::string> sessions = {};  ///< Only items that hold there; all live when empty.
};

/// Two statements that an encoder finds alike, in other words. It hardly sees numbers and
/// negations: they say the same, or one contradicts the other. A person decides.
struct NearStatements {
  KnowledgeItem first;  ///< The surer one.
  KnowledgeItem second;
  double cosine = 0;            ///< 0.75 to 1.
  bool may_contradict = false;  ///< By their words; rather says so once too often.
};

struct ConsolidateReport {
  std::vector<MergeProposal> merged;  ///< Or what would be.
  /// Never merged; at most 20. Those that may not contradict each other first, then the nearest.
  std::vector<NearStatements> near;
  EncoderUse encoder;  ///< Its entries are the statements that were compared.
};

/// The knowledge in a memory, which must outlive it. Threads: safe.
class Knowledge {
 public:
  explicit Knowledge(MemoryManager& memory);

  /// Stores a statement, durable on return. Known under this category and key already: in the
  /// same session a new version of that entry, in another session an entry with the same id there.
  /// Errors: E_SCHEMA_INVALID for an empty value or a confidence out of range; as a write's.
  Result<Remembered> remember(const RememberParams& params);
  /// Whether a statement that this thread writes waits for the person: an agent's, unless a hook
  /// has recorded a message of the person that has the very words.
  [[nodiscard]] Result<bool> waits(std::string_view value) const;
  /// A key for a statement without one: its first words that are neither stop words nor secrets,
  /// and a part of its hash, as "staging_database_rebuilt_1f3a9c". One value has one key.
  [[nodiscard]] Result<std::string> key_of(std::string_view value) const;

  /// Highest score first; equal ones newest first, then by key.
  Result<std::vector<KnowledgeItem>> recall(const RecallOptions& options = {}) const;

  /// For each of `entries` where it came from, as briefings say it: "from elsewhere, web, trust
  /// 0.30". Empty for what the person stated or accepted, and what an agent did, when the line
  /// names no source itself.
  [[nodiscard]] std::vector<std::string> sources(std::span<const Entry> entries) const;

  /// Accepts (or drops) candidates by id. Durable.
  Result<ReviewReport> review(std::span<const std::string> ids, Review review);

  /// Candidates that wait, for somebody to mention; none when some were mentioned in the last week.
  [[nodiscard]] Result<std::vector<KnowledgeItem>> candidates_to_mention();

  /// What an agent should know before a task, as Markdown. The same bytes for the same store,
  /// whatever the time, as long as no entry is dated in the future; no access is noted. What holds
  /// is decided over all sessions, and the options choose among that. Errors: as query()'s.
  Result<Context> context(const ContextOptions& options) const;

  /// Notes, on this machine alone, that `reader` was told `context`. Does nothing where its session
  /// isn't recorded. Errors: E_STORAGE_IO; then it may be told again.
  Status note_told(const ContextReader& reader, const Context& context);
  /// The reader has lost what it was told: its client has compacted the conversation.
  Status forget_told(const ContextReader& reader);

  /// What a finished task teaches: of a success what the rules of the config say, of a failure the
  /// error, cut to 200 characters, with confidence 0.7.
  Result<LearnReport> learn(const LearnParams& params);

  /// The prompt that asks a model for the durable facts of a session, at most 2,000 tokens.
  Result<std::string> extraction_prompt(std::string_view session_id) const;
  /// Learns the durable facts of a session. An answer that breaks the contract changes nothing.
  /// Errors: E_INVALID_FORMAT with the place in the answer; as remember()'s; E_STORAGE_IO when the
  /// command fails, and E_QUERY_TIMEOUT when it takes too long.
  Result<ExtractionReport> extract(const ExtractOptions& options);

  /// Counts a turn of the agent in the session. Whether the agent is to be asked now what it has
  /// learned: each memory_config.learning.ask_every_turns turns, where learning.ask_agent is true.
  Result<bool> note_turn(std::string_view session_id);

  /// Merges knowledge that says nearly the same, or says what it would merge. The surest stays (of
  /// equals the most trusted, then the newest), with the highest confidence, the lowest trust and
  /// the marks of all; the others become dropped and name it. What may contradict each other, or
  /// differs in category, agent or being trusted at all, stays apart. Errors: E_INVALID_QUERY for a
  /// similarity out of range; as a write's, and then calling it again finishes.
  Result<ConsolidateReport> consolidate(const ConsolidateOptions& options = {});

 private:
  MemoryManager* memory_;
};

}  // namespace bmad_mem
