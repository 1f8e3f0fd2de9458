// entry.hpp - what the rest of the engine asks of an entry, without knowing its type's
// fields; and structs as entries.
//
// The value is one that check_entry() found nothing wrong with; for any other JSON value nothing
// breaks, but what is missing or of the wrong kind counts as absent. Views live as long as the
// value's parser keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "base/ids.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entries.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Whether entries of the type state something, which others of their kind can contradict.
constexpr bool is_statement(EntryType type) {
  return type == EntryType::kFact || type == EntryType::kPreference;
}

/// Longest entry in bytes as a line, without its '\n'. 1 MiB: two thousand times the usual entry,
/// a tenth of a session.
inline constexpr std::size_t kEntrySizeMax = 1U << 20U;

/// The members that keep an entry, or a part of it, from where it does not belong.
inline constexpr std::string_view kSensitiveField = "sensitive";
inline constexpr std::string_view kOutsideWorkspaceField = "outside_workspace";
inline constexpr std::string_view kExpiresField = "expires_at";

/// The member of an encrypted entry: of such a line id and times alone can be read without a key,
/// see docs/decisions/0055-encryption-at-rest.md.
inline constexpr std::string_view kEncryptedField = "sealed";
/// Whether `line`, the value of a line that is no entry of its log, is one that is encrypted.
bool is_encrypted(JsonValue line);

/// The member that holds an entry's typed links, see entry_fields.hpp.
inline constexpr std::string_view kLinksField = "links";
inline constexpr std::string_view kWrittenField = "written_at";
/// The member of `links` with the ids of a kind: its name, but "superseded_by" for kSupersedes.
std::string_view link_member(LinkKind kind);
/// Whether the entry that the link leads to holds it.
bool is_stored_in_target(LinkKind kind);
/// Whether `links`, the member of an entry or absent, says that another entry replaces that one.
bool is_superseded(JsonValue links);

/// The fields that filters and lists look at, gathered in one walk over the members.
struct EntryHead {
  std::string_view id;
  Timestamp timestamp{};   ///< 1970 when absent.
  std::string_view who;    ///< made_by, discovered_by, or else agent_id; may be empty.
  std::string_view topic;  ///< context.topic, or else topic; may be empty.
  JsonValue tags;          ///< An array of strings, or absent.
  bool pinned = false;     ///< Never decays, never evicted.
  bool sensitive = false;  ///< Left out of what is handed to a model unless asked for.
  /// The factor that it began with, from which decay is computed: initial_decay_factor; else 1 when
  /// there is a last_decay_update, since decay_factor is then that moment's; else decay_factor.
  double decay_factor = 1.0;
  std::string_view conversation_id;  ///< context.conversation_id; may be empty.
  std::string_view role;             ///< Of a conversation; may be empty.
  std::optional<Timestamp> last_accessed;
  std::optional<Timestamp> expires_at;  ///< Until when it is valid.
  std::uint64_t access_count = 0;
  bool severe = false;      ///< Severity "critical", impact "high" or "critical".
  bool approved = false;    ///< approved_by names somebody.
  bool superseded = false;  ///< A link says that another entry replaces it.
};

EntryHead entry_head(EntryType type, JsonValue entry);

/// Whether what is valid until `expires_at` is not any more at `now`.
inline bool has_expired(const std::optional<Timestamp>& expires_at, Timestamp now) {
  return expires_at && *expires_at <= now;
}

/// Empty when absent.
std::string_view entry_id(JsonValue entry);
/// That of the entry in `line`; empty when it is no JSON.
std::string entry_id_in(JsonParser& parser, std::string_view line);

/// 1970 when absent or malformed.
Timestamp entry_timestamp(JsonValue entry);
/// When this version of it was written down: updated_at, else timestamp.
Timestamp entry_version_time(JsonValue entry);
/// The same with its written_at, if that is later: of a pin or a link, which is no newer statement.
Timestamp entry_written_time(JsonValue entry);
/// `line`, which is to replace the line `old`, with a written_at where it states nothing later.
Result<std::string> as_next_version(std::string_view old, std::string_view line, Timestamp now);
/// The time of a version written `now` that replaces `entry`: later than that one, also where the
/// clock was ahead when that one was written.
Timestamp next_version_time(JsonValue entry, Timestamp now);

/// Who said, decided, found or did it: a decision's made_by, a finding's discovered_by, otherwise
/// (and when those are absent) agent_id. Empty when nobody is named.
std::string_view entry_who(EntryType type, JsonValue entry);

/// The folder that it was made in, without a '/' at the end: its workspace, else that of its
/// metadata. Empty when it says none.
std::string_view entry_workspace(JsonValue entry);

/// Importance from 0 to 1, specification 5.3: by type (EntryTypeInfo::importance), times 1.3 when
/// EntryHead::severe (severity "critical", or impact "high" or "critical"), times 1.2 when
/// EntryHead::approved (approved_by names somebody); capped at 1. Impact "critical" is ours: the
/// specification's own scale ends at "high".
double importance_of(EntryType type, bool severe, bool approved);

/// Stands between two texts of an entry for those who have to tell it from a line break in a text.
inline constexpr char kTextBreak = '\x1E';  // ASCII's record separator.

/// Appends to `out` the text that search sees: the searchable fields in canonical order, the
/// strings of lists and nested objects one by one, tags last, `between` between any two. In a
/// preference's value and an agent's state, which may be any JSON, numbers and the keys of objects
/// are text too. In an entry that is outside_workspace, what tells of its file (Field::of_file) is
/// left out. Appends nothing when there is no text.
void entry_searchable_text(EntryType type, JsonValue entry, std::string& out, char between = '\n');

/// One line for lists, without control characters or line breaks, of at most `width_max`
/// characters (code points); cut off with "…" when there is more. At least 1.
std::string entry_headline(EntryType type, JsonValue entry, std::size_t width_max = 100);

// Whether a parsed JSON value is an entry of a type; and how it becomes one.
//
// Runs once for each line of every scan, so a good entry costs one walk over its members, no
// allocation and about 10 ns a field. Only for a bad one the reason is put together.

/// What is wrong with an entry, and where.
struct FieldProblem {
  /// Path of the field: "severity", "alternatives_considered[1].option"; empty when `value` is no
  /// object at all.
  std::string field;
  /// Says what is allowed and guesses what was meant; reads well behind "field: ".
  std::string message;
};

/// Nothing when `value` is a valid entry of this type; otherwise its first problem: wrong fields in
/// the order of the text, then missing ones. Threads: safe.
std::optional<FieldProblem> check_entry(EntryType type, JsonValue value);

// From what a caller wrote to the line that goes into the log.
//
//   in    { "decision": "Use PostgreSQL", "ticket": 42, "made_by": "architect" }
//   out   {"id":"dec-…","timestamp":"…","made_by":"architect","decision":"Use PostgreSQL",
//          "ticket":42,"decay_factor":1.0}                              (one line, no '\n')
//
// The known fields come in the order of the specification, so that people find them; unknown ones
// follow in the order they came in; `decay_factor` is last. No value changes a byte: 1.00 stays
// 1.00 and an escape stays an escape. Only blanks between tokens go.

/// An entry that is ready to be appended.
struct CompleteEntry {
  std::string line;  ///< One JSON object, compact, without '\n', at most kEntrySizeMax bytes.
  std::string id;
  bool has_own_id = false;  ///< The text had it.
};

/// Reads `text`, one JSON object, fills in what is missing (`id` from `ids`, `timestamp` as `now`,
/// `decay_factor` 1.0, a finding's `status` "open") and validates it. A member `type` that names
/// this type is dropped, since the log says it.
/// Errors: E_INVALID_FORMAT: `text` is not JSON, with column and field. E_SCHEMA_INVALID: a field
/// is missing or wrong, or `type` names another type, with the field. E_SIZE_LIMIT: `text` or the
/// line is larger than kEntrySizeMax.
Result<CompleteEntry> complete_entry(EntryType type, JsonParser& parser, std::string_view text,
                                     IdGenerator& ids, Timestamp now);

/// The same for a text that is parsed already: `entry` is its value.
Result<CompleteEntry> complete_entry(EntryType type, JsonValue entry, std::string_view text,
                                     IdGenerator& ids, Timestamp now);

/// `line`, an entry, with `changes`, an object whose JSON is `text`: a member replaces the one of
/// its name, null takes it away. What is not named keeps its bytes. Sets updated_at, unless nothing
/// but marks changes, or the changes have one. Errors: E_INVALID_QUERY for no member, or one that
/// can't change.
Result<std::string> changed_line(std::string_view line, JsonValue changes, std::string_view text,
                                 Timestamp now);

// The members that the engine sets to true on an entry before it is written.
//
// They are written, not worked out when reading: so index and logs agree whatever the config says
// later, and people see in the line itself what holds for it.

/// `line`, one JSON object, with the member `name` set to true. What is no object, and one that has
/// such a member, stays as it is: who set it knows better.
std::string with_mark(std::string_view line, std::string_view name);
/// The same where `entry` is the value of `line`.
std::string with_mark(JsonValue entry, std::string_view line, std::string_view name);

/// The workspace of the memory at `root`: the folder that holds .bmad; for a root that is named
/// otherwise, the folder above it. Looks at the disk once, for symbolic links.
Workspace workspace_of(const std::string& root);

/// The first line of a file that git writes, of its first 4 KiB; empty when it is no regular file
/// or can't be read.
std::string first_line_of_file(const std::filesystem::path& path);
/// With it begins the file .git of a worktree or a submodule; the path of its repository follows.
inline constexpr std::string_view kGitDir = "gitdir: ";

/// `line`, an entry of `type`, marked as outside_workspace; nothing when its path is not outside or
/// it has no path, and when it is marked or unmarked already. `entry` is the value of `line`.
std::optional<std::string> marked_outside(const Workspace& workspace, EntryType type,
                                          JsonValue entry, std::string_view line);

// A log's line on its way to another file, byte for byte, with what is to be
// said about it in front.
//
//   {"type":"fact","reason":"superseded","entry":{"id":"fact-1", "mine": 1.00}}
//                                                |<----- as in the log ----->|
//
// The line must come back as it was: blanks, order and the spelling of numbers included, since what
// was moved away may be put back. So it is neither parsed nor written anew, only stood in a place
// where JSON allows it, and the whole is still one JSON object that people and programs can read.

/// A string member that stands between "type" and "entry".
struct WrapLabel {
  std::string_view name;
  std::string_view value;
};

/// Appends the wrapped line to `out`, without '\n'. `entry` must be a line that a log takes: one
/// JSON object without line breaks.
void append_wrapped(std::string& out, EntryType type, std::span<const WrapLabel> labels,
                    std::string_view entry);

/// A wrapped line, taken apart.
struct WrappedLine {
  EntryType type = EntryType::kConversation;
  /// The line that was wrapped, with all blanks around it: a log may have some, too. Lives as long
  /// as the text.
  std::string_view entry;
  /// The other members; `entry` is null in it. Lives until the parser parses again.
  JsonValue members;
};

/// Takes `text` apart: written by append_wrapped(), or by a person, who may order the members and
/// put blanks between them as JSON allows. Uses `parser`.
/// Errors: E_INVALID_FORMAT with field, when it is no JSON object, or has no "type" that is one, or
/// no "entry" that is an object.
Result<WrappedLine> unwrap_line(JsonParser& parser, std::string_view text);

}  // namespace bmad_mem
