#include "crash_table.hpp"

#include <stdexcept>

#include "encoder/made_weights.hpp"

namespace bmad_mem {
namespace fs = std::filesystem;
namespace {

void no_root(CrashStore& /*store*/) {}

void two_sessions(CrashStore& store) { prepare_two_sessions(store); }

void with_torn_tail(CrashStore& store) {
  two_sessions(store);
  append_file(store.session_folder() / "decisions.jsonl", R"({"id":"dec-torn","decision":"torn-b)");
}

/// The bytes of a whole entry, of which only the newline is missing.
void with_unclosed_tail(CrashStore& store) {
  two_sessions(store);
  std::string entry = one_entry("decision", "unclosed-tail");
  entry.insert(1, R"("id":"dec-unclosed","timestamp":"2026-01-11T10:10:00Z",)");
  entry.pop_back();
  append_file(store.session_folder() / "decisions.jsonl", entry);
}

void with_damaged_line(CrashStore& store) {
  two_sessions(store);
  const fs::path log = store.session_folder() / "decisions.jsonl";
  const std::string before = read_file(log);
  write_file(log, R"({"id":"dec-damaged","decision":damaged-bytes})"
                  "\n" +
                      before);
}

void with_damage_and_torn_tail(CrashStore& store) {
  with_damaged_line(store);
  append_file(store.session_folder() / "conversation.jsonl", R"({"id":"msg-torn","role":"torn-b)");
}

void with_file_to_import(CrashStore& store) {
  two_sessions(store);
  std::string lines;
  for (const std::string number : {"1", "2", "3"}) {
    std::string line = one_entry("conversation", "imported-" + number);
    line.insert(1, R"("type":"conversation","id":"msg-imported-)" + number +
                       R"(","timestamp":"2026-01-11T10:0)" + number + R"(:00Z",)");
    lines += line;
  }
  write_file(store.folder() / "import.jsonl", lines);
}

/// With an encoder, whose weights were drawn. It is there for all rows from now on.
void with_encoder(CrashStore& store) {
  fs::create_directories(own_folder());
  write_file(fs::path(own_folder()) / "encoder.bmw", test::made_weights_file());
  two_sessions(store);
}

/// A summary that a writer was asked for.
void with_pending_summary(CrashStore& store) {
  two_sessions(store);
  store.must({"summary", "prompt", "--session", "$S"});
}

std::string summary_edit() {
  return R"([{"file":"summary.md","old":"_What is still to be answered or done._",)"
         R"("new":"whether-it-is-durable"}])";
}

std::string three_messages() {
  return one_entry("conversation", "batch-1") + one_entry("conversation", "batch-2") +
         one_entry("conversation", "batch-3");
}

std::string newer_version() {
  std::string line = one_entry("decision", "newer-version");
  line.insert(1, R"("id":"$ID",)");
  return line;
}

std::vector<CrashCommand> make_table() {
  // clang-format off: one command, one line.
  return {
      {.name = "init", .prepare = no_root, .arguments = {"init"}, .is_idempotent = true, .starts_without_root = true},
      {.name = "session new", .prepare = two_sessions, .arguments = {"session", "new", "--user", "u", "--agent", "c"}, .proof = {"session", "list"}, .proof_text = "$OUT"},
      {.name = "session close", .prepare = two_sessions, .arguments = {"session", "close", "$T"}, .proof = {"session", "show", "$T", "--json"}, .proof_text = "closed"},
      {.name = "add decision", .prepare = two_sessions, .arguments = {"add", "decision", "--session", "$S", "--made-by", "a", "--decision", "Use-PostgreSQL", "--rationale", "ACID"}, .marks = {"Use-PostgreSQL"}},
      {.name = "add a batch", .prepare = two_sessions, .arguments = {"add", "conversation", "--session", "$S", "-"}, .input = three_messages(), .marks = {"batch-1", "batch-2", "batch-3"}, .next_type = "conversation"},
      {.name = "add the first event", .prepare = two_sessions, .arguments = {"add", "event", "--session", "$S", "-"}, .input = one_entry("event", "first-event"), .marks = {"first-event"}, .next_type = "event"},
      {.name = "add a newer version", .prepare = two_sessions, .arguments = {"add", "decision", "--session", "$S", "--replace", "-"}, .input = newer_version(), .marks = {"newer-version"}},
      {.name = "edit", .prepare = two_sessions, .arguments = {"edit", "$ID", "corrected-text"}, .marks = {"corrected-text"}, .is_idempotent = true},
      {.name = "add after a torn tail", .prepare = with_torn_tail, .arguments = {"add", "decision", "--session", "$S", "-"}, .input = one_entry("decision", "after-torn"), .marks = {"after-torn"}, .findings = {"torn_tail"}, .kept = {"torn-b"}},
      {.name = "add after a tail without newline", .prepare = with_unclosed_tail, .arguments = {"add", "decision", "--session", "$S", "-"}, .input = one_entry("decision", "after-unclosed"), .marks = {"after-unclosed"}, .findings = {"torn_tail"}, .kept = {"unclosed-tail"}},
      {.name = "add beside a damaged line", .prepare = with_damaged_line, .arguments = {"add", "decision", "--session", "$S", "-"}, .input = one_entry("decision", "beside-damage"), .marks = {"beside-damage"}, .findings = {"damaged_line"}, .kept = {"damaged-bytes"}},
      {.name = "import", .prepare = with_file_to_import, .arguments = {"import", "--session", "$S", "$D/import.jsonl"}, .marks = {"imported-1", "imported-2", "imported-3"}, .next_type = "conversation", .is_idempotent = true, .writes_in_parts = true},
      {.name = "remember", .prepare = two_sessions, .arguments = {"remember", "--session", "$S", "--category", "pattern", "--key", "durability", "sync-before-rename"}, .marks = {"sync-before-rename"}, .next_type = "fact"},
      {.name = "pin", .prepare = two_sessions, .arguments = {"pin", "$ID"}, .is_idempotent = true, .proof = {"list", "--pinned"}, .proof_text = "* earlier-0"},
      {.name = "session set", .prepare = two_sessions, .arguments = {"session", "set", "$T", "Night boats"}, .is_idempotent = true, .proof = {"session", "show", "$T", "--json"}, .proof_text = "Night boats"},
      {.name = "artifact add", .prepare = with_file_to_import, .arguments = {"artifact", "add", "--session", "$S", "--title", "kept-document", "$D/import.jsonl"}, .marks = {"kept-document"}, .next_type = "artifact"},
      {.name = "summary prompt", .prepare = two_sessions, .arguments = {"summary", "prompt", "--session", "$S"}, .proof = {"summary", "show", "--session", "$S"}, .proof_text = "## Open questions"},
      {.name = "summary apply", .prepare = with_pending_summary, .arguments = {"summary", "apply", "--session", "$S", "-"}, .input = summary_edit(), .proof = {"summary", "show", "--session", "$S"}, .proof_text = "whether-it-is-durable"},
      {.name = "summary by rules", .prepare = two_sessions, .arguments = {"summary", "update", "--rules", "--session", "$S"}, .is_idempotent = true, .proof = {"summary", "show", "--session", "$S"}, .proof_text = "Last answer: earlier-2"},
      {.name = "redact allow", .prepare = two_sessions, .arguments = {"redact", "--allow", "--rule", "email"}, .is_idempotent = true, .proof = {"config", "list"}, .proof_text = "[\"rule=email\"]"},
      {.name = "config set", .prepare = two_sessions, .arguments = {"config", "set", "context.max_tokens", "777"}, .is_idempotent = true, .proof = {"config", "list"}, .proof_text = "config.json: 777"},
      {.name = "rebuild-index", .prepare = two_sessions, .arguments = {"rebuild-index"}, .is_idempotent = true, .writes_in_parts = true, .proof = {"--json", "query", "earlier"}, .proof_text = "earlier-1"},
      {.name = "repair", .prepare = with_damage_and_torn_tail, .arguments = {"repair"}, .is_idempotent = true, .writes_in_parts = true, .findings = {"damaged_line", "torn_tail"}, .kept = {"damaged-bytes", "torn-b"}, .proof = {"verify"}, .proof_text = ""},
      {.name = "encode", .prepare = with_encoder, .arguments = {"encode", "--all"}, .is_idempotent = true, .writes_in_parts = true, .proof = {"encode"}, .proof_text = ", 0 waiting", .sought = "earlier"},
  };
  // clang-format on
}

}  // namespace

std::string one_entry(const std::string& type, const std::string& mark) {
  if (type == "decision") {
    return R"({"made_by":"a","decision":")" + mark +
           R"(","rationale":"because"})"
           "\n";
  }
  if (type == "conversation") {
    return R"({"agent_id":"a","role":"assistant","content":")" + mark + "\"}\n";
  }
  if (type == "event") {
    return R"({"agent_id":"a","kind":"tool_use","tool":"sh","content":")" + mark + "\"}\n";
  }
  if (type == "fact") {
    return R"({"agent_id":"a","content":")" + mark + "\"}\n";
  }
  if (type == "artifact") {
    return R"({"agent_id":"a","path":"x.md","title":")" + mark + "\"}\n";
  }
  throw std::runtime_error("no example of an entry of type " + type);
}

void flush_at_once(const CrashStore& store) {
  write_file(store.root() / "config.json",
             R"({"memory_config":{"indexing":{"rebuild_threshold_writes":1}}})");
}

void prepare_two_sessions(CrashStore& store) {
  store.must({"init"});
  store.session = first_line(store.must({"session", "new", "--user", "u", "--agent", "a"}));
  store.second_session = first_line(store.must({"session", "new", "--user", "u", "--agent", "b"}));
  for (const char* session : {"$S", "$T"}) {
    store.must({"add", "decision", "--session", session, "-"}, one_entry("decision", "earlier-0"));
    store.must({"add", "conversation", "--session", session, "-"},
               one_entry("conversation", "earlier-1") + one_entry("conversation", "earlier-2"));
  }
}

const std::vector<CrashCommand>& crash_table() {
  static const std::vector<CrashCommand> table = make_table();
  return table;
}

}  // namespace bmad_mem
