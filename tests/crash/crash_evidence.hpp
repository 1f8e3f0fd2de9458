// crash_evidence.hpp - what a broken command left behind: the facts on which promises are judged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "crash_store.hpp"
#include "crash_table.hpp"
#include "syscall_tracer.hpp"

namespace bmad_mem {

/// Views of one store after one run; all three must outlive it. Broken promises are collected as
/// sentences.
class CrashEvidence {
 public:
  CrashEvidence(const CrashStore& store, const CrashCommand& command, const TraceOutcome& outcome)
      : store_(store), command_(command), outcome_(outcome) {}

  const CrashStore& store() const { return store_; }
  const CrashCommand& command() const { return command_; }
  const TraceOutcome& outcome() const { return outcome_; }
  const ChildResult& process() const { return outcome_.process; }

  bool was_killed() const;
  bool has_root() const;
  /// Whether the tracer made a call of this kind fail.
  bool failed(CallKind kind) const;
  /// Whether a sync failed, or could not be tried because the folder to sync could not be opened.
  bool failed_to_sync() const;
  /// For each mark of the command, in how many whole lines that are JSON objects it stands.
  std::vector<std::size_t> visible_marks() const;
  /// The ids that an `add` printed, also when it was killed later: who read them counts on them.
  std::vector<std::string> printed_ids() const;

  void report(const std::string& sentence) { broken_.push_back(sentence); }
  std::vector<std::string> broken() && { return std::move(broken_); }

  /// Every acknowledged line is where the command may have put it: where entries stay, in its log,
  /// in its order, once and byte for byte; else see check_found() and check_ids().
  void check_lines(const std::string& when);
  /// Every acknowledged line that was not to be destroyed is in its log once, in any order.
  void check_home(const std::string& when);
  /// The bytes that are no entry stand in some file.
  void check_retained(const std::string& when);

 private:
  void check_order(const std::string& when);
  /// Each line is in some file that counts: a log, an archive, the evicted, the deleted.
  void check_found(const std::string& when);
  /// Each entry is in its log, as often as it was.
  void check_ids(const std::string& when);

  const CrashStore& store_;
  const CrashCommand& command_;
  const TraceOutcome& outcome_;
  std::vector<std::string> broken_;
};

/// What is in the whole members of a gzip file; other bytes as they are.
std::string unpacked(const std::string& content);

/// All files below the root of the store, archives unpacked as far as they are whole.
Tree unpacked_tree(const CrashStore& store);

/// The files of `tree` that hold one of `words`.
std::vector<std::string> files_with(const Tree& tree, const std::vector<std::string>& words);

/// Whether `text` holds one of `words`.
bool holds_any(std::string_view text, const std::vector<std::string>& words);

/// At most the first 300 bytes.
std::string first_words(const std::string& text);

/// How a process ended and what it printed, for a sentence.
std::string what_it_said(const ChildResult& result);

}  // namespace bmad_mem
