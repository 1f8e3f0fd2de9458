// reports.hpp - what the calls of MemoryManager take and give back, apart from entries to write.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/encoder.hpp"
#include "bmad_mem/entry_links.hpp"
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
  std::uint64_t entries = 0;        ///< Distinct ids.
  std::uint64_t versions = 0;       ///< Good lines.
  std::uint64_t sealed_lines = 0;   ///< Lines that only a key opens; none of the above.
  std::uint64_t damaged_lines = 0;  ///< Lines that `verify` names.
  std::uint64_t bytes = 0;          ///< Size of the log.
  std::uint64_t torn_bytes = 0;     ///< Behind its last newline.
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
  [[nodiscard]] std::uint64_t sealed_lines() const;
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

/// An entry must have `value` in `field`, such as status, severity, category, approved_by or
/// metadata.ticket; or, `excluded`, must not. Upper and lower case are the same.
struct FieldFilter {
  std::string field;
  std::string value = {};
  bool excluded = false;

  bool operator==(const FieldFilter&) const = default;
};

/// Whether to look into archived sessions, and at what compaction has evicted.
enum class ArchivedSessions : std::uint8_t {
  kWith,
  kWithout,
  kOnly,  ///< Nothing else.
};

/// The entries of a folder that agents worked in: those whose own `workspace`, or else
/// `metadata.workspace`, names it; and those without one in sessions that belong to it.
struct WorkspaceFilter {
  std::string path;                   ///< Absolute, without a '/' at the end.
  std::string name;                   ///< Its last part, which names it as well.
  bool any_path = false;              ///< Also entries of other folders of this name.
  std::vector<std::string> sessions;  ///< That belong to it.
};

/// Empty members don't filter.
struct EntryFilter {
  std::vector<std::string> sessions;
  std::vector<EntryType> types;
  std::vector<std::string> tags;    ///< Any of them.
  std::vector<std::string> agents;  ///< Any of them, see Entry::who.
  std::optional<Timestamp> since;   ///< Inclusive.
  std::optional<Timestamp> until;   ///< Inclusive.
  /// The memory as it was then: of each entry the version that was the latest (by written_at, else
  /// updated_at, else timestamp), and what was evicted since in its session, where Entry::line
  /// counts it first. Times are counted from here. What was deleted since is gone; no access is
  /// noted.
  std::optional<Timestamp> as_of = {};
  bool pinned_only = false;
  bool without_sensitive = false;  ///< Leaves out the sensitive ones, as a prompt wants it.
  /// Of list(): also statements that another one about the same has replaced. query() finds them
  /// anyway, and marks them, see Hit::outdated.
  bool with_outdated = false;
  ArchivedSessions archived = ArchivedSessions::kWith;
  std::vector<FieldFilter> fields;  ///< Of one field any value, of different fields all.
  std::optional<WorkspaceFilter> workspace = {};
  std::size_t limit = 20;  ///< 0: no limit.
  /// So many are left out in front of the first `limit`: the pages before. Of timeline() the newest
  /// stretches count as first. Exports and watches pass over it.
  std::size_t offset = 0;
};

enum class SortOrder : std::uint8_t { kRelevanceDesc, kTimeDesc, kTimeAsc };

/// How text, time, importance and access become one number.
enum class RelevanceCombine : std::uint8_t {
  /// text (0.96 + 0.04 time) (0.80 + 0.20 importance) (0.95 + 0.05 access): the words decide, and
  /// age alone never buries an answer.
  kFactors,
  /// The weighted sum of specification 5.3. Queries without words always use it.
  kSum,
};

/// "factors" or "sum": as in the config. Static storage.
std::string_view relevance_combine_name(RelevanceCombine combine);
/// Nothing for any other text.
std::optional<RelevanceCombine> try_parse_relevance_combine(std::string_view name);

/// What each component makes of the text in the form kFactors: from + by x component.
struct RelevanceFactor {
  double from = 1;
  double by = 0;

  [[nodiscard]] constexpr double at(double component) const { return from + by * component; }
};
/// Age decides between texts within a few per cent, and never more.
inline constexpr RelevanceFactor kTimeFactor{.from = 0.96, .by = 0.04};
inline constexpr RelevanceFactor kImportanceFactor{.from = 0.80, .by = 0.20};
inline constexpr RelevanceFactor kAccessFactor{.from = 0.95, .by = 0.05};
/// Of a statement that does not hold: less than the other factors can make up for (0.96 x 0.80 x
/// 0.95), so that it never ranks above the one that holds on the same text.
inline constexpr double kOutdatedFactor = 0.5;

/// How much each component counts in the sum: text x text score + time x time score + … Each is at
/// least 0.
struct RelevanceWeights {
  double text = 0.4;
  double time = 0.3;
  double importance = 0.2;
  double access = 0.1;
};

/// How the text component is worked out.
enum class TextRanking : std::uint8_t {
  /// The entry, the entries around it and its session, the question before it, who is named, and
  /// the dates named.
  kContext,
  /// BM25 of the entry alone: for comparisons.
  kPlain,
};

struct Query {
  /// In the language of `bmad-mem help query`: words, "phrases", +must, -not, prefix*, fuzzy~,
  /// type:, tag:, agent:, topic:, session:, since:, until:, is:pinned, archived:, and fields such
  /// as status:.
  std::string text = {};
  EntryFilter filter = {};
  SortOrder sort = SortOrder::kRelevanceDesc;
  double min_relevance = 0;  ///< 0 to 1.
  /// `text` is prose to find the like of: no operators, no filters.
  bool text_is_prose = false;
  /// Absent: the sum where `weights` are given, else what the config says.
  std::optional<RelevanceCombine> combine = {};
  std::optional<RelevanceWeights> weights = {};  ///< Of the sum; those of the config when absent.
  std::vector<std::string> topics = {};          ///< Any of them; empty: all.
  TextRanking ranking = TextRanking::kContext;
  std::size_t context = 0;  ///< So many entries before and after each hit in its conversation.
  bool explain = false;     ///< Fill in Hit::explanation.
  /// Find what says the same in other words, where an encoder and vectors are there. By relevance
  /// and, with TextRanking::kPlain, of prose only.
  bool use_encoder = true;
  /// Size of the snippets in bytes, about; 0: none are made.
  std::size_t snippet_size = 200;
  /// Snippets begin where a paragraph, an item of a list or a block of code does, if that is near.
  bool snippet_passages = false;
  /// Say of each hit which entry it is, not what it says: no line is read where the engine made the
  /// id. Entry::who, headline, json and the snippet are empty, `context` counts for nothing, and
  /// what differs in a value alone is not put in the order of time.
  bool ids_only = false;
  /// Longest time to take; E_QUERY_TIMEOUT beyond. 0: no limit.
  std::chrono::milliseconds timeout{0};
  /// Memories of other projects, by their roots or folders, that are searched in the same ranking;
  /// each is opened for this question, and nothing is written there. What this memory is told by
  /// its config holds for all. E_SESSION_NOT_FOUND, which names it, for what is none.
  std::vector<std::string> also_roots = {};
};

/// Part of a text, in bytes, that matched.
struct Highlight {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// The components of a relevance, each in [0,1], before they are combined.
struct RelevanceComponents {
  double text = 0;        ///< 1: all words of the question, itself, around it and in its session.
  double time = 0;        ///< Effective decay factor; 1 for all when the query itself names a time.
  double importance = 0;  ///< By type, with boosts for severity, impact and approval.
  double access = 0;      ///< exp(-0.05 x hours since the last access); 0.5 when there was none.
};

/// What one term adds to the text component: through the entry itself, through the entries around
/// it, and through its session.
struct TermScore {
  std::string term;
  double entry = 0;
  double window = 0;
  double session = 0;
};

/// Where the text component comes from. All parts together are RelevanceComponents::text, which
/// stays between 0 and 1.
struct TextExplanation {
  std::vector<TermScore> terms;
  double question = 0;  ///< The entry before asks, and matches.
  double asks = 0;      ///< It is a question itself: below 0.
  double speaker = 0;   ///< It is by the one participant whom the query names.
  double date = 0;      ///< It lies in the time that the query names.
  /// It says the same in whatever words, and so does its session. 0 where no encoder took part.
  double meaning = 0;
  double session_meaning = 0;
  /// Of the entry and the question, -1 to 1; absent when the entry has no vector.
  std::optional<double> cosine = {};
};

/// What an answer says of itself: whether it is about what was asked.
enum class Certainty : std::uint8_t {
  kNone,  ///< Nothing found answers; the hits are only the least far away.
  kMaybe,
  kSure,
};

/// "none", "maybe" or "sure". Static storage.
std::string_view certainty_name(Certainty certainty);

/// How near an entry is to a question, whatever else there is.
struct Nearness {
  double coverage =
      0;  ///< 0 to 1: of what the question's words weigh, what it and its neighbours hold.
  std::size_t words = 0;  ///< Of the question that it holds itself, words of any work apart.
  bool before_adds =
      false;  ///< The neighbour before it holds a word that it doesn't; so for the next.
  bool after_adds = false;
  double score = 0;  ///< Of both, and the size of the memory; below 3.4 nothing answers.
};

/// A word of a question.
struct AskedWord {
  std::string word;       ///< In lower case.
  double share = 0;       ///< 0 to 1: of what all its words weigh; rare ones weigh more.
  bool is_known = false;  ///< Some entry holds it.
};

struct Hit {
  Entry entry = {};
  double relevance = 0;  ///< 0 to 1.
  RelevanceComponents components;
  RelevanceCombine combine = RelevanceCombine::kFactors;
  RelevanceWeights weights;  ///< Of the sum.
  /// A statement that a newer one has replaced, or one that nobody has accepted: its relevance is
  /// half of what it would be.
  bool outdated = false;
  /// A newer hit above it says the same with another value.
  bool said_before = false;
  /// It holds no word of the question; it is what the one named said last.
  bool weak = false;
  Nearness nearness = {};    ///< Of the first hits by relevance; 0 for all others.
  std::string snippet = {};  ///< Part of the entry's text around the matches; one line.
  std::vector<Highlight> highlights = {};  ///< In the snippet, ascending, apart from each other.
  std::vector<Entry> before = {};          ///< Query::context, oldest first.
  std::vector<Entry> after = {};
  std::optional<TextExplanation> explanation = {};
  // Only with Query::also_roots.
  std::string root = {};        ///< That of the memory it is from.
  bool from_elsewhere = false;  ///< Of another project, whose memory this user has not trusted.
};

/// A piece of a query that looked like more than words, and was read as words.
struct ProseReading {
  std::string text;        ///< As written.
  std::size_t offset = 0;  ///< In Query::text, in bytes; so for the next.
  std::size_t size = 0;
  std::string why;  ///< "it looks like an option".
};

/// Hits, and how the query was understood.
struct QueryAnswer {
  std::vector<Hit> hits;
  /// Absent without hits, and where no words were asked for or others than the best come first.
  std::optional<Certainty> certainty = {};
  std::vector<ProseReading> as_prose;  ///< In the order of the text.
  /// Sentences for people about how the query was read: `read "*.tmp" as words: …`.
  std::vector<std::string> notes;
  /// Sentences about what was looked for in place of what nobody knows: a word with a slip, a
  /// phrase that no entry holds.
  std::vector<std::string> instead;
  EncoderUse encoder = {};
};

/// A typed link to set or to take away: `from` solves, causes, supersedes or refines `to`.
struct LinkRequest {
  std::string from;
  LinkKind kind = LinkKind::kSolves;
  std::string to;
  bool remove = false;
  std::vector<std::string> sessions = {};  ///< Where both entries are; all when empty.
};

struct LinkReport {
  Entry entry;           ///< The one that holds the link, in its newest version.
  bool changed = false;  ///< False: the link was there already, or was not there to be removed.
};

struct RelatedEntry {
  Entry entry;
  Relation relation = Relation::kReferences;
  double relevance = 0;   ///< 1 for links and references; that of a query with its text otherwise.
  std::size_t depth = 1;  ///< How many links lead to it.
  /// Of a typed link: the id of the entry that `relation` counts from, the asked one at depth 1.
  std::string via = {};
};

struct TopicCount {
  std::string topic;
  std::uint64_t entries = 0;
  std::uint64_t sessions = 0;
  Timestamp newest{};
};

enum class TimelineUnit : std::uint8_t { kHour, kDay, kWeek, kMonth };

/// Entries by their time, UTC. Weeks begin on Monday.
struct TimelineBucket {
  Timestamp begin{};
  std::array<std::uint64_t, kEntryTypeCount> entries{};  ///< In the order of the enum.
  std::uint64_t sessions = 0;

  [[nodiscard]] std::uint64_t total() const;
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
  std::uint64_t lines = 0;  ///< Sealed ones too.
  std::uint64_t bytes = 0;
  std::uint64_t sealed_lines = 0;
  std::uint64_t closed_lines = 0;  ///< Sealed ones without their key: of these, the form alone.
  std::uint64_t unsealed_lines =
      0;                     ///< In clear, though they are to be sealed: of a merge, mostly.
  std::string seal_command;  ///< Which seals these.
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
  std::uint32_t hash = 0;  ///< Of the line, as seals have it; 0 of a lost one.
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

}  // namespace bmad_mem
