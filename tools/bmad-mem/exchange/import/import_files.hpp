// import_files.hpp - which files can be imported, where they lie, how they are called, recognised
// and read.
//
//   FILE...   files, folders, zips ─> find_import_files()  ┐
//   --from    usual places         ─> find_usual_places() ┴─> ImportFile ─> import_file()
//
// A file without a format is recognised by its beginning, in a folder and in a zip as well. Nothing
// is unpacked to disk.
//
// What belongs to another project is left out; the rows of the formats say how that is known
// (import_places.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "exchange/file_lines.hpp"
#include "exchange/import/import_sink.hpp"
#include "exchange/import/importer.hpp"

namespace bmad_mem::cli {

// What can be imported: a row for each format, in formats.toml and in the
// transcripts.toml of each client. What --from and --format take, `import --list`, and how a file
// is recognised follow from it. A client's versions may have several forms: rows of one name.

/// Where programs keep such files: folders or files, in which "*" in a name is any text and
/// "{a,b}" is each of the words. "~" and "$NAME" in front are folders; else it is in the project.
struct ImportPlace {
  std::vector<std::string_view> at;  ///< The first whose variable is set counts.
  std::string_view by;  ///< How it is known which files are the project's: PlaceSearch::search().
  std::string_view as;  ///< The format, where it is another one.
};

/// Without `make` it is Markdown, or said by the file.
struct ImportRow : ImportReader {
  std::string_view name;                ///< What --from and --format take.
  std::string_view title;               ///< What it is, for people; empty: a further form.
  std::vector<ImportPlace> places;      ///< Where --from searches without FILE; empty: nowhere.
  std::vector<std::string_view> files;  ///< Of files in a folder: names, "*" in them is any text.
                                        ///< Those of the further forms are with the first row's.
  std::vector<std::string_view>
      beside;             ///< The same of files there that hold nothing of their own.
  bool is_source = true;  ///< Whether --from takes it, too.

  [[nodiscard]] bool is_listed() const { return !title.empty(); }
};
/// In the order in which the beginning of a file is tried: records of Qwen and Gemini have the
/// sessionId of Claude Code's.
std::span<const ImportRow> import_rows();

/// "a, b or c": what --from takes, or with `all` what --format takes.
std::string import_names(bool all);

class Database;

struct ImportFile {
  std::string path;  ///< "-" is stdin.
  std::uint64_t size = 0;
  std::optional<ZipMember> member = {};  ///< Where it is one of the zip at `path`.
  ImportFormat format = nullptr;         ///< Where it is another one than was asked for.
  std::vector<std::string> only = {};    ///< See ImportContext::only.
  std::string name = {};   ///< Its absolute path, and after a newline the name of the member.
  std::string state = {};  ///< See ImportNotes, which sets both; empty: it is read each time.
};

struct FoundImports {
  std::vector<ImportFile> files;
  std::uint64_t of_other_projects = 0;  ///< Files that were left out.
  std::uint64_t unknown = 0;            ///< Of no known format, in folders and zips.
  std::uint64_t beside = 0;             ///< ImportRow::beside.
  std::map<std::string_view, std::uint64_t> formats = {};  ///< Those recognised there, by name.
};

/// The files themselves, and for a folder or a zip what in it is of this format by its name; with
/// "auto" what is recognised by its beginning. Those of a folder are sorted by path. Links to
/// folders are not followed. Errors: E_STORAGE_IO for what isn't there; those of zip_members().
Result<FoundImports> find_import_files(const std::vector<std::string>& paths, ImportFormat format);

/// The beginning of a file, with a first line that a screenshot makes longer than a chunk. Errors:
/// those of FileLines.
Result<std::string_view> recognisable(FileLines& lines, ImportFormat format);

/// The row of a file that begins like this, of those that the format may be; the format itself for
/// Markdown. Null when it is of no known format.
const ImportRow* known_row(ImportFormat format, std::string_view path, std::string_view beginning);

/// The row that reads a database: one of the format that has the tables which it knows. Null when
/// there is none. Errors: those of Database.
Result<const ImportRow*> database_row(ImportFormat format, const Database& database);

/// Whether the last parts of a path are called so; "*" in a part of the pattern is any text.
bool is_path_like(std::string_view path, std::string_view pattern);

/// Whether `folder` is that of the project, or in it.
bool lies_in(std::string_view folder, std::string_view project);

/// Puts files whose first record with a time is older in front, so that who said something first is
/// read first; the others stay where they are.
void order_by_first_record(std::vector<ImportFile>& files);

/// Imports one file. `on_read` is called now and then with the bytes read so far. Errors: reading
/// failed, or ImportSink::add() did; what stands before that is imported.
Status import_file(const ImportFile& file, const ImportOptions& options, ImportSink& sink,
                   const std::function<void(std::uint64_t)>& on_read);

/// What lies in the usual places and belongs to the project in folder `project` (absolute) or its
/// `worktrees`, the project's folder in others of its repository; or all of it. Errors:
/// E_STORAGE_IO when there is no such place, naming it.
Result<FoundImports> find_usual_places(ImportFormat format, const std::string& project,
                                       const std::vector<std::string>& worktrees,
                                       bool all_projects);

/// The usual places that are there, for people; the first one where none is.
std::string usual_place(ImportFormat format);

/// Where Cline 3 keeps its sessions: $CLINE_SESSION_DATA_DIR, else "sessions" in $CLINE_DATA_DIR or
/// $CLINE_DIR/data, else in ~/.cline/data: the first of its places.
std::string cline_sessions();

/// What Claude Code calls the folder of a project, up to its 200th character: every other character
/// than a letter or a digit becomes '-'.
std::string claude_slug(std::string_view project);

// Transcripts that are as they were when they were imported: they are not read.
//
//   STATE/roots/4f0c5a…/imports.jsonl      0600, outside the project; a line a file:
//     {"file":"/home/ann/.claude/…/1111.jsonl","state":"imp-2k…","entries":812,
//      "skipped":{"progress records":40},"sessions":{"cc-1111":"4f0c5a6b7c8d9e0f"}}
//
// `state` is of the file's inode, size and time, of the options, and of the program. `sessions`
// are those that hold its entries, with MemoryManager::log_stamp(): after any change in one of them
// the file is read again. Without the notes all files are.
//
// Where any file is read, those with "differs" are, too: the memory has other words than they, as
// from a hook, and what is read may be a fork of one.

class ImportNotes {
 public:
  /// `memory` must outlive it; null: nothing is noted.
  explicit ImportNotes(const MemoryManager* memory);

  /// Takes those out of `files` that need not be read, and gives the others name and state.
  void leave_out_known(std::vector<ImportFile>& files, const ImportOptions& options);
  /// Counts what was left out as known. Must follow the last file: what `report` has as a session
  /// is one that was looked at.
  void count_known(ImportReport& report) const;
  /// Notes what an import made of the files that were read, and forgets files that are gone.
  /// Where that can't be written, nothing is noted.
  void save(const std::map<std::uint64_t, ImportTally>& tallies) const;

 private:
  [[nodiscard]] bool is_current(const ImportFile& file);

  const MemoryManager* memory_;
  std::map<std::string, ImportTally> notes_;   ///< By ImportFile::name.
  std::vector<std::string> known_;             ///< Names of what was left out.
  std::map<std::string, std::string> stamps_;  ///< Of sessions, as they are.
};

// Importing Markdown notes: those of basic-memory, and Claude Code's own memory.
//
//   ---                              basic-memory
//   title: Night boat                an entity, see exchange/graph/graph.hpp
//   type: note, permalink, tags      entity type; tags of all that follows
//   ---
//   Prose.                           a fact: what is left when the lines below are taken out
//   - [tech] Stores UTC #time (why)  an observation: category, tag, context
//   - requires [[Timetable]]         a relation
//   - "is part of" [[Harbour]]       a relation of several words
//   [[Crew]] in prose                a relation "links_to"
//
//   ---                              Claude Code (projects/*/memory/*.md)
//   name, description
//   metadata: {type: user}           user, feedback: a preference; others: a fact
//   ---
//   Prose.                           its value; the name is the key
//
//   # Boats                          plain Markdown: rules, notes, and what Codex itself remembers
//   text                             a fact, key "notes.md > Boats"; above the first heading
//                                    the file's name is its key
//   ## Night boat
//   text                             a fact, key "notes.md > Boats > Night boat"
//
// A group of what Codex remembers (~/.codex/memories/*.md) names its folders: "applies_to:
// cwd=/home/ann/ferry; reuse_rule=…". Those of other projects are left out. A text that changed
// becomes another fact under its key: the newer one holds.
//
// Times are the file's own, else that of its last change; a note that has changed becomes a newer
// version of its prose.

/// Imports one note. Without a session id it goes into "basic-memory", or "claude-memory" when it
/// is one of Claude Code's. `changed_at`: when the file was changed last. Errors: those of
/// ImportSink::add().
Status import_note(const ImportContext& context, std::string_view text, Timestamp changed_at);

/// The YAML between two lines "---" at the beginning of a Markdown file.
struct FrontMatter {
  /// Scalars by name; what stands in a mapping has both names: "metadata.type". A list has a value
  /// for each of its scalars. What is nested deeper is left out.
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  std::string_view body;      ///< What follows; all of it when there is no front matter.
  std::size_t body_line = 1;  ///< The number of its first line.

  /// The first value of `name`; empty when there is none.
  [[nodiscard]] std::string_view text(std::string_view name) const;
};

/// Broken YAML counts as none: then its lines belong to the body.
FrontMatter read_front_matter(std::string_view text);

/// Whether a note has headings, and nothing that basic-memory or Claude Code writes: front matter,
/// observations, links.
bool has_only_headings(std::string_view text);

/// Imports plain Markdown: the text below each heading becomes a fact, whose key are the headings
/// above it, in the session called `format`. Errors: those of ImportSink::add().
Status import_sections(const ImportContext& context, std::string_view format, std::string_view text,
                       Timestamp changed_at);

/// `- [tech] Stores UTC #time (why)`
struct NoteObservation {
  std::string category;
  std::string text;  ///< Without tags and context.
  std::vector<std::string> tags;
  std::string context;
};

struct NoteRelation {
  std::string type;  ///< "links_to" for a mere link.
  std::string target;
};

/// Nothing for other lines: check boxes and links are list items in brackets, too.
std::optional<NoteObservation> read_note_observation(std::string_view line);

/// `- requires [[Timetable]]`, `- "is part of" [[Harbour]]`; nothing for other lines.
std::optional<NoteRelation> read_note_relation(std::string_view line);

/// What a line of prose links to: each `[[Target]]`, `[[Target|as shown]]`.
std::vector<NoteRelation> read_note_links(std::string_view line);

// What earlier versions recorded or imported wrongly, found by what is stored:
//
//   doubles       a fork, branch or resumed copy that was stored again, with its calls
//   false lines   a person's message that a program, an agent or a tool wrote
//   what follows  facts that were learned from such a line as the person's
//
// Mending deletes them; undelete() brings them back for 30 days. What a person or an agent did say
// in a false line is stored again, as whose it is.

struct ImportFault {
  std::string session_id;
  std::string id;
  std::string reason;  ///< "is a copy of one in codex-…", for people.
  std::string text;    ///< How it begins, on one line.
  /// The entry that takes its place, as JSON; empty: none does.
  std::string instead = {};
};

/// Reads messages and events of all sessions that clients wrote, a session at a time.
Result<std::vector<ImportFault>> find_import_faults(const MemoryManager& memory);

/// Deletes them, and stores what takes their place. Errors: those of delete_entries() and
/// add_batch(); what was mended before stays mended.
Status mend_import_faults(MemoryManager& memory, const std::vector<ImportFault>& faults);

}  // namespace bmad_mem::cli
