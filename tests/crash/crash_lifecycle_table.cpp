// crash_lifecycle_table.cpp - the commands that move entries, or destroy them, and queries that
// write the index of the memory: one line each.
#include "bmad_mem/clock.hpp"
#include "crash_table.hpp"
#include "syscall_tracer.hpp"

namespace bmad_mem {
namespace {

using Words = std::vector<std::string>;

/// What is to be destroyed holds this word, and nothing else does.
constexpr const char* kCanary = "canary";

constexpr const char* kEncryptedCanary = "qxvunspoken";

/// Something that the redactor takes out. In two parts, so that other scanners stay quiet.
constexpr const char* kOldSecret =
    "gh"
    "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";

/// An entry of `type` with an id of its own, from `month` of 2026, that holds `mark`.
std::string entry(const std::string& type, const std::string& id, const std::string& mark,
                  const std::string& month = "11") {
  std::string line = one_entry(type, mark);
  line.insert(1, R"("id":")" + id + R"(","timestamp":"2026-)" + month + R"(-02T10:00:00Z",)");
  return line;
}

/// Two sessions; the first has six messages and two decisions more, with ids of their own.
void more_entries(CrashStore& store) {
  prepare_two_sessions(store);
  std::string messages;
  for (const std::string number : {"1", "2", "3", "4", "5", "6"}) {
    messages += entry("conversation", "msg-" + number, "message-" + number);
  }
  store.must({"add", "conversation", "--session", "$S", "-"}, messages);
  store.must({"add", "decision", "--session", "$S", "-"},
             entry("decision", "dec-1", "first-version") + entry("decision", "dec-2", "another"));
}

/// The same, and two entries in two logs that are to be destroyed.
void with_canaries(CrashStore& store) {
  more_entries(store);
  store.must({"add", "conversation", "--session", "$S", "-"},
             entry("conversation", "msg-c", kCanary));
  store.must({"add", "decision", "--session", "$S", "-"}, entry("decision", "dec-c", kCanary));
  store.acknowledge();
}

/// The same, and calls of tools of which all but one are old enough to be counted.
void with_tool_events(CrashStore& store) {
  more_entries(store);
  std::string events;
  for (const std::string number : {"1", "2", "3", "4", "5"}) {
    events += entry("event", "evt-" + number, "tool-call-" + number);
  }
  store.must({"add", "event", "--session", "$S", "-"}, events);
  write_file(store.root() / "config.json", R"({"memory_config":{"events":{"keep":1}}})");
}

void with_evicted(CrashStore& store) {
  more_entries(store);
  store.acknowledge();
  store.must({"compact", "--session", "$S", "--keep", "30"});
}

void with_archive(CrashStore& store) {
  more_entries(store);
  store.acknowledge();
  store.must({"session", "archive", "$S"});
}

void with_deleted_session(CrashStore& store) {
  more_entries(store);
  store.acknowledge();
  store.must({"session", "delete", "$S"});
}

void with_deleted_entries(CrashStore& store) {
  more_entries(store);
  store.acknowledge();
  store.must({"delete", "msg-2", "msg-4", "dec-1"});
}

void with_evicted_canaries(CrashStore& store) {
  with_canaries(store);
  store.must({"compact", "--session", "$S", "--keep", "1"});
}

void with_archived_canaries(CrashStore& store) {
  with_canaries(store);
  store.must({"session", "archive", "$S"});
}

void with_deleted_canaries(CrashStore& store) {
  with_canaries(store);
  store.must({"delete", "msg-c", "dec-c", "msg-1"});
}

/// The word in an id, in the audit of its deletion, and in files that belong to no session.
void with_canaries_beside(CrashStore& store) {
  with_canaries(store);
  store.must({"add", "decision", "--session", "$S", "-"},
             entry("decision", std::string("dec-") + kCanary, "earlier"));
  store.must({"delete", std::string("dec-") + kCanary});
  std::filesystem::create_directory(store.root() / "memories");
  write_file(store.root() / "memories" / "notes.md", std::string("keep\n") + kCanary + "\n");
  store.acknowledge();
}

void to_be_flushed(CrashStore& store) {
  more_entries(store);
  flush_at_once(store);
}

/// Segments that one more makes too many.
void to_be_merged(CrashStore& store) {
  to_be_flushed(store);
  store.must({"query", "earlier"});
  for (int number = 0; number < 8; ++number) {
    const std::string session = first_line(store.must({"session", "new", "--agent", "c"}));
    store.must({"add", "decision", "--session", session, "-"}, one_entry("decision", "earlier-s"));
    if (number < 7) {
      store.must({"query", "earlier"});
    }
  }
}

/// Entries to be destroyed that are in the index of the memory: by a word that is its own stem.
void with_encrypted_canaries(CrashStore& store) {
  more_entries(store);
  flush_at_once(store);
  store.must({"query", "message"});
  store.must({"add", "conversation", "--session", "$S", "-"},
             entry("conversation", "msg-c", kEncryptedCanary));
  store.must({"add", "decision", "--session", "$S", "-"},
             entry("decision", "dec-c", kEncryptedCanary));
  store.acknowledge();
  store.must({"query", kEncryptedCanary});
}

/// A third session, $T, of canaries only: in its logs, among the evicted and the deleted.
void with_canary_session(CrashStore& store) {
  prepare_two_sessions(store);
  store.second_session = first_line(store.must({"session", "new", "--user", "u", "--agent", "c"}));
  std::string messages;
  for (const std::string number : {"1", "2", "3", "4", "5", "6"}) {
    messages += entry("conversation", "msg-" + number, kCanary + number);
  }
  store.must({"add", "conversation", "--session", "$T", "-"}, messages);
  store.must({"add", "decision", "--session", "$T", "-"}, entry("decision", "dec-1", kCanary));
  store.acknowledge();
  store.must({"compact", "--session", "$T", "--keep", "60"});
  store.must({"delete", "--session", "$T", "--type", "decision"});
}

void with_archived_canary_session(CrashStore& store) {
  with_canary_session(store);
  store.must({"session", "archive", "$T"});
}

void with_deleted_canary_session(CrashStore& store) {
  with_canary_session(store);
  store.must({"session", "delete", "$T"});
}

/// Both that session and two entries of the first are deleted.
void with_much_deleted(CrashStore& store) {
  with_deleted_canary_session(store);
  store.must({"add", "conversation", "--session", "$S", "-"},
             entry("conversation", "msg-c", kCanary));
  store.must({"delete", "msg-c"});
}

/// Makes a session as old as its oldest entries: retention begins when a session is made.
void backdate(const CrashStore& store, const std::string& session) {
  const std::filesystem::path path = store.root() / "sessions" / session / "manifest.json";
  std::string manifest = read_file(path);
  const std::string key = R"("created_at": ")";
  const std::size_t year = manifest.find(key) + key.size();
  manifest.replace(year, 4, "2020");
  write_file(path, manifest);
}

/// A clock that nobody knows yet is not trusted with deletions.
void trust_the_clock(const CrashStore& store) {
  write_file(
      store.root() / "maintenance.json",
      R"({"version":1,"clock":{"last_seen":")" + format_rfc3339(system_clock().now()) + R"("}})");
}

/// Messages that are older than they may get.
void with_old_entries(CrashStore& store) {
  more_entries(store);
  store.must({"add", "conversation", "--session", "$S", "-"},
             entry("conversation", "msg-old-1", "old-1", "02") +
                 entry("conversation", "msg-old-2", "old-2", "03"));
  store.must({"add", "conversation", "--session", "$T", "-"},
             entry("conversation", "msg-old-3", "old-3", "02"));
  backdate(store, store.session);
  backdate(store, store.second_session);
  trust_the_clock(store);
}

/// The same, archived; and as $T a session of which nothing may stay.
void with_old_archives(CrashStore& store) {
  with_old_entries(store);
  store.second_session = first_line(store.must({"session", "new", "--user", "u", "--agent", "c"}));
  store.must({"add", "conversation", "--session", "$T", "-"},
             entry("conversation", "msg-old-4", "old-4", "02") +
                 entry("conversation", "msg-old-5", "old-5", "03"));
  backdate(store, store.second_session);
  store.acknowledge();
  store.must({"session", "archive", "$S"});
  store.must({"session", "archive", "$T"});
}

/// Entries that are not valid any more: in a log, evicted, deleted, and in an archive.
void with_expired_entries(CrashStore& store) {
  more_entries(store);
  const auto expired = [](const std::string& id, const std::string& mark) {
    std::string line = entry("conversation", id, mark);
    line.insert(1, R"("expires_at":"2026-01-01T00:00:00Z",)");
    return line;
  };
  store.must({"add", "conversation", "--session", "$S", "-"},
             expired("msg-x1", kCanary) + expired("msg-x2", kCanary) + expired("msg-x3", kCanary));
  store.must({"add", "conversation", "--session", "$T", "-"}, expired("msg-x4", kCanary));
  store.acknowledge();
  store.must({"compact", "--session", "$S", "--keep", "60"});
  store.must({"delete", "msg-x1"});
  store.must({"session", "archive", "$T"});
  trust_the_clock(store);
}

/// Secrets that were written while redaction was off, in two logs and among the evicted and the
/// deleted.
void with_old_secrets(CrashStore& store) {
  more_entries(store);
  const std::filesystem::path config = store.root() / "config.json";
  const std::string settings = read_file(config);
  write_file(config, R"({"memory_config":{"privacy":{"auto_redaction":false}}})");
  store.must({"trust", "--yes"});
  const std::string secret = "see " + std::string(kOldSecret);
  for (const std::string number : {"1", "2", "3"}) {
    store.must({"add", "conversation", "--session", "$S", "-"},
               entry("conversation", "msg-s" + number, secret));
  }
  store.must({"add", "decision", "--session", "$S", "-"}, entry("decision", "dec-s", secret));
  store.must({"delete", "msg-s2"});
  store.must({"compact", "--session", "$S", "--keep", "60"});
  store.acknowledge();
  write_file(config, settings);
}

/// Puts two keys where the program looks for them, and the second alone into another file.
std::string make_keys() {
  const std::filesystem::path folder = std::filesystem::path(own_folder()) / "config" / "bmad-mem";
  std::filesystem::create_directories(folder);
  const std::string first = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n";
  const std::string second = "123456789abcdef0" + first.substr(16);
  for (const auto& [name, keys] :
       {std::pair("keys", first + second), std::pair("second", second)}) {
    write_file(folder / name, keys);
    std::filesystem::permissions(
        folder / name, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  return (folder / "second").string();
}

/// Canaries in a log, among the evicted and the deleted, and in an archive.
void to_be_encrypted(CrashStore& store) {
  make_keys();
  with_canaries(store);
  store.must({"add", "decision", "--session", "$T", "-"}, entry("decision", "dec-t", kCanary));
  store.must({"compact", "--session", "$S", "--keep", "60"});
  store.must({"delete", "dec-c"});
  store.must({"session", "archive", "$T"});
  store.acknowledge();  // What is in logs: all of it stays there.
}

void with_encrypted(CrashStore& store) {
  to_be_encrypted(store);
  store.must({"encrypt", "on", "--yes"});
}

void with_one_encrypted(CrashStore& store) {
  make_keys();
  more_entries(store);
  store.acknowledge();
  store.must({"encrypt", "on", "--session", "$S", "--yes"});
}

/// Runs a command that is killed in the middle of its work.
/// `thirds` of what it changes are done by then.
void kill_midway(CrashStore& store, const Words& arguments, std::size_t thirds = 2) {
  const SyscallTracer tracer(store.folder());
  store.keep_as_template();
  const TraceOutcome whole = tracer.run(store.command(arguments), {});
  store.reset();
  const std::size_t points = count_points(whole.points, kChanges);
  tracer.run(store.command(arguments),
             {.action = FaultAction::kKillBefore, .point = points * thirds / 3});
}

void with_killed_compaction(CrashStore& store) {
  more_entries(store);
  kill_midway(store, {"compact", "--session", "$S", "--keep", "30"});
}

void with_killed_archiving(CrashStore& store) {
  more_entries(store);
  kill_midway(store, {"session", "archive", "$S"}, 1);  // The last third makes an index.
}

void with_killed_restoring(CrashStore& store) {
  with_archive(store);
  kill_midway(store, {"session", "restore", "$S"});
}

void with_killed_purge(CrashStore& store) {
  with_canaries(store);
  kill_midway(store, {"delete", "--purge", "msg-c", "dec-c"});
}

std::vector<CrashCommand> make_lifecycle_table() {
  const Words restore_evicted = {"restore", "--evicted", "--session", "$S"};
  const Words restore = {"session", "restore", "$S"};
  const Words delete_canaries = {"delete", "--purge", "msg-c", "dec-c"};
  const Words purge_session = {"session", "delete", "--purge", "$T"};
  constexpr EntryFate kMove = EntryFate::kMove;
  const std::string nothing_deleted = "not among the deleted entries";
  const std::string gone =
      "id: ";  // No entry has it; or others begin like "dec-1", since ids are times.
  // Of an archive that goes, its manifest goes first; repair makes it from the archive.
  const Words half_gone = {"missing_manifest"};
  const std::vector<Words> all_back = {
      restore_evicted, {"undelete", "dec-c"}, {"session", "restore", "$T"}};
  const Words get_canary = {"--json", "get", "msg-c", "dec-t"};
  // clang-format off: one command, one line.
  return {
      {.name = "a query that flushes", .prepare = to_be_flushed, .arguments = {"query", "earlier"}, .proof = {"--json", "query", "earlier"}, .proof_text = "earlier-1", .sought = "earlier", .fate = kMove},
      {.name = "a query that merges", .prepare = to_be_merged, .arguments = {"query", "earlier"}, .proof = {"--json", "query", "earlier"}, .proof_text = "earlier-1", .sought = "earlier", .fate = kMove},
      {.name = "compact", .prepare = more_entries, .arguments = {"compact", "--session", "$S", "--keep", "30"}, .fate = kMove, .way_back = {restore_evicted}},
      {.name = "compact tool events", .prepare = with_tool_events, .arguments = {"compact", "--session", "$S"}, .fate = kMove, .way_back = {restore_evicted}},
      {.name = "compact after a killed one", .prepare = with_killed_compaction, .arguments = {"compact", "--session", "$S", "--keep", "30"}, .fate = kMove, .way_back = {restore_evicted}},
      {.name = "restore --evicted", .prepare = with_evicted, .arguments = restore_evicted, .fate = kMove},
      {.name = "session archive", .prepare = more_entries, .arguments = {"session", "archive", "$S"}, .fate = kMove, .done_code = "E_SESSION_ARCHIVED", .way_back = {restore}},
      {.name = "session archive after a killed one", .prepare = with_killed_archiving, .arguments = {"session", "archive", "$S"}, .fate = kMove, .done_code = "E_SESSION_ARCHIVED", .way_back = {restore}},
      {.name = "session restore", .prepare = with_archive, .arguments = restore, .findings = half_gone, .fate = kMove, .done_code = "E_CONCURRENT_MOD"},
      {.name = "session restore after a killed one", .prepare = with_killed_restoring, .arguments = restore, .findings = half_gone, .fate = kMove, .done_code = "E_CONCURRENT_MOD"},
      {.name = "add to an archived session", .prepare = with_archive, .arguments = {"add", "decision", "--session", "$S", "-"}, .input = one_entry("decision", "to-the-archived"), .marks = {"to-the-archived"}, .findings = half_gone, .fate = kMove},
      {.name = "session delete", .prepare = more_entries, .arguments = {"session", "delete", "$S"}, .fate = kMove, .done_code = "E_SESSION_NOT_FOUND", .way_back = {{"session", "undelete", "$S"}}},
      {.name = "session delete of an archived one", .prepare = with_archive, .arguments = {"session", "delete", "$S"}, .findings = half_gone, .fate = kMove, .done_code = "E_SESSION_NOT_FOUND", .way_back = {{"session", "undelete", "$S"}}},
      {.name = "session undelete", .prepare = with_deleted_session, .arguments = {"session", "undelete", "$S"}, .fate = kMove, .done_code = nothing_deleted},
      {.name = "session delete --purge", .prepare = with_canary_session, .arguments = purge_session, .fate = kMove, .doomed = {kCanary}},
      {.name = "session delete --purge of an archived one", .prepare = with_archived_canary_session, .arguments = purge_session, .writes_in_parts = true, .findings = half_gone, .fate = kMove, .doomed = {kCanary}},
      {.name = "session delete --purge of a deleted one", .prepare = with_deleted_canary_session, .arguments = purge_session, .fate = kMove, .doomed = {kCanary}, .done_code = "E_SESSION_NOT_FOUND"},
      {.name = "delete", .prepare = more_entries, .arguments = {"delete", "msg-2", "msg-4", "dec-1"}, .fate = kMove, .done_code = gone, .way_back = {{"undelete", "msg-2", "msg-4", "dec-1"}}},
      {.name = "move", .prepare = more_entries, .arguments = {"move", "--scope", "user", "msg-2", "msg-4", "dec-1"}, .fate = kMove, .done_code = gone, .way_back = {{"undelete", "msg-2", "msg-4", "dec-1"}}},
      {.name = "undelete", .prepare = with_deleted_entries, .arguments = {"undelete", "msg-2", "msg-4", "dec-1"}, .fate = kMove, .done_code = nothing_deleted},
      {.name = "delete --purge", .prepare = with_canaries, .arguments = delete_canaries, .fate = kMove, .doomed = {kCanary}, .done_code = "E_ENTRY_NOT_FOUND"},
      {.name = "delete --purge of encrypted entries", .prepare = with_encrypted_canaries, .arguments = delete_canaries, .fate = kMove, .doomed = {kEncryptedCanary}, .done_code = "E_ENTRY_NOT_FOUND"},
      {.name = "delete --purge of evicted entries", .prepare = with_evicted_canaries, .arguments = delete_canaries, .fate = kMove, .doomed = {kCanary}, .done_code = "E_ENTRY_NOT_FOUND", .way_back = {restore_evicted}},
      {.name = "delete --purge of archived entries", .prepare = with_archived_canaries, .arguments = delete_canaries, .fate = kMove, .doomed = {kCanary}, .done_code = "E_ENTRY_NOT_FOUND", .way_back = {restore}},
      {.name = "delete --purge of deleted entries", .prepare = with_deleted_canaries, .arguments = delete_canaries, .fate = kMove, .doomed = {kCanary}, .done_code = "E_ENTRY_NOT_FOUND", .way_back = {{"undelete", "msg-1"}}},
      {.name = "forget", .prepare = with_canaries_beside, .arguments = {"forget", "--match", kCanary}, .writes_in_parts = true, .fate = kMove, .doomed = {kCanary}},
      {.name = "purge after a killed delete --purge", .prepare = with_killed_purge, .arguments = {"purge"}, .fate = kMove, .doomed = {kCanary}},
      {.name = "purge --all", .prepare = with_much_deleted, .arguments = {"purge", "--all"}, .writes_in_parts = true, .fate = kMove, .doomed = {kCanary}},
      {.name = "decay --write", .prepare = more_entries, .arguments = {"decay", "--write"}, .writes_in_parts = true, .fate = EntryFate::kAge},
      {.name = "redact", .prepare = with_old_secrets, .arguments = {"redact", "--session", "$S"}, .writes_in_parts = true, .proof = {"audit", "--json", "--action", "redact"}, .proof_text = "github-pat", .fate = EntryFate::kAge, .doomed = {kOldSecret}},
      {.name = "encrypt on", .prepare = to_be_encrypted, .arguments = {"encrypt", "on", "--yes"}, .writes_in_parts = true, .findings = half_gone, .proof = get_canary, .proof_text = kCanary, .fate = EntryFate::kAge, .doomed = {kCanary}, .way_back = all_back},
      {.name = "encrypt rotate", .prepare = with_encrypted, .arguments = {"encrypt", "rotate", "--new-key-file", make_keys(), "--yes"}, .writes_in_parts = true, .findings = half_gone, .proof = get_canary, .proof_text = kCanary, .fate = EntryFate::kAge, .doomed = {kCanary}, .way_back = all_back},
      {.name = "encrypt off", .prepare = with_encrypted, .arguments = {"encrypt", "off", "--yes"}, .writes_in_parts = true, .findings = half_gone, .proof = get_canary, .proof_text = kCanary, .fate = EntryFate::kAge, .done_code = "E_INVALID_QUERY", .way_back = all_back},
      {.name = "add to an encrypted session", .prepare = with_one_encrypted, .arguments = {"add", "decision", "--session", "$S", "-"}, .input = entry("decision", "dec-encrypted", kEncryptedCanary), .marks = {"dec-encrypted"}, .sought = "message", .fate = EntryFate::kAge, .doomed = {kEncryptedCanary}},
      {.name = "maintain", .prepare = with_old_entries, .arguments = {"maintain"}, .writes_in_parts = true, .fate = kMove, .way_back = {{"undelete", "--session", "$S", "--session", "$T"}}},
      {.name = "maintain with old archives", .prepare = with_old_archives, .arguments = {"maintain"}, .writes_in_parts = true, .findings = half_gone, .fate = kMove, .way_back = {{"undelete", "--session", "$S", "--session", "$T"}}},
      {.name = "maintain with expired entries", .prepare = with_expired_entries, .arguments = {"maintain"}, .writes_in_parts = true, .fate = kMove, .doomed = {kCanary}, .way_back = {restore_evicted, {"session", "restore", "$T"}}},
  };
  // clang-format on
}

}  // namespace

const std::vector<CrashCommand>& lifecycle_crash_table() {
  static const std::vector<CrashCommand> table = make_lifecycle_table();
  return table;
}

}  // namespace bmad_mem
