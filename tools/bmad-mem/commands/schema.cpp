// schema - writes what the table of fields says of a type; `./dev schemas` calls it.
#include "bmad_mem/entry_fields.hpp"
#include "commands/commands.hpp"
#include "field_texts.hpp"
#include "filters.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_schema(Tool& tool) {
  const std::string_view name = tool.args().positional(0);
  if (name.empty()) {
    tool.out().write(field_tables());
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const EntryType type, parse_entry_type(name));
  tool.out().write(entry_schema(type));
  return ExitStatus::kDone;
}

constexpr Positional kSchemaPositionals[] = {{.name = "TYPE",
                                              .help = "a type of entries",
                                              .min = 0,
                                              .completion = Completion::kChoice,
                                              .choices = kTypeNames}};

constexpr Example kSchemaExamples[] = {
    {.command = "bmad-mem schema decision", .says = "schemas/decision.schema.json"},
    {.command = "bmad-mem schema", .says = "the tables in docs/files.md"},
};

}  // namespace

const Command kSchema = {
    .name = "schema",
    .group = Group::kHidden,
    .summary = "write the JSON Schema of a type of entries",
    .description =
        "Writes the JSON Schema of the entries of TYPE; without it, the fields of all "
        "types as tables in Markdown.",
    .positionals = kSchemaPositionals,
    .examples = kSchemaExamples,
    .run = run_schema,
};

}  // namespace bmad_mem::cli
