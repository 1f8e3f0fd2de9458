// artifact.cpp - a pointer to a document that was made, with a piece of it.
#include "entry_spec.hpp"

namespace bmad_mem {
namespace {

constexpr auto kArtifactFields = entry_fields(std::array{
    Field{.name = "agent_id"},
    Field{.name = "path",
          .kind = FieldKind::kNonEmptyText,
          .need = FieldNeed::kRequired,
          .searchable = true,
          .of_file = true,
          .example = R"("docs/architecture.md")"},
    Field{.name = "title",
          .kind = FieldKind::kNonEmptyText,
          .need = FieldNeed::kRequired,
          .searchable = true,
          .example = R"("Architecture overview")"},
    Field{.name = "snippet", .searchable = true, .of_file = true},
    Field{.name = "tags", .kind = FieldKind::kTextList, .searchable = true},
    Field{.name = "references", .kind = FieldKind::kTextLists},
});

void append_artifact_headline(JsonValue entry, std::string& out) {
  out += entry["title"].string();
  out += " (";
  out += entry["path"].string();
  out += ')';
}

}  // namespace

constexpr EntrySpec kArtifactSpec = {
    // Between message and finding: somebody took the trouble to write it down as a document.
    .info = {.name = "artifact",
             .plural = "artifacts",
             .log_name = "artifacts",
             .log_file = "artifacts.jsonl",
             .id_prefix = "art-",
             .importance = 0.6,
             .decay_rate_per_day = 0.05},
    .shape = make_shape(kArtifactFields),
    .append_headline = append_artifact_headline,
};

}  // namespace bmad_mem
