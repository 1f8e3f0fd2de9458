// artifact add - keeps a document beside the logs.
#include <algorithm>
#include <string>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/utf8.hpp"
#include "commands/commands.hpp"
#include "entry_input.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kSnippetSize = 400;  // About four lines.

/// The first heading of a Markdown document; empty when it has none.
std::string first_heading(std::string_view document) {
  for (std::size_t at = 0; at < document.size();) {
    const std::size_t end = std::min(document.find('\n', at), document.size());
    const std::string_view line = document.substr(at, end - at);
    const std::size_t marks = std::min(line.find_first_not_of('#'), line.size());
    if (marks > 0 && marks <= 6 && marks < line.size() && line[marks] == ' ') {
      return printable(line.substr(marks + 1));
    }
    at = end + 1;
  }
  return {};
}

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

Result<ExitStatus> run_artifact_add(Tool& tool) {
  const Arguments& args = tool.args();
  const std::string path(args.positional(0));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const std::string document, path == "-" ? read_stdin() : read_whole_file(path));
  ArtifactEntry entry{.path = path == "-" ? "stdin" : path,
                      .title = std::string(args.value("title")),
                      .agent_id = std::string(args.maybe("agent").value_or(tool.agent_id())),
                      .snippet = std::string(utf8_prefix(document, kSnippetSize))};
  if (entry.title.empty()) {
    const std::string heading = first_heading(document);
    entry.title = heading.empty() ? file_name(entry.path) : heading;
  }
  entry.common.tags.assign(args.all("tag").begin(), args.all("tag").end());
  BMAD_TRY_ASSIGN(const std::string id,
                  memory.add_artifact_document(session, std::move(entry), document));
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("id", id).member("session_id", session).end_object();
    tool.out().print("{}\n", json.text());
  } else {
    tool.out().print("{}\n", id);
  }
  return ExitStatus::kDone;
}

constexpr Positional kArtifactAddPositionals[] = {
    {.name = "FILE|-",
     .help = "the document, or - for what stands on stdin",
     .completion = Completion::kFile}};

constexpr Option kArtifactAddOptions[] = {
    {.name = "title",
     .letter = 't',
     .value = "TEXT",
     .help = "what it is",
     .fallback = "its first heading, else its name"},
    {.name = "agent", .value = "NAME", .help = "who has made it", .fallback = "--agent-id"},
    {.name = "tag", .value = "TAG", .help = "a word to filter by", .repeatable = true},
    kSessionOption,
};

constexpr Example kArtifactAddExamples[] = {
    {.command = "bmad-mem artifact add docs/architecture.md --agent architect",
     .says = "keep the document as it is now"},
};

}  // namespace

const Command kArtifactAdd = {
    .name = "artifact add",
    .group = Group::kKnow,
    .summary = "keep a document beside the logs",
    .description =
        "Copies FILE, a text of at most 1 MB, to artifacts/ID.md in the session's folder, without "
        "its secrets, appends an entry of type artifact that points to it, with its path, its "
        "title "
        "and its beginning, and prints the id. `add artifact` only points to a file.",
    .positionals = kArtifactAddPositionals,
    .options = kArtifactAddOptions,
    .examples = kArtifactAddExamples,
    .run = run_artifact_add,
};

}  // namespace bmad_mem::cli
