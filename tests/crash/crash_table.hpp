// crash_table.hpp - every mutating command that the crash harness breaks: one line each.
//
// A new command joins by one line in crash_table.cpp. What a line leaves out has a default that
// fits a command which adds entries to session $S.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crash_store.hpp"

namespace bmad_mem {

/// What a command does to entries that were acknowledged before.
enum class EntryFate : std::uint8_t {
  kStay,  ///< nothing: each line stays in its place in its log
  kMove,  ///< they may leave their logs for the archive or deleted/, or come back from there
  kAge,   ///< they are written anew in their logs; an entry is known by its id
};

struct CrashCommand {
  const char* name = "";

  /// Brings an empty folder into the state on which the command runs.
  void (*prepare)(CrashStore&) = nullptr;

  /// The command line after --root, with $S, $T, $D and $ID as in CrashStore::command().
  std::vector<std::string> arguments{};
  std::string input{};

  /// Words that each stand in exactly one of the entries that the command writes, in the order of
  /// writing, and nowhere else in the prepared store.
  std::vector<std::string> marks{};

  /// Type of the entry that is added after the fault. It goes to the log that the command wrote,
  /// because that is the log whose torn tail has to be mended.
  std::string next_type = "decision";

  /// The command can be run again after a fault and then leaves each mark exactly once.
  bool is_idempotent = false;

  /// The command is not one write: after an error some of its entries may be there.
  bool writes_in_parts = false;

  /// Kinds of findings that `verify` reports on the prepared store. They may stay until a repair.
  std::vector<std::string> findings{};

  /// Bytes of the prepared store that are no entry, and that must stand in some file for ever.
  std::vector<std::string> kept{};

  /// A command and a text that its output holds once the command under test has succeeded.
  /// $OUT is the first line of what that one printed.
  std::vector<std::string> proof{};
  std::string proof_text{};

  /// A query for this word finds each acknowledged entry that holds it, whenever it is asked.
  std::string sought{};

  /// The prepared folder holds no memory root; one is made after the fault, to go on with.
  bool starts_without_root = false;

  /// What becomes of the entries that are there; see crash_settling.hpp for all but kStay.
  EntryFate fate = EntryFate::kStay;

  /// Words of entries that the command destroys: in the end they must be in no file at all.
  std::vector<std::string> doomed{};

  /// Code with which the command, run again, may refuse because it is done.
  std::string done_code{};

  /// What brings each entry back into its log after the command, one after another.
  std::vector<std::vector<std::string>> way_back{};

  /// The session that the `add` after the fault goes to.
  const char* next_session = "$S";
};

const std::vector<CrashCommand>& crash_table();

/// The commands of the life cycle: compaction, archive, deletion, purge, maintenance.
const std::vector<CrashCommand>& lifecycle_crash_table();

/// Two sessions with a decision and two messages each.
void prepare_two_sessions(CrashStore& store);

/// From now on each query takes what is new into the index of the memory.
void flush_at_once(const CrashStore& store);

/// Standard input for `add TYPE --session ID -`: one entry of `type` that holds the word `mark`.
std::string one_entry(const std::string& type, const std::string& mark);

}  // namespace bmad_mem
