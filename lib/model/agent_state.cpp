// agent_state.cpp - what one agent wants to find again when it starts the next time.
#include "entry_spec.hpp"
#include "value_text.hpp"

namespace bmad_mem {
namespace {

constexpr auto kAgentStateFields = entry_fields(std::array{
    Field{.name = "agent_id",
          .kind = FieldKind::kNonEmptyText,
          .need = FieldNeed::kRequired,
          .example = R"("architect")"},
    Field{.name = "state",
          .kind = FieldKind::kAnything,
          .need = FieldNeed::kRequired,
          .searchable = true,
          .example = R"({"task":"review the schema","step":2})"},
    Field{.name = "tags", .kind = FieldKind::kTextList, .searchable = true},
    Field{.name = "references", .kind = FieldKind::kTextLists},
});

void append_agent_state_headline(JsonValue entry, std::string& out) {
  out += entry["agent_id"].string();
  out += ": ";
  append_value_shown(entry["state"], out);
}

}  // namespace

constexpr EntrySpec kAgentStateSpec = {
    // Only the newest state matters, and the log's order tells which that is. The second
    // specification lets states fade a fifth faster than messages (0.06 against 0.05 a day).
    .info = {.name = "agent_state",
             .plural = "agent_states",
             .log_name = "agent-states",
             .log_file = "agent-states.jsonl",
             .id_prefix = "state-",
             .importance = 0.4,
             .decay_rate_per_day = 0.12},
    .shape = make_shape(kAgentStateFields),
    .append_headline = append_agent_state_headline,
};

}  // namespace bmad_mem
