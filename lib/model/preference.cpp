// preference.cpp - how the user likes things done: specification 3.5. The value may be any JSON.
#include "entry_spec.hpp"
#include "value_text.hpp"

namespace bmad_mem {
namespace {

constexpr auto kPreferenceFields = entry_fields(std::array{
    Field{.name = "category"},
    Field{.name = "key",
          .kind = FieldKind::kNonEmptyText,
          .need = FieldNeed::kRequired,
          .searchable = true,
          .example = R"("response_style")"},
    Field{.name = "value",
          .kind = FieldKind::kAnything,
          .need = FieldNeed::kRequired,
          .searchable = true,
          .example = R"("concise_with_examples")"},
    Field{.name = "context", .searchable = true},
    Field{.name = "confidence", .kind = FieldKind::kUnitInterval},
    Field{.name = "learned_from", .kind = FieldKind::kTextList},
    Field{.name = "review", .kind = FieldKind::kChoice, .choices = kReviews},
    Field{.name = "tags", .kind = FieldKind::kTextList, .searchable = true},
    Field{.name = "references", .kind = FieldKind::kTextLists},
    Field{.name = "agent_id"},
});

void append_preference_headline(JsonValue entry, std::string& out) {
  out += entry["key"].string();
  out += " = ";
  append_value_shown(entry["value"], out);
}

}  // namespace

constexpr EntrySpec kPreferenceSpec = {
    .info = {.name = "preference",
             .plural = "preferences",
             .log_name = "preferences",
             .log_file = "preferences.jsonl",
             .id_prefix = "pref-",
             .created_with_session = true,
             .importance = 0.7,
             .decay_rate_per_day = 0.01},
    .shape = make_shape(kPreferenceFields),
    .append_headline = append_preference_headline,
};

}  // namespace bmad_mem
