// import_places.hpp - where other programs keep what can be imported.
//
//   claude-code    $CLAUDE_CONFIG_DIR or ~/.claude: projects/*/**.jsonl, projects/*/memory/*.md
//   codex          $CODEX_HOME or ~/.codex: sessions/**.jsonl, archived_sessions/**.jsonl
//   gemini         ~/.gemini/tmp/*/chats/*
//   server-memory  $MEMORY_FILE_PATH
//
// What belongs to another project is left out: Claude Code and Codex say in their records in which
// folder they worked, Gemini CLI names the folder of its chats after the project.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/import/import_formats.hpp"

namespace bmad_mem::cli {

/// Where the programs keep their files; empty members take the places from the home folder.
struct ClientFolders {
  std::string home;
  std::string claude;
  std::string codex;
  std::string memory_file;
};

struct FoundImports {
  std::vector<ImportFile> files;
  std::uint64_t of_other_projects = 0;  ///< Files that were left out.
};

/// Whether this format has usual places.
bool has_usual_places(ImportFormat format);

/// What lies in the usual places and belongs to the project in folder `project` (absolute), or all
/// of it. Errors: E_STORAGE_IO when there is no such place, naming it.
Result<FoundImports> find_usual_places(ImportFormat format, const ClientFolders& folders,
                                       const std::string& project, bool all_projects);

/// What Claude Code calls the folder of a project, up to its 200th character: every other character
/// than a letter or a digit becomes '-'.
std::string claude_slug(std::string_view project);

}  // namespace bmad_mem::cli
