// memory-tool - one command of Anthropic's memory tool: JSON in, the documented sentence out.
#include "exchange/memory_tool/memory_tool.hpp"

#include <string>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/utf8.hpp"
#include "commands/commands.hpp"
#include "entry_input.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

void print_answer(Tool& tool, bool is_error, std::string_view content, std::uint64_t redacted) {
  const std::string text = fmt::format("{}{}", is_error ? "Error: " : "", content);
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("is_error", is_error).member("content", utf8_repaired(text));
    if (redacted > 0) {
      json.member("redacted", redacted);
    }
    json.end_object();
    tool.out().print("{}\n", json.text());
  } else {
    tool.out().print("{}\n", text);
  }
}

Result<std::string> answer(std::string_view input, const MemoryManager& memory,
                           MemoryTool& memory_tool) {
  JsonParser parser;
  const Result<JsonValue> command = parser.parse(input);
  if (!command || !command->is_object()) {
    return Error{
        .code = ErrorCode::E_INVALID_FORMAT,
        .message = fmt::format("The command must be one JSON object{}{}", command ? "" : ": ",
                               command ? std::string() : command.error().message)};
  }
  if ((*command)["command"].string() != "view") {
    BMAD_TRY(memory.check_writable());
  }
  return memory_tool.run(*command);
}

Result<ExitStatus> run_memory_tool(Tool& tool) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const SecretScanner scanner, memory.scanner());
  BMAD_TRY_ASSIGN(const std::string input, read_stdin());
  BMAD_TRY_ASSIGN(MemoryFolder folder, MemoryFolder::open(memory.root()));
  MemoryTool memory_tool(folder, scanner);
  const Result<std::string> done = answer(input, memory, memory_tool);
  if (!done) {
    print_answer(tool, true, done.error().to_string(), 0);
    return ExitStatus::kFailed;
  }
  print_answer(tool, false, *done, memory_tool.redacted());
  if (memory_tool.redacted() > 0) {
    tool.note(fmt::format("{} taken out before the file was written",
                          format_count(memory_tool.redacted(), "secret was", "secrets were")));
  }
  return ExitStatus::kDone;
}

constexpr Explained kGlossary[] = {
    {.what = "view", .says = "path, view_range: a file with line numbers, or what a folder holds"},
    {.what = "create", .says = "path, file_text: a new file, and the folders above it"},
    {.what = "str_replace", .says = "path, old_str, new_str: changes the one place that matches"},
    {.what = "insert",
     .says = "path, insert_line, insert_text: puts text behind a line, 0 is the top"},
    {.what = "delete", .says = "path: a file, or a folder with all that is in it"},
    {.what = "rename", .says = "old_path, new_path: moves it; nothing is replaced"},
};

constexpr Example kMemoryToolExamples[] = {
    {.command = R"(echo '{"command":"view","path":"/memories"}' | bmad-mem memory-tool)",
     .says = "what there is"},
    {.command = "bmad-mem --json memory-tool <call.json", .says = "is_error and content apart"},
};

}  // namespace

const Command kMemoryTool = {
    .name = "memory-tool",
    .group = Group::kConnect,
    .summary = "answer one call of Anthropic's memory tool",
    .description =
        "Reads one command of the memory tool (memory_20250818) as JSON from stdin and prints the "
        "sentence that the tool documents, for the program that talks to the model. Files live in "
        "memories/ of this memory, which the model knows as /memories; no path and no link leads "
        "out of it.\n\n"
        "Secrets are taken out of what is written, whatever config.json says, and stderr tells how "
        "many. With --json the answer is {\"is_error\":…,\"content\":…}. An error for the model is "
        "an answer too: \"Error: …\" on stdout, and status 1.",
    .glossary_title = "Commands:",
    .glossary = kGlossary,
    .examples = kMemoryToolExamples,
    .exit_status =
        "0 done, 1 the answer is an error, or the memory could not be opened, 2 wrong usage.",
    .run = run_memory_tool,
};

}  // namespace bmad_mem::cli
