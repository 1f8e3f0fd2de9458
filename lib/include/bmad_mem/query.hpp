// query.hpp - what is asked of a memory: filters, queries, answers, links, topics, times.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/encoder.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

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

/// A query as programs write it, see schemas/query.schema.json. `now` is what relative times count
/// from. Errors: E_INVALID_QUERY with field and column.
Result<Query> read_json_query(std::string_view json, Timestamp now);

// Filters on the fields of entries, as people and programs write them.
//
//   status=open   severity!=low   metadata.ticket=PAY-1          parse_field_filter()
//   {"status": "open", "severity": ["high", "critical"], "-category": "style"}
//
// Of one field any of several values will do, different fields must all pass. Upper and lower case
// are the same in values, not in names.

/// The fields there are: "status", "severity", …; and besides them "metadata.NAME" and
/// "context.NAME".
std::span<const std::string_view> filter_field_names();

/// "status, severity, …, metadata.NAME and context.NAME", for messages and help.
std::string known_filter_fields();

/// Reads FIELD=VALUE or FIELD:VALUE; FIELD!=VALUE or -FIELD:VALUE for what must not be there.
/// Errors: E_INVALID_QUERY, naming the fields there are, or the values that a field takes.
Result<FieldFilter> parse_field_filter(std::string_view text);

/// Adds what `object` asks for to `filters`: each member is a field, with a '-' in front of its
/// name for values that must not be there, and its value a string, a number, a boolean or an array
/// of these. Errors: as parse_field_filter().
Status read_field_filters(JsonValue object, std::vector<FieldFilter>& filters);

}  // namespace bmad_mem
