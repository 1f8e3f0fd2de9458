// conversation.cpp - one message of a conversation, specification 3.2.
#include "entry_spec.hpp"

namespace bmad_mem {
namespace {

constexpr std::array<std::string_view, 4> kRoles = {"user", "assistant", "system", "tool"};

constexpr std::array kContextFields = {
    Field{.name = "conversation_id"},
    Field{.name = "parent_message_id"},
    Field{.name = "topic"},
};
constexpr ObjectShape kContextShape = make_shape(kContextFields);

constexpr std::array kMetadataFields = {
    Field{.name = "tokens", .kind = FieldKind::kCount},
    Field{.name = "processing_time_ms", .kind = FieldKind::kQuantity},
    Field{.name = "references", .kind = FieldKind::kTextList},
};
constexpr ObjectShape kMetadataShape = make_shape(kMetadataFields);

constexpr auto kConversationFields = entry_fields(std::array{
    Field{.name = "agent_id"},
    Field{.name = "role",
          .kind = FieldKind::kChoice,
          .need = FieldNeed::kRequired,
          .choices = kRoles,
          .example = R"("user")"},
    Field{.name = "content",
          .kind = FieldKind::kNonEmptyText,
          .need = FieldNeed::kRequired,
          .searchable = true,
          .example = R"("Which database do we use?")"},
    Field{.name = "context", .kind = FieldKind::kObject, .inner = &kContextShape},
    Field{.name = "metadata", .kind = FieldKind::kObject, .inner = &kMetadataShape},
    Field{.name = "tags", .kind = FieldKind::kTextList, .searchable = true},
    Field{.name = "references", .kind = FieldKind::kTextLists},
});

void append_conversation_headline(JsonValue entry, std::string& out) {
  out += entry["role"].string();
  out += ": ";
  out += entry["content"].string();
}

}  // namespace

constexpr EntrySpec kConversationSpec = {
    .info = {.name = "conversation",
             .plural = "conversations",
             .log_name = "conversation",
             .log_file = "conversation.jsonl",
             .id_prefix = "msg-",
             .created_with_session = true,
             .importance = 0.5,
             .decay_rate_per_day = 0.1},
    .shape = make_shape(kConversationFields),
    .append_headline = append_conversation_headline,
};

}  // namespace bmad_mem
