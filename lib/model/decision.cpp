// decision.cpp - what was decided, by whom, why, and what was turned down: specification 3.3.
#include "entry_spec.hpp"

namespace bmad_mem {
namespace {

constexpr std::array<std::string_view, 4> kImpacts = {"low", "medium", "high", "critical"};

constexpr std::array kAlternativeFields = {
    Field{.name = "option"},
    Field{.name = "rejected_reason"},
};
constexpr ObjectShape kAlternativeShape = make_shape(kAlternativeFields);

constexpr auto kDecisionFields = entry_fields(std::array{
    Field{.name = "made_by"},
    Field{.name = "approved_by", .kind = FieldKind::kTextList},
    Field{.name = "decision",
          .kind = FieldKind::kNonEmptyText,
          .need = FieldNeed::kRequired,
          .searchable = true,
          .example = R"("Use PostgreSQL for the primary database")"},
    Field{.name = "rationale", .searchable = true},
    Field{.name = "alternatives_considered",
          .kind = FieldKind::kObjectList,
          .searchable = true,
          .inner = &kAlternativeShape},
    Field{.name = "impact", .kind = FieldKind::kChoice, .choices = kImpacts},
    Field{.name = "tags", .kind = FieldKind::kTextList, .searchable = true},
    Field{.name = "references", .kind = FieldKind::kTextLists},
    Field{.name = "agent_id"},
});

void append_decision_headline(JsonValue entry, std::string& out) {
  if (const std::string_view impact = entry["impact"].string(); !impact.empty()) {
    out += '[';
    out += impact;
    out += "] ";
  }
  out += entry["decision"].string();
}

}  // namespace

constexpr EntrySpec kDecisionSpec = {
    .info = {.name = "decision",
             .plural = "decisions",
             .log_name = "decisions",
             .log_file = "decisions.jsonl",
             .id_prefix = "dec-",
             .created_with_session = true,
             .importance = 1.0,
             .decay_rate_per_day = 0.02},
    .who_field = "made_by",
    .shape = make_shape(kDecisionFields),
    .append_headline = append_decision_headline,
};

}  // namespace bmad_mem
