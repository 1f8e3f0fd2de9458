// import_notes.hpp - transcripts that are as they were when they were imported: they are not read.
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
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/import/import_sink.hpp"

namespace bmad_mem::cli {

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

}  // namespace bmad_mem::cli
