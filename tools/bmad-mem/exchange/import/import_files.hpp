// import_files.hpp - which files can be imported, where they lie, how they are called, recognised
// and read.
//
// Where other programs keep what can be imported:
//
//   claude-code    $CLAUDE_CONFIG_DIR or ~/.claude: projects/*/**.jsonl, projects/*/memory/*.md
//   codex          $CODEX_HOME or ~/.codex: sessions/**.jsonl, archived_sessions/**.jsonl
//   gemini         ~/.gemini/tmp/*/chats/*
//   claude-mem     $CLAUDE_MEM_DATA_DIR or ~/.claude-mem: claude-mem.db
//   cursor         ~/.config/Cursor/User: globalStorage/state.vscdb, workspaceStorage/*/state.vscdb
//   cline          ~/.config/Code/User/globalStorage/EXTENSION/tasks/*, cline_sessions()/*
//   server-memory  $MEMORY_FILE_PATH
//
// What belongs to another project is left out: Claude Code and Codex say in their records in which
// folder they worked, Gemini CLI names the folder of its chats after the project.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "exchange/import/import_formats.hpp"
#include "exchange/import/import_sink.hpp"

namespace bmad_mem::cli {

struct ImportOptions {
  ImportFormat format = find_import_format("auto");
  std::string session_id;        ///< Where everything goes; empty: where each entry says.
  std::string fallback_session;  ///< Where goes what says nothing; may be empty.
  std::string project;           ///< The name of the project, for what names none; may be empty.
  bool prompts_only = false;     ///< See ImportContext::prompts_only.
  std::string folder = {};       ///< Of the project, whose commands are looked at; may be empty.
};

struct ImportFile {
  std::string path;  ///< "-" is stdin.
  std::uint64_t size = 0;
  ImportFormat format = nullptr;       ///< Where it is another one than was asked for.
  std::vector<std::string> only = {};  ///< See ImportContext::only.
};

/// The files themselves, and for a folder what below it can be of this format by its name (every
/// *.jsonl where nothing else is known), sorted by path; not what a memory keeps beside its logs.
/// Links to folders are not followed. Errors: E_STORAGE_IO for what isn't there.
Result<std::vector<ImportFile>> find_import_files(const std::vector<std::string>& paths,
                                                  ImportFormat format);

/// Puts files whose first record with a time is older in front, so that who said something first is
/// read first; the others stay where they are.
void order_by_first_record(std::vector<ImportFile>& files);

/// The names in a folder, sorted. Errors: E_STORAGE_IO.
Result<std::vector<std::string>> names_in(const std::string& folder);

/// Imports one file. `on_read` is called now and then with the bytes read so far. Errors: reading
/// failed, or ImportSink::add() did; what stands before that is imported.
Status import_file(const ImportFile& file, const ImportOptions& options, ImportSink& sink,
                   const std::function<void(std::uint64_t)>& on_read);

/// Where the programs keep their files; empty members take the places from the home folder.
struct ClientFolders {
  std::string home;
  std::string claude;
  std::string codex;
  std::string memory_file;
  std::string claude_mem;
  std::vector<std::string> worktrees = {};  ///< The project's folder in others of its repository.
};

struct FoundImports {
  std::vector<ImportFile> files;
  std::uint64_t of_other_projects = 0;  ///< Files that were left out.
};

/// What lies in the usual places and belongs to the project in folder `project` (absolute), or all
/// of it. Errors: E_STORAGE_IO when there is no such place, naming it.
Result<FoundImports> find_usual_places(ImportFormat format, const ClientFolders& folders,
                                       const std::string& project, bool all_projects);

/// Where Cline 3 keeps its sessions: $CLINE_SESSION_DATA_DIR, else "sessions" in $CLINE_DATA_DIR or
/// $CLINE_DIR/data, else in ~/.cline/data.
std::string cline_sessions();

/// What Claude Code calls the folder of a project, up to its 200th character: every other character
/// than a letter or a digit becomes '-'.
std::string claude_slug(std::string_view project);

}  // namespace bmad_mem::cli
