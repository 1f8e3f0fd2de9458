#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "crash_checks.hpp"
#include "crash_evidence.hpp"
#include "crash_settling.hpp"
#include "json_lines.hpp"

namespace bmad_mem {
namespace {

constexpr const char* kNextMark = "the-entry-after-the-fault";

/// Files that say who did something last, or that are derived: a repair may write them every time.
bool is_information_only(const std::string& name) {
  return name.ends_with(".lock") || name.ends_with(".lock.json") || name.ends_with("index.json") ||
         name.ends_with("audit.jsonl") || name.ends_with("access.jsonl");
}

/// The longest run of letters, digits, '-' and '_': it reads the same in every quoting.
std::string longest_word(const std::string& text) {
  const auto is_part = [](char c) {
    return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '-' || c == '_';
  };
  std::string longest;
  for (auto at = text.begin(); at != text.end();) {
    const auto begin = std::find_if(at, text.end(), is_part);
    at = std::find_if_not(begin, text.end(), is_part);
    if (at - begin > std::ssize(longest)) {
      longest.assign(begin, at);
    }
  }
  return longest;
}

/// What `verify` may find at a moment.
struct Allowed {
  bool torn_tail = false;
  bool old_findings = false;
};

class Recovery {
 public:
  explicit Recovery(CrashEvidence& evidence)
      : evidence_(evidence),
        store_(evidence.store()),
        command_(evidence.command()),
        torn_words_(torn_words()) {}

  void run() {
    check_proof();
    check_verify("after the fault", {.torn_tail = true, .old_findings = true});
    if (command_.fate != EntryFate::kStay) {
      settle(evidence_);
    }
    if (!command_.starts_without_root) {
      check_reads("after the fault");
    }
    go_on();
    repair();
  }

 private:
  void check_proof();
  void check_verify(const std::string& when, const Allowed& allowed);
  void check_finding(const std::string& when, const std::string& line, const Allowed& allowed);
  void check_reads(const std::string& when);
  void check_get(const std::string& when);
  void check_found(const std::string& when);
  void check_not_fewer(const std::vector<std::size_t>& before, const std::string& when);
  void check_same(const Tree& once, const Tree& twice);
  void check_leftovers();
  void go_on();
  std::string make_root();
  void add_next(const std::string& session);
  void run_again();
  void repair();

  ChildResult run_command(const std::vector<std::string>& arguments) const {
    return store_.run(arguments);
  }
  std::set<std::string> torn_words() const;

  CrashEvidence& evidence_;
  const CrashStore& store_;
  const CrashCommand& command_;
  std::set<std::string> torn_words_;  ///< found in torn tails right after the fault
};

/// A torn tail is no entry, but its bytes move to the quarantine and do not vanish.
std::set<std::string> Recovery::torn_words() const {
  constexpr std::size_t kTellingSize = 8;
  std::set<std::string> words;
  for (const auto& [name, content] : evidence_.has_root() ? store_.tree() : Tree()) {
    const std::string word = longest_word(content.substr(content.rfind('\n') + 1));
    if (is_log_name(name.substr(name.rfind('/') + 1)) && word.size() >= kTellingSize) {
      words.insert(word);
    }
  }
  return words;
}

void Recovery::check_proof() {
  const ChildResult& process = evidence_.process();
  if (!process.succeeded() || command_.proof.empty()) {
    return;
  }
  const bool wants_output = command_.proof_text == "$OUT";
  const std::string text = wants_output ? first_line(process.out) : command_.proof_text;
  const ChildResult result = run_command(command_.proof);
  if (!result.succeeded() || !result.out.contains(text)) {
    evidence_.report("the command succeeded, but '" + command_.proof.front() + "' does not show '" +
                     text + "': " + what_it_said(result));
  }
}

void Recovery::check_finding(const std::string& when, const std::string& line,
                             const Allowed& allowed) {
  const std::string kind = json_string_field(line, "kind").value_or("no kind");
  const bool is_old =
      allowed.old_findings && std::ranges::find(command_.findings, kind) != command_.findings.end();
  if (!is_old && !(allowed.torn_tail && kind == "torn_tail")) {
    evidence_.report(when + ": verify found " + first_words(line));
  }
}

void Recovery::check_verify(const std::string& when, const Allowed& allowed) {
  if (!evidence_.has_root()) {
    return;
  }
  const ChildResult result = run_command({"--json", "verify"});
  int status = 0;
  for (const std::string& line : whole_lines(result.out)) {
    if (!has_json_field(line, "summary")) {
      status = 1;
      check_finding(when, line, allowed);
    }
  }
  if (result.signal != 0 || result.exit_code != status) {
    evidence_.report(when + ": verify must end with status " + std::to_string(status) + ": " +
                     what_it_said(result));
  }
}

void Recovery::check_reads(const std::string& when) {
  for (const std::vector<std::string>& reading :
       {std::vector<std::string>{"session", "list"}, {"--json", "list"}}) {
    const ChildResult result = run_command(reading);
    if (!result.succeeded()) {
      evidence_.report(when + ": " + reading.back() + " does not work: " + what_it_said(result));
    }
  }
  check_get(when);
  check_found(when);
}

void Recovery::check_found(const std::string& when) {
  if (command_.sought.empty()) {
    return;
  }
  std::size_t wanted = 0;
  for (const auto& [log, lines] : store_.acknowledged()) {
    wanted += static_cast<std::size_t>(std::ranges::count_if(
        lines, [this](const std::string& line) { return line.contains(command_.sought); }));
  }
  const ChildResult result =
      run_command({"--json", "query", "+" + command_.sought, "--limit", "0"});
  if (!result.succeeded() || whole_lines(result.out).size() != wanted) {
    evidence_.report(when + ": a query does not find each of " + std::to_string(wanted) +
                     " acknowledged entries: " + what_it_said(result));
  }
}

void Recovery::check_get(const std::string& when) {
  std::set<std::string> ids;
  for (const auto& [log, lines] : store_.acknowledged()) {
    for (const std::string& line : lines) {
      if (!holds_any(line, command_.doomed)) {
        ids.insert(json_string_field(line, "id").value_or(""));
      }
    }
  }
  ids.merge([this] {
    const std::vector<std::string> printed = evidence_.printed_ids();
    return std::set<std::string>(printed.begin(), printed.end());
  }());
  if (ids.empty()) {
    return;
  }
  std::vector<std::string> get = {"--json", "get"};
  get.insert(get.end(), ids.begin(), ids.end());
  const ChildResult result = run_command(get);
  if (!result.succeeded() || whole_lines(result.out).size() != ids.size()) {
    evidence_.report(when + ": get does not return each of " + std::to_string(ids.size()) +
                     " acknowledged ids once: " + what_it_said(result));
  }
}

/// An entry that a reader could see once must not vanish. Only a failed sync may take it away: then
/// nobody knows what the disk holds, and the trusted part of the log is all that is kept.
void Recovery::check_not_fewer(const std::vector<std::size_t>& before, const std::string& when) {
  const std::vector<std::size_t> now = evidence_.visible_marks();
  for (std::size_t index = 0; index < now.size(); ++index) {
    const bool has_vanished = now[index] < before[index] && !evidence_.failed_to_sync();
    if (now[index] > 1 || has_vanished) {
      evidence_.report(when + ": the entry '" + command_.marks[index] + "' was there " +
                       std::to_string(before[index]) + " times and is there " +
                       std::to_string(now[index]) + " times now");
    }
  }
}

/// Makes a root where the command should have made one. Returns a session in it.
std::string Recovery::make_root() {
  const ChildResult init = run_command({"init"});
  const ChildResult session = run_command({"session", "new", "--user", "u", "--agent", "a"});
  if (!init.succeeded() || !session.succeeded()) {
    evidence_.report("after the fault no root can be made: " + what_it_said(init) + " / " +
                     what_it_said(session));
  }
  return first_line(session.out);
}

void Recovery::add_next(const std::string& session) {
  std::string entry = one_entry(command_.next_type, kNextMark);
  entry.insert(1, R"("id":")" + std::string(kNextMark) + R"(",)");  // In clear in a recorded line.
  const ChildResult add = store_.run({"add", command_.next_type, "--session", session, "-"}, entry);
  std::size_t found = 0;
  for (const auto& [log, lines] : store_.logs()) {
    found += static_cast<std::size_t>(std::ranges::count_if(
        lines, [](const std::string& line) { return line.contains(kNextMark); }));
  }
  if (!add.succeeded() || found != 1) {
    evidence_.report("the next add does not work, its entry is there " + std::to_string(found) +
                     " times: " + what_it_said(add));
  }
}

void Recovery::run_again() {
  const ChildResult again = store_.run(command_.arguments, command_.input);
  const std::vector<std::size_t> marks = evidence_.visible_marks();
  if (!again.succeeded() || std::ranges::count(marks, 1U) != std::ssize(marks)) {
    evidence_.report("the command run again does not leave each entry once: " +
                     what_it_said(again));
  }
}

void Recovery::go_on() {
  const std::vector<std::size_t> before = evidence_.visible_marks();
  add_next(command_.starts_without_root ? make_root() : command_.next_session);
  if (command_.is_idempotent) {
    run_again();
  }
  evidence_.check_lines("after the next add");
  check_not_fewer(before, "after the next add");
  check_verify("after the next add", {.old_findings = true});
}

void Recovery::repair() {
  const std::vector<std::size_t> before = evidence_.visible_marks();
  const ChildResult first = run_command({"repair"});
  check_verify("after repair", {});
  evidence_.check_lines("after repair");
  evidence_.check_retained("after repair");
  check_not_fewer(before, "after repair");
  check_reads("after repair");
  check_leftovers();
  const Tree once = store_.tree();
  const ChildResult second = run_command({"repair"});
  if (!first.succeeded() || !second.succeeded()) {
    evidence_.report("repair does not work: " + what_it_said(first) + " / " + what_it_said(second));
  }
  check_same(once, store_.tree());
}

void Recovery::check_same(const Tree& once, const Tree& twice) {
  for (const auto& [name, content] : twice) {
    const auto same = once.find(name);
    if (!is_information_only(name) && (same == once.end() || same->second != content)) {
      evidence_.report("a second repair changed " + name);
    }
  }
  for (const auto& [name, content] : once) {
    if (!twice.contains(name)) {
      evidence_.report("a second repair removed " + name);
    }
  }
}

void Recovery::check_leftovers() {
  const Tree tree = store_.tree();
  for (const auto& [name, content] : tree) {
    if (name.ends_with(".tmp") || name.ends_with(".tmp/")) {
      evidence_.report("the temporary file " + name + " is never removed");
    }
  }
  for (const std::string& word : torn_words_) {
    if (std::ranges::none_of(tree,
                             [&word](const auto& file) { return file.second.contains(word); })) {
      evidence_.report("the torn bytes '" + word + "' are in no file any more");
    }
  }
}

}  // namespace

std::vector<std::string> check_recovery(const CrashStore& store, const CrashCommand& command,
                                        const TraceOutcome& outcome) {
  CrashEvidence evidence(store, command, outcome);
  Recovery(evidence).run();
  return std::move(evidence).broken();
}

}  // namespace bmad_mem
