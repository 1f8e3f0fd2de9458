// fact.cpp - one durable statement about the project or its people.
#include "entry_spec.hpp"

namespace bmad_mem {
namespace {

constexpr auto kFactFields = entry_fields(std::array{
    Field{.name = "agent_id"},
    Field{.name = "category"},
    Field{.name = "key", .searchable = true},
    Field{.name = "content",
          .kind = FieldKind::kNonEmptyText,
          .need = FieldNeed::kRequired,
          .searchable = true,
          .example = R"("The staging database is rebuilt every night")"},
    Field{.name = "confidence", .kind = FieldKind::kUnitInterval},
    Field{.name = "tags", .kind = FieldKind::kTextList, .searchable = true},
    Field{.name = "learned_from", .kind = FieldKind::kTextList},
    Field{.name = "review", .kind = FieldKind::kChoice, .choices = kReviews},
    Field{.name = "references", .kind = FieldKind::kTextLists},
});

void append_fact_headline(JsonValue entry, std::string& out) {
  if (const std::string_view key = entry["key"].string(); !key.empty()) {
    out += key;
    out += ": ";
  }
  out += entry["content"].string();
}

}  // namespace

constexpr EntrySpec kFactSpec = {
    // Facts last as long as preferences do: both are knowledge, not talk. They weigh the same, too.
    .info = {.name = "fact",
             .plural = "facts",
             .log_name = "facts",
             .log_file = "facts.jsonl",
             .id_prefix = "fact-",
             .importance = 0.7,
             .decay_rate_per_day = 0.01},
    .shape = make_shape(kFactFields),
    .append_headline = append_fact_headline,
};

}  // namespace bmad_mem
