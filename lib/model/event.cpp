// event.cpp - something that happened: a tool was used, a command failed, a permission was given.
#include "entry_spec.hpp"

namespace bmad_mem {
namespace {

constexpr auto kEventFields = entry_fields(std::array{
    Field{.name = "agent_id"},
    Field{.name = "kind",
          .kind = FieldKind::kNonEmptyText,
          .need = FieldNeed::kRequired,
          .example = R"("tool_use")"},
    Field{.name = "tool", .searchable = true},
    Field{.name = "path", .searchable = true, .of_file = true},
    Field{.name = "content", .searchable = true},
    Field{.name = "tags", .kind = FieldKind::kTextList, .searchable = true},
    Field{.name = "metadata", .kind = FieldKind::kObject},
    Field{.name = "references", .kind = FieldKind::kTextLists},
});

void append_event_headline(JsonValue entry, std::string& out) {
  out += entry["kind"].string();
  for (const std::string_view name : {"tool", "path"}) {
    if (const std::string_view text = entry[name].string(); !text.empty()) {
      out += ' ';
      out += text;
    }
  }
  if (const std::string_view content = entry["content"].string(); !content.empty()) {
    out += ": ";
    out += content;
  }
}

}  // namespace

constexpr EntrySpec kEventSpec = {
    // Below conversation, because most events are routine; they fade as fast as messages do.
    .info = {.name = "event",
             .plural = "events",
             .log_name = "events",
             .log_file = "events.jsonl",
             .id_prefix = "evt-",
             .importance = 0.4,
             .decay_rate_per_day = 0.1},
    .shape = make_shape(kEventFields),
    .append_headline = append_event_headline,
};

}  // namespace bmad_mem
