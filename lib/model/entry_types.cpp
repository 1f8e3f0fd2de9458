// entry_types.cpp - the table of entry types and their fields, which all other parts read.
//
// A row has the name, the kind and, in a few words, what the field says; then what else differs.
// Names are part of the format on disk and never change. The rows of a type stand in the order in
// which its lines have them.
#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/format.h>

#include "entry_spec.hpp"
#include "model/entry.hpp"
#include "value_text.hpp"

namespace bmad_mem {
namespace {

using enum FieldKind;

// What every type has: the first fields of each ...

template <typename... Rows>
consteval auto common_table(const Rows&... rows) {
  std::array all = table(rows...);
  std::ranges::for_each(all, [](Field& field) { field.is_common = true; });
  return all;
}

constexpr std::array kFirstFields =
    common_table(row("id", kEntryId,
                     "its id; a later line with the same id is a new version of the entry (`add` "
                     "writes one only "
                     "with --replace)")
                     .required(R"("dec-001")")
                     .by_default("a new one"),
                 row("timestamp", kTimestamp, "when it happened, as in 2026-01-11T10:05:23Z")
                     .required(R"("2026-01-11T10:05:23Z")")
                     .by_default("now"));

// ... those that stand among its own ...

constexpr FieldRow kAgentId = row("agent_id", kText, "the agent it is from")
                                  .common()
                                  .as_option("agent")
                                  .shown("NAME")
                                  .by_default("--agent-id, $BMAD_AGENT_ID");
constexpr FieldRow kTags =
    row("tags", kTextList, "a tag").searched().common().as_option("tag").shown("TAG");
constexpr FieldRow kReferences = row("references", kTextLists, "an entry it refers to")
                                     .common()
                                     .as_option("reference")
                                     .note("Ids by the type of their entries, in the plural.");
constexpr FieldRow kTopic = row("topic", kText, "the subject, such as database_selection").common();

// ... and the last ones.

constexpr std::array kSourceFields = common_table(
    row("kind", kChoice, "where it came from").one_of(kSourceKinds).as_option("source-kind"),
    row("trust", kUnitInterval, "how far that is to be trusted, from 0 to 1")
        .note("1 for what the user said, little for a web page."));
constexpr ObjectShape kSourceShape = make_shape(kSourceFields);

constexpr std::array kLastFields = common_table(
    kTopic, row("pinned", kBoolean, "its age never deletes it, and it leads every briefing"),
    row(kExpiresField, kTimestamp, "until when it is valid, as in 2026-12-31T23:00:00Z")
        .note("From then on it is not told, and the next maintenance deletes it for good, even if "
              "it is pinned."),
    row(kSensitiveField, kBoolean, "it is not handed to a model unless asked for"),
    row(kOutsideWorkspaceField, kBoolean,
        "its path lies outside the workspace; path and snippet are not searched")
        .not_offered(),
    row("source", kObject, "where it came from; each consolidation keeps it").members(kSourceShape),
    // Any value: a memory may have a field of this name from before.
    row(kLinksField, kAnything, "its typed links to other entries, as `link` sets them")
        .not_offered()
        .note("Lists of ids: solves, causes and refines, and superseded_by for what replaces it."),
    row("updated_at", kTimestamp, "when this version was written, if the entry is older")
        .not_offered(),
    row(kWrittenField, kTimestamp,
        "when this version was written, if it says what the last one did")
        .not_offered()
        .note("As with a link or a pin, which are no newer statement."),
    row("access_count", kCount, "how often it had been returned when this version was written")
        .not_offered(),
    row("last_accessed", kTimestamp, "when it had last been returned").not_offered(),
    // Any value: other writers of this format put milliseconds where we put RFC 3339.
    row("last_decay_update", kAnything, "when decay_factor was brought up to date, as a time")
        .not_offered()
        .note("With it, decay_factor is not what the entry began with. Other programs write "
              "milliseconds since 1970."),
    row("initial_decay_factor", kDecayFactor, "the weight it began with, where that was not 1")
        .not_offered()
        .note("It is there when decay_factor was brought up to date; today's is computed from it."),
    row("decay_factor", kDecayFactor, "the weight when it was written; 1 is fresh")
        .not_offered()
        .filled_in("1.0")
        .note("Boosts may carry it above 1. With last_decay_update, the weight at that moment. "
              "The weight of today is computed when reading."));

/// The fields of an entry: the first, its own, the last.
template <typename... Rows>
consteval auto entry_table(const Rows&... own) {
  std::array<Field, kFirstFields.size() + sizeof...(own) + kLastFields.size()> all;
  auto at = std::ranges::copy(kFirstFields, all.begin()).out;
  at = std::ranges::copy(table(own...), at).out;
  std::ranges::copy(kLastFields, at);
  return all;
}

// A conversation, specification 3.2.

constexpr std::array<std::string_view, 4> kRoles = {"user", "assistant", "system", "tool"};

constexpr std::array kContextFields =
    table(row("conversation_id", kText, "the conversation it belongs to").only_option(),
          row("parent_message_id", kText, "the message it answers")
              .only_option()
              .as_option("parent")
              .shown("ID"),
          kTopic);
constexpr ObjectShape kContextShape = make_shape(kContextFields);

constexpr std::array kMetadataFields = table(
    row("tokens", kCount, "its length in tokens").only_option(),
    row("processing_time_ms", kQuantity, "how long the answer took, in milliseconds").only_option(),
    row("references", kTextList, "an entry it refers to")
        .common()
        .as_option("reference")
        .shown("ID"));
constexpr ObjectShape kMetadataShape = make_shape(kMetadataFields);

constexpr std::array kConversationFields = entry_table(
    kAgentId, row("role", kChoice, "who speaks").required(R"("user")").one_of(kRoles).filtered(9),
    row("content", kNonEmptyText, "what is said")
        .required(R"("Which database do we use?")")
        .main()
        .searched(),
    row("context", kObject, "the place of the message in its conversation").members(kContextShape),
    row("metadata", kObject, "what was measured about it").members(kMetadataShape), kTags,
    kReferences);

// A decision, specification 3.3.

constexpr std::array<std::string_view, 4> kImpacts = {"low", "medium", "high", "critical"};

constexpr std::array kAlternativeFields = table(
    row("option", kText, "the alternative"), row("rejected_reason", kText, "why it was not taken"));
constexpr ObjectShape kAlternativeShape = make_shape(kAlternativeFields);

constexpr std::array kDecisionFields =
    entry_table(row("made_by", kText, "the agent or person that decided").shown("NAME").filtered(6),
                row("approved_by", kTextList, "the agents or persons that agreed")
                    .shown("NAME")
                    .filtered(5)
                    .note("An approved decision has a higher importance."),
                row("decision", kNonEmptyText, "what was decided")
                    .required(R"("Use PostgreSQL for the primary database")")
                    .main()
                    .searched(),
                row("rationale", kText, "why").searched(),
                row("alternatives_considered", kObjectList,
                    "a rejected alternative and the reason: \"MongoDB: eventual consistency\"")
                    .members(kAlternativeShape)
                    .searched()
                    .as_option("alternative"),
                row("impact", kChoice, "how much depends on it").one_of(kImpacts).filtered(3),
                kTags, kReferences, kAgentId);

// A finding, specification 3.4.

constexpr std::array<std::string_view, 5> kSeverities = {"info", "low", "medium", "high",
                                                         "critical"};
constexpr std::array<std::string_view, 5> kStatuses = {"open", "acknowledged", "in_progress",
                                                       "resolved", "dismissed"};
#ifdef BMAD_ONE_MORE_FIELD
constexpr std::array<std::string_view, 2> kEfforts = {"small", "large"};
#endif

constexpr std::array kFindingFields = entry_table(
    row("discovered_by", kText, "the agent or person that found it").shown("NAME").filtered(7),
    row("category", kText, "its kind, such as scalability").searched().filtered(4),
    row("severity", kChoice, "how bad it is").one_of(kSeverities).filtered(2),
    row("description", kNonEmptyText, "what was found")
        .required(R"("Connection pooling is not configured")")
        .main()
        .searched(),
    row("evidence", kText, "what shows it").searched(),
    row("recommendation", kText, "what to do").searched(),
    row("status", kChoice, "what became of it")
        .one_of(kStatuses)
        .filtered(1)
        .filled_in(R"("open")")
        .taken_for("open"),
#ifdef BMAD_ONE_MORE_FIELD  // For the test that finds a new row in every interface.
    row("fix_effort", kChoice, "how much work it makes").one_of(kEfforts).filtered(13),
#endif
    kTags, kReferences, kAgentId);

// A preference, specification 3.5. The value may be any JSON.

constexpr FieldRow kConfidence = row("confidence", kUnitInterval, "how sure it is, from 0 to 1");
constexpr FieldRow kLearnedFrom =
    row("learned_from", kTextList, "a session that taught it").shown("SESSION");

/// Whether somebody has looked at what was found without being told; absent for what was told.
constexpr std::array<std::string_view, 3> kReviews = {"candidate", "accepted", "dropped"};
constexpr FieldRow kReview = row("review", kChoice, "the review of a candidate that a rule found")
                                 .one_of(kReviews)
                                 .filtered(8)
                                 .not_offered();

/// Accepting the candidate changes that entry.
constexpr FieldRow kReplaces =
    row("replaces", kText, "the entry that a candidate would be a newer version of").not_offered();

constexpr std::array kPreferenceFields =
    entry_table(row("category", kText, "its kind, such as communication")
                    .filtered(4)
                    .taken_for("user_preference"),
                row("key", kNonEmptyText, "its name, such as response_style")
                    .required(R"("response_style")")
                    .searched()
                    .shown("KEY")
                    .filtered(12),
                row("value", kAnything, "what the user prefers")
                    .required(R"("concise_with_examples")")
                    .main()
                    .searched()
                    .shown("TEXT"),
                row("context", kText, "when it holds").searched(), kConfidence, kLearnedFrom,
                kReview, kReplaces, kTags, kReferences, kAgentId);

// A fact.

constexpr std::array kFactFields = entry_table(
    kAgentId,
    row("category", kText, "its kind, such as project_fact").filtered(4).taken_for("project_fact"),
    row("key", kText, "its name, such as response_style")
        .searched()
        .shown("KEY")
        .filtered(12)
        .note("A newer statement under it replaces this one."),
    row("content", kNonEmptyText, "the fact")
        .required(R"("The staging database is rebuilt every night")")
        .main()
        .searched(),
    kConfidence, kTags, kLearnedFrom, kReview, kReplaces, kReferences);

// An event.

constexpr std::array kEventFields = entry_table(
    kAgentId,
    row("kind", kNonEmptyText, "what happened, such as tool_use")
        .required(R"("tool_use")")
        .shown("WORD")
        .filtered(11),
    row("tool", kText, "the tool that was used").searched().filtered(10),
    row("path", kText, "the file it was about").searched().tells_of_file().shown("PATH"),
    row("content", kText, "what came of it").main().searched(), kTags,
    row("metadata", kObject, "more about it, as a JSON object"), kReferences);

// An agent's state.

constexpr FieldRow kOwner = [] {
  FieldRow owner = kAgentId;
  owner.kind = kNonEmptyText;
  return owner.required(R"("architect")");
}();

constexpr std::array kAgentStateFields =
    entry_table(kOwner,
                row("state", kAnything, "the state to restore; text if it is not JSON")
                    .required(R"({"task":"review the schema","step":2})")
                    .main()
                    .searched(),
                kTags, kReferences);

// An artifact.

constexpr std::array kArtifactFields = entry_table(
    kAgentId,
    row("path", kNonEmptyText, "where the document is")
        .required(R"("docs/architecture.md")")
        .searched()
        .tells_of_file()
        .shown("PATH"),
    row("title", kNonEmptyText, "its title")
        .required(R"("Architecture overview")")
        .main()
        .searched(),
    row("snippet", kText, "a piece of it").searched().tells_of_file(), kTags, kReferences);

// In the order of EntryType: name, plural, log, its file, prefix of ids, whether a new session gets
// an empty log, importance, decay a day.
constexpr std::array<EntrySpec, kEntryTypeCount> kSpecs = {{
    {.info = {"conversation", "conversations", "conversation", "conversation.jsonl", "msg-", true,
              0.5, 0.1},
     .shape = make_shape(kConversationFields),
     .headline = {{{"", "role", ": "}, {"", "content"}}},
     .about = "One message of a conversation between people and agents"},
    {.info = {"decision", "decisions", "decisions", "decisions.jsonl", "dec-", true, 1.0, 0.02},
     .who_field = "made_by",
     .shape = make_shape(kDecisionFields),
     .headline = {{mark("impact"), {"", "decision"}}},
     .about = "A decision with its author, rationale and rejected alternatives"},
    {.info = {"finding", "findings", "findings", "findings.jsonl", "finding-", true, 0.8, 0.05},
     .who_field = "discovered_by",
     .shape = make_shape(kFindingFields),
     .headline = {{mark("severity"), mark("status"), {"", "description"}}},
     .about = "Something found out about the project, with evidence and advice"},
    {.info = {"preference", "preferences", "preferences", "preferences.jsonl", "pref-", true, 0.7,
              0.01},
     .shape = make_shape(kPreferenceFields),
     .headline = {{{"", "key", " = "}, {"", "value"}}},
     .about = "How the user likes things done; the newest value of a key wins"},
    // Facts last as long as preferences do: both are knowledge, not talk. They weigh the same, too.
    {.info = {"fact", "facts", "facts", "facts.jsonl", "fact-", false, 0.7, 0.01},
     .shape = make_shape(kFactFields),
     .headline = {{{"", "key", ": "}, {"", "content"}}},
     .about = "One durable statement about the project or its people"},
    // Below conversation, because most events are routine; they decay as fast as messages do.
    {.info = {"event", "events", "events", "events.jsonl", "evt-", false, 0.4, 0.1},
     .shape = make_shape(kEventFields),
     .headline = {{{"", "kind"}, {" ", "tool"}, {" ", "path"}, {": ", "content"}}},
     .about = "Something that happened while an agent worked: a tool used, a command failed"},
    // Only the newest state matters, and the log's order tells which that is. The second
    // specification lets states decay a fifth faster than messages (0.06 against 0.05 a day).
    {.info = {"agent_state", "agent_states", "agent-states", "agent-states.jsonl", "state-", false,
              0.4, 0.12},
     .shape = make_shape(kAgentStateFields),
     .headline = {{{"", "agent_id", ": "}, {"", "state"}}},
     .about = "What one agent wants to find again when it starts the next time"},
    // Between message and finding: somebody took the trouble to write it down as a document.
    {.info = {"artifact", "artifacts", "artifacts", "artifacts.jsonl", "art-", false, 0.6, 0.05},
     .shape = make_shape(kArtifactFields),
     .headline = {{{"", "title"}, {" (", "path", ")"}}},
     .about = "A pointer to a document that was made, with a piece of it"},
}};

// In the order of FieldKind.
constexpr std::array<FieldKindInfo, 15> kKinds = {{
    {"a string", "TEXT", R"("type":"string")"},
    {"a string", "TEXT", R"("type":"string","minLength":1)"},
    {"a string", "ID", R"("type":"string")"},
    {R"(a string with an RFC 3339 time, such as "2026-01-11T10:05:23Z")", "TIME",
     R"("type":"string","format":"date-time")"},
    {"one of the strings", "WORD", R"("type":"string")"},
    {"a number from 0 to 1", "X", R"("type":"number","minimum":0,"maximum":1)"},
    {"a number from 0 to 2", "X", R"("type":"number","minimum":0,"maximum":2)"},
    {"a whole number, 0 or more", "N",
     R"("type":"integer","minimum":0,"maximum":9007199254740991)"},
    {"a number, 0 or more", "N", R"("type":"number","minimum":0)"},
    {"true or false", "", R"("type":"boolean")"},
    {"an array of strings", "TEXT", R"("type":"array","items":{"type":"string"})"},
    {R"(an object of arrays of strings, such as {"decisions":["dec-001"]})", "ID",
     R"("type":"object","additionalProperties":{"type":"array","items":{"type":"string"}})"},
    {"an object", "JSON", R"("type":"object")"},
    {"an array of objects", "TEXT", R"("type":"array")"},
    {"a value", "JSON", R"("type":["string","number","boolean","array","object"])"},
}};
static_assert(kDecayFactorMax == 2 && kCountMax == 9007199254740991);

/// Whether two names are the same but for '-' against '_'.
bool same_name(std::string_view a, std::string_view b) {
  const auto dashed = [](char c) { return c == '_' ? '-' : c; };
  return std::ranges::equal(a, b, {}, dashed, dashed);
}

std::optional<EntryType> find_type(auto&& matches) {
  for (const EntryType type : kEntryTypes) {
    if (matches(entry_type_info(type))) {
      return type;
    }
  }
  return std::nullopt;
}

}  // namespace

const EntrySpec& entry_spec(EntryType type) {
  assert(static_cast<std::size_t>(type) < kSpecs.size());
  return kSpecs[static_cast<std::size_t>(type)];
}

// What can be said of types and fields by looking through the table.

const EntryTypeInfo& entry_type_info(EntryType type) { return entry_spec(type).info; }

const ObjectShape& entry_shape(EntryType type) { return entry_spec(type).shape; }

std::span<const Field> entry_fields(EntryType type) { return entry_shape(type).fields; }

std::span<const Field> inner_fields(const Field& field) {
  return field.inner == nullptr ? std::span<const Field>() : field.inner->fields;
}

const FieldKindInfo& field_kind_info(FieldKind kind) {
  assert(static_cast<std::size_t>(kind) < kKinds.size());
  return kKinds[static_cast<std::size_t>(kind)];
}

std::string expected_value(const Field& field) {
  std::string expected(field_kind_info(field.kind).expected);
  return field.choices.empty() ? expected
                               : fmt::format("{} {}", expected, fmt::join(field.choices, ", "));
}

const Field& main_field(EntryType type) {
  assert(std::ranges::count_if(entry_fields(type), &Field::is_main) == 1);
  return *std::ranges::find_if(entry_fields(type), &Field::is_main);
}

std::string_view who_field(EntryType type) { return entry_spec(type).who_field; }

std::string_view entry_type_name(EntryType type) { return entry_type_info(type).name; }

std::optional<EntryType> try_parse_entry_type(std::string_view text) {
  return find_type([&](const EntryTypeInfo& info) {
    return same_name(text, info.name) || same_name(text, info.plural) ||
           same_name(text, info.log_name);
  });
}

Result<EntryType> parse_entry_type(std::string_view text) {
  if (const std::optional<EntryType> type = try_parse_entry_type(text)) {
    return *type;
  }
  std::array<std::string_view, kEntryTypeCount> names;
  std::ranges::transform(kEntryTypes, names.begin(), entry_type_name);
  std::string message = fmt::format("\"{}\" is not a type of entry; the types are {}",
                                    one_line(text, 40), fmt::join(names, ", "));
  if (const std::string_view nearest = nearest_word(text, names); !nearest.empty()) {
    message += fmt::format("; did you mean {}?", nearest);
  }
  return field_error(ErrorCode::E_INVALID_FORMAT, "type", std::move(message));
}

std::optional<EntryType> entry_type_of_log_file(std::string_view file_name) {
  return find_type([&](const EntryTypeInfo& info) { return file_name == info.log_file; });
}

std::optional<EntryType> entry_type_of_id(std::string_view id) {
  return find_type([&](const EntryTypeInfo& info) { return id.starts_with(info.id_prefix); });
}

}  // namespace bmad_mem
