// finding.cpp - something an agent found out about the project: specification 3.4.
#include "entry_spec.hpp"

namespace bmad_mem {
namespace {

constexpr std::array<std::string_view, 5> kSeverities = {"info", "low", "medium", "high",
                                                         "critical"};
constexpr std::array<std::string_view, 5> kStatuses = {"open", "acknowledged", "in_progress",
                                                       "resolved", "dismissed"};

constexpr auto kFindingFields = entry_fields(std::array{
    Field{.name = "discovered_by"},
    Field{.name = "category", .searchable = true},
    Field{.name = "severity", .kind = FieldKind::kChoice, .choices = kSeverities},
    Field{.name = "description",
          .kind = FieldKind::kNonEmptyText,
          .need = FieldNeed::kRequired,
          .searchable = true,
          .example = R"("Connection pooling is not configured")"},
    Field{.name = "evidence", .searchable = true},
    Field{.name = "recommendation", .searchable = true},
    Field{.name = "status",
          .kind = FieldKind::kChoice,
          .choices = kStatuses,
          .fallback = R"("open")"},
    Field{.name = "tags", .kind = FieldKind::kTextList, .searchable = true},
    Field{.name = "references", .kind = FieldKind::kTextLists},
    Field{.name = "agent_id"},
});

void append_finding_headline(JsonValue entry, std::string& out) {
  const std::string_view severity = entry["severity"].string();
  const std::string_view status = entry["status"].string();
  const bool shows_status = !status.empty() && status != "open";
  if (!severity.empty() || shows_status) {
    out += '[';
    out += severity;
    if (shows_status) {
      out += severity.empty() ? "" : ", ";
      out += status;
    }
    out += "] ";
  }
  out += entry["description"].string();
}

}  // namespace

constexpr EntrySpec kFindingSpec = {
    .info = {.name = "finding",
             .plural = "findings",
             .log_name = "findings",
             .log_file = "findings.jsonl",
             .id_prefix = "finding-",
             .created_with_session = true,
             .importance = 0.8,
             .decay_rate_per_day = 0.05},
    .who_field = "discovered_by",
    .shape = make_shape(kFindingFields),
    .append_headline = append_finding_headline,
};

}  // namespace bmad_mem
