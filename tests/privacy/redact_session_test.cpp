// redact_session_test.cpp - what was written before goes from every copy, also over a disk that
// fails, and the store stays whole.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/repair.hpp"
#include "privacy/redaction.hpp"
#include "search/reads.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/session_archive.hpp"
#include "store/sessions.hpp"
#include "support/lifecycle_store.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::redact_session_test {
namespace {

// Split, so that other people's scanners stay quiet.
const std::string kPat = std::string("gh") + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";
const std::string kKeyBegin = std::string("-----BEGIN RSA PRIV") + "ATE KEY-----\n";
const std::string kKeyEnd = std::string("-----END RSA PRIV") + "ATE KEY-----\n";
const std::string kKeyLine = "MIIEpAIBAAKCAQEA0Zr7Xw1Yb3Qk9vLs2Tn8Ue5Hd4Jf6Gg7Kk8Ll9Mm0Nn1Oo2\n";

/// A memory that was written with redaction off. Nothing is redacted later, but by redact().
class OldMemory : public MemoryFixture {
 public:
  OldMemory() {
    folder.write("memory/config.json", R"({"memory_config":{"privacy":{"auto_redaction":false}}})");
    reopen();
  }

  RedactReport redact(const std::string& session = "s1", bool dry_run = false) {
    const std::string wanted[] = {session};
    return (*this)->redact(wanted, dry_run).value().at(0);
  }

  /// Where `text` is, in files and their names.
  std::vector<std::string> places_of(std::string_view text) {
    std::vector<std::string> places;
    const std::vector<Leftover> left = (*this)->find_text(text).value();
    for (const Leftover& each : left) {
      places.push_back(each.place + " " + each.detail);
    }
    for (const auto& [name, bytes] : files()) {
      if (name.contains(text)) {
        places.push_back(name);
      }
    }
    return places;
  }

  [[nodiscard]] bool is_whole() { return (*this)->verify({}, {}).value().findings.empty(); }
};

std::vector<AuditRecord> redactions(OldMemory& memory) {
  std::vector<AuditRecord> records = memory->audit({}).value();
  std::erase_if(records, [](const AuditRecord& record) { return record.action != "redact"; });
  return records;
}

}  // namespace

TEST_CASE("logs, manifest, summary, artifacts, quarantine and index lose their secrets") {
  OldMemory memory;
  REQUIRE(memory->create_session({.session_id = "s1", .user_id = kPat, .tags = {"x", kPat}})
              .has_value());
  memory.add_fact("f1", "plain");
  memory.add_fact("f2", "it is " + kPat);
  memory.add_fact("f2", "it was " + kPat);
  memory.write(EntryType::kFact, memory.read(EntryType::kFact) + "{\"id\":\"f9\",\"x\":" + kPat);
  memory.add_fact("f3", "after a torn line");
  memory.write("summary.md", "# Summary\n\npush with " + kPat + "\n");
  memory.folder.make_folder("memory/sessions/s1/artifacts");
  memory.write("artifacts/a1.md", "a key\n" + kKeyBegin + kKeyLine + kKeyEnd + "the end\n");
  memory.write("facts.jsonl.tmp", kPat);
  memory.write("artifacts/a1.md.tmp", kPat);
  REQUIRE(memory->rebuild_index({}, {}).has_value());
  REQUIRE(memory.read("quarantine.jsonl").contains(kPat));
  REQUIRE(memory.places_of(kPat).size() >= 6);

  const RedactReport report = memory.redact();
  CHECK(report.session_id == "s1");
  CHECK(report.entries == 2);
  CHECK(report.counts.at("github-pat") >= 6);
  CHECK(report.counts.at("private-key") == 1);
  CHECK(memory.places_of(kPat).empty());
  CHECK(memory.places_of(kKeyLine.substr(0, 20)).empty());
  CHECK(memory.read("artifacts/a1.md").starts_with("a key\n[REDACTED:private-key]"));
  CHECK(memory.read("artifacts/a1.md").ends_with("the end\n"));
  CHECK(memory.read(EntryType::kFact).starts_with(MemoryFixture::fact("f1", "plain") + "\n"));
  CHECK(memory.is_whole());
  CHECK(memory.listed() == std::vector<std::string>{"f1", "f2", "f3"});
  CHECK(memory->history("f2").value().size() == 2);
}

TEST_CASE("the search finds the entry by its other words, and nothing by the secret") {
  OldMemory memory;
  memory.session();
  memory.add_fact("f1", "deploy with " + kPat);
  REQUIRE(memory->rebuild_index({}, {}).has_value());
  REQUIRE(memory.found(kPat) == std::vector<std::string>{"f1"});
  memory.redact();
  CHECK(memory.found(kPat).empty());
  CHECK(memory.found("deploy") == std::vector<std::string>{"f1"});
  CHECK(memory.found("github-pat") == std::vector<std::string>{"f1"});
  memory.add_fact("f2", "deploy again");  // The same process goes on.
  CHECK(memory.found("deploy") == std::vector<std::string>{"f1", "f2"});
  memory.reopen();
  CHECK(memory.found(kPat).empty());
  CHECK(memory.found("deploy") == std::vector<std::string>{"f1", "f2"});
}

TEST_CASE("a torn or damaged line that looks like an entry is redacted too") {
  OldMemory memory;
  memory.session();
  memory.add_fact("f1");
  memory.write(EntryType::kFact, R"({"id":"f0","content":")" + kPat + "\"]\n" +
                                     memory.read(EntryType::kFact) + R"({"id":"f2","content":")" +
                                     kPat);
  memory.redact();
  CHECK(memory.places_of(kPat).empty());
  CHECK(memory.listed() == std::vector<std::string>{"f1"});
}

TEST_CASE("bytes in quarantine that are no text are looked at decoded") {
  OldMemory memory;
  memory.session();
  memory.write(EntryType::kFact, "\xff " + kPat + "\n");
  REQUIRE(memory->repair({}, {}).has_value());
  REQUIRE(memory.read("quarantine.jsonl").contains("bytes_base64"));
  const RedactReport report = memory.redact();
  CHECK(report.counts.contains("github-pat"));
  CHECK_FALSE(memory.read("quarantine.jsonl").contains("bytes_base64\":\"/y"));
  CHECK(memory.is_whole());
}

TEST_CASE("evicted, kept, deleted and archived copies lose their secrets") {
  OldMemory memory;
  REQUIRE(memory->create_session({.session_id = "s1", .user_id = kPat}).has_value());
  for (const char* id : {"f1", "f2", "f3", "f4", "f5", "f6"}) {
    memory.add_fact(id, std::string(id) + " is " + kPat);
  }
  memory.folder.make_folder("memory/sessions/s1/artifacts");
  memory.write("artifacts/a1.md", kKeyBegin + kKeyLine + kKeyEnd);
  REQUIRE(memory->delete_entries({.ids = {"f1"}}, {}).has_value());
  REQUIRE(memory->compact("s1", {.keep_share = 0.5}).has_value());
  const std::string log = memory.read(EntryType::kFact);
  const std::string last = log.substr(log.rfind('\n', log.size() - 2) + 1);
  REQUIRE(memory->archive_session("s1").has_value());
  memory.folder.make_folder("memory/shared/kept");  // As version 0.1 did.
  memory.folder.write("memory/shared/kept/s1.jsonl",
                      R"({"type":"fact","entry":)" + last.substr(0, last.size() - 1) + "}\n");
  const RedactReport report = memory.redact();
  CHECK(report.entries == 0);  // No log is in a folder.
  CHECK(report.files.size() == 5);
  CHECK(memory.places_of(kPat).empty());
  CHECK(memory.places_of(kKeyLine.substr(0, 20)).empty());
  CHECK(memory.is_whole());
  REQUIRE(memory->restore_session("s1").has_value());
  REQUIRE(memory->restore_evicted("s1", {}).has_value());
  REQUIRE(memory->undelete({.ids = {"f1"}}).has_value());
  CHECK(memory.listed() == std::vector<std::string>{"f1", "f2", "f3", "f4", "f5", "f6"});
  CHECK(memory.places_of(kPat).empty());
  CHECK(memory.is_whole());
}

TEST_CASE("a session that was deleted as a whole loses its secrets, and comes back") {
  OldMemory memory;
  REQUIRE(memory->create_session({.session_id = "s1", .user_id = kPat}).has_value());
  memory.add_fact("f1", "it is " + kPat);
  memory.folder.make_folder("memory/sessions/s1/artifacts");
  memory.write("artifacts/a1.md", kKeyBegin + kKeyLine + kKeyEnd);
  REQUIRE(memory->rebuild_index({}, {}).has_value());
  REQUIRE(memory->delete_session("s1", {}).has_value());
  REQUIRE_FALSE(memory.places_of(kPat).empty());
  const std::vector<RedactReport> reports = memory->redact({}, false).value();
  REQUIRE(reports.size() == 1);
  CHECK(memory.places_of(kPat).empty());
  CHECK(memory.places_of(kKeyLine.substr(0, 20)).empty());
  REQUIRE(memory->undelete({.sessions = {"s1"}}).has_value());
  CHECK(memory.listed() == std::vector<std::string>{"f1"});
  CHECK(memory.is_whole());
}

TEST_CASE("names in locks, records and audits go as well") {
  OldMemory memory;
  REQUIRE(memory.reopen({.agent_id = kPat}).has_value());
  memory.session();
  memory.add(EntryType::kFact, R"({"id":")" + kPat + R"(","content":"x"})");
  memory.add_fact("f2");
  memory.add(EntryType::kFact,
             R"({"id":"f3","content":"x","references":{"facts":[")" + kPat + R"("]}})");
  CHECK(memory.found("x").size() == 3);  // So access.jsonl holds the id.
  REQUIRE(memory->delete_entries({.ids = {"f2", kPat}}, {}).has_value());
  REQUIRE(memory.reopen({.agent_id = "somebody"}).has_value());
  memory.redact();
  for (const std::string& place : memory.places_of(kPat)) {
    FAIL_CHECK(place);
  }
  CHECK(memory.is_whole());
  REQUIRE(memory->undelete({.sessions = {"s1"}}).has_value());
  CHECK(memory.listed().size() == 3);
}

TEST_CASE("an id that is a secret becomes the same one everywhere, also in a later run") {
  OldMemory memory;
  memory.session();
  memory.add(EntryType::kFact, R"({"id":")" + kPat + R"(","content":"x"})");
  memory.redact();
  memory.reopen();
  memory.add(EntryType::kFact,
             R"({"id":"f2","content":"x","references":{"facts":[")" + kPat + R"("]}})");
  memory.redact();
  const std::vector<std::string> ids = memory.listed();
  REQUIRE(ids.size() == 2);
  const std::vector<RelatedEntry> related = memory->related("f2", {}).value();
  REQUIRE_FALSE(related.empty());
  CHECK(related[0].entry.id.starts_with("REDACTED:github-pat:"));
  CHECK(std::ranges::find(ids, related[0].entry.id) != ids.end());
}

TEST_CASE("a session that is named by a secret keeps its name, and is still one") {
  const std::string name = std::string("glp") + "at-k3jf8s0dj2lq9xz7vb1n";
  OldMemory memory;
  memory.session(name);
  memory.add_fact("f1", "it is " + kPat, name);
  memory.redact(name);
  CHECK(memory->load_session(name).value().session_id == name);
  const auto before = memory.files();
  memory.redact(name);
  CHECK(memory.files() == before);
  REQUIRE(memory->archive_session(name).has_value());
  memory.redact(name);
  REQUIRE(memory->restore_session(name).has_value());
  CHECK(memory.places_of(kPat).empty());
  CHECK(memory.is_whole());
}

TEST_CASE("a dry run says the same and changes nothing") {
  OldMemory memory;
  memory.session("s1");
  memory.session("s2");
  memory.session("s3");
  for (const char* session : {"s1", "s2", "s3"}) {
    memory.add_fact("f1", "it is " + kPat, session);
  }
  memory.write("facts.jsonl.tmp", kPat);
  REQUIRE(memory->archive_session("s2").has_value());
  REQUIRE(memory->delete_session("s3", {}).has_value());
  const auto before = memory.files();
  const Result<std::vector<RedactReport>> plan = memory->redact({}, true);
  REQUIRE_MESSAGE(plan.has_value(), plan.error().to_string());
  const std::vector<RedactReport>& planned = *plan;
  CHECK(memory.files() == before);
  const Result<std::vector<RedactReport>> work = memory->redact({}, false);
  REQUIRE_MESSAGE(work.has_value(), work.error().to_string());
  const std::vector<RedactReport>& done = *work;
  REQUIRE(planned.size() == 3);
  REQUIRE(done.size() == 3);
  for (std::size_t i = 0; i < done.size(); ++i) {
    CHECK(planned[i].session_id == done[i].session_id);
    CHECK(planned[i].counts == done[i].counts);
    CHECK(planned[i].entries == done[i].entries);
    REQUIRE(planned[i].files.size() == done[i].files.size());
    for (std::size_t k = 0; k < done[i].files.size(); ++k) {
      CHECK(planned[i].files[k].path == done[i].files[k].path);
      CHECK(planned[i].files[k].lines == done[i].files[k].lines);
    }
  }
  CHECK(memory.places_of(kPat).empty());
}

TEST_CASE("twice is once") {
  OldMemory memory;
  REQUIRE(memory->create_session({.session_id = "s1", .user_id = "ann@corp.de"}).has_value());
  memory.add_fact("f1", "it is " + kPat + " of ann@corp.de");
  REQUIRE_FALSE(memory.redact().files.empty());
  const auto before = memory.files();
  const RedactReport again = memory.redact();
  CHECK(again.files.empty());
  CHECK(again.counts.empty());
  CHECK(again.entries == 0);
  CHECK(memory.files() == before);
}

TEST_CASE("the audit names the rules, how many entries, and nothing else") {
  OldMemory memory;
  memory.session("s1");
  memory.add_fact("f1", "it is " + kPat + " of ann@corp.de");
  memory.add_fact("f2", "and " + kPat);
  memory.session("s2");
  memory.add_fact("f3", "plain", "s2");
  REQUIRE(memory->redact({}, false).has_value());
  const std::vector<AuditRecord> records = redactions(memory);
  REQUIRE(records.size() == 1);
  CHECK(records[0].session_id == "s1");
  CHECK(records[0].agent_id == "tester");
  CHECK(records[0].count == 2);
  CHECK(records[0].ids.empty());
  CHECK(records[0].detail == "email, github-pat");
}

TEST_CASE("whom one asks about must be there") {
  OldMemory memory;
  const std::string bad[] = {"No Session"};
  CHECK(code_of(memory->redact(bad, false)) == ErrorCode::E_INVALID_FORMAT);
  const std::string unknown[] = {"s9"};
  CHECK(code_of(memory->redact(unknown, false)) == ErrorCode::E_SESSION_NOT_FOUND);
}

namespace {

Status redact_all(Store& store) {
  const Result<std::vector<RedactReport>> done = redact_sessions(store, {}, false);
  return done ? Status() : Status(done.error());
}

/// Secrets in all that a live session can have.
void plant(LifecycleStore& store) {
  for (const char* id : {"g1", "g2", "g3", "g4"}) {
    const std::string text = MemoryFixture::fact(id, "it is " + kPat);
    const std::string_view line = text;
    REQUIRE(add_lines(store.store, "s1", EntryType::kFact, {&line, 1}, {}).has_value());
  }
  REQUIRE(delete_entries(store.store, {.ids = {"g1"}}, {}).has_value());
  REQUIRE(compact(store.store).has_value());
  store.disk.write(session_file("s1", "summary.md"), "see " + kPat + "\n");
  store.disk.make_folders(session_file("s1", "artifacts"));
  store.disk.write(session_file("s1", "artifacts") + "/a1.md", "see " + kPat + "\n");
}

void plant_archived(LifecycleStore& store) {
  plant(store);
  REQUIRE(archive(store.store).has_value());
}

void plant_deleted(LifecycleStore& store) {
  plant(store);
  REQUIRE(delete_whole(store.store).has_value());
}

/// Whether `secret` is in a file of the disk, archives and evicted lines unpacked.
bool is_on_disk(LifecycleStore& store, const std::string& secret) {
  const auto has_it = [&](const auto& each) { return each.line.contains(secret); };
  const Result<std::vector<ArchivedFile>> archived = read_session_archive(store.disk, "s1");
  return !store.files_with(secret).empty() ||
         std::ranges::any_of(read_evicted(store.disk, "s1").value(), has_it) ||
         (archived && std::ranges::any_of(*archived, [&](const ArchivedFile& file) {
            return file.bytes.contains(secret);
          }));
}

}  // namespace

TEST_CASE("whichever call fails, the store opens, no entry is lost, and the next run finishes") {
  for (const auto prepare : {plant, plant_archived, plant_deleted}) {
    LifecycleStore reference;
    prepare(reference);
    reference.files->clear_log();
    REQUIRE(redact_all(reference.store).has_value());
    REQUIRE_FALSE(is_on_disk(reference, kPat));
    const std::vector<std::string> calls = reference.files->log();
    CHECK(calls.size() > 20);
    for (std::size_t nth = 0; nth < calls.size(); ++nth) {
      CAPTURE(calls[nth]);
      LifecycleStore store;
      prepare(store);
      store.files->fail(fault_at(calls, nth));
      static_cast<void>(redact_all(store.store));
      store.files->heal();
      CHECK(list_entries(store.store, {.limit = 0}).has_value());
      CHECK(verify_store(store.store, {}, {}).value().findings.empty());
      const std::unique_ptr<Store> next = store.another_process();
      const Status done = redact_all(*next);
      CHECK_MESSAGE(done.has_value(), done.error().to_string());
      CHECK_FALSE(is_on_disk(store, kPat));
      CHECK(verify_store(*next, {}, {}).value().findings.empty());
      for (const std::string& line : store.lines) {
        CHECK(store.is_somewhere(line));
      }
    }
  }
}

}  // namespace bmad_mem::test::redact_session_test
