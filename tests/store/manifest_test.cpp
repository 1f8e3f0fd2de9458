#include "store/manifest.hpp"

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "store/layout.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::manifest_test {
namespace {

using Strings = std::vector<std::string>;

constexpr std::string_view kSession = "sess-2026-01-11-abc123";

// The example of the specification, section 3.1, without what only one machine knows.
constexpr std::string_view kSpecification = R"({
  "session_id": "sess-2026-01-11-abc123",
  "created_at": "2026-01-11T10:00:00Z",
  "updated_at": "2026-01-11T14:30:00Z",
  "user_id": "user-789",
  "agent_ids": ["bmad-master", "architect", "analyst"],
  "metadata": {
    "project_name": "payment-system",
    "session_type": "architecture_review",
    "tags": ["architecture", "payments", "scalability"]
  },
  "statistics": {
    "total_messages": 127,
    "total_decisions": 8,
    "total_findings": 15
  },
  "version": "1.0"
}
)";

Manifest parsed(std::string_view text) { return parse_manifest(text, "manifest.json").value(); }

Timestamp time(std::string_view text) { return parse_rfc3339(text).value(); }

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string copy(text);
  const std::size_t at = copy.find(from);
  REQUIRE(at != std::string::npos);
  return copy.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the example of the specification is read field by field") {
  const Manifest manifest = parsed(kSpecification);
  CHECK(manifest.session_id == kSession);
  CHECK(manifest.created_at == time("2026-01-11T10:00:00Z"));
  CHECK(manifest.updated_at == time("2026-01-11T14:30:00Z"));
  CHECK(manifest.user_id == "user-789");
  CHECK(manifest.agent_ids == Strings{"bmad-master", "architect", "analyst"});
  CHECK(manifest.project_name == "payment-system");
  CHECK(manifest.session_type == "architecture_review");
  CHECK(manifest.tags == Strings{"architecture", "payments", "scalability"});
  CHECK(manifest.total("total_messages") == 127);
  CHECK(manifest.total("total_decisions") == 8);
  CHECK(manifest.total("total_findings") == 15);
  CHECK(manifest.total("total_facts") == 0);
  CHECK_FALSE(manifest.closed_at.has_value());
  CHECK(manifest.version == "1.0");
}

TEST_CASE("the example of the specification is written as it stands there") {
  CHECK(parsed(kSpecification).to_text() == kSpecification);
}

TEST_CASE("a new manifest says who and when, and counts nothing") {
  const ManualClock clock("2026-01-11T10:00:00Z");
  const Manifest manifest = new_manifest({.session_id = std::string(kSession),
                                          .user_id = "user-789",
                                          .agent_ids = {"architect"},
                                          .tags = {"payments"}},
                                         clock.now());
  CHECK(manifest.to_text() == R"({
  "session_id": "sess-2026-01-11-abc123",
  "created_at": "2026-01-11T10:00:00Z",
  "updated_at": "2026-01-11T10:00:00Z",
  "user_id": "user-789",
  "agent_ids": ["architect"],
  "metadata": {
    "tags": ["payments"]
  },
  "version": "1.0"
}
)");
}

TEST_CASE("what was not given is left out, and what was read back is the same") {
  const Manifest manifest = new_manifest({.session_id = "s"}, time("2026-01-11T10:00:00.250Z"));
  const std::string text = manifest.to_text();
  CHECK(text.find("user_id") == std::string::npos);
  CHECK(text.find("\"agent_ids\": []") != std::string::npos);
  CHECK(text.find("\"metadata\": {}") != std::string::npos);
  const Manifest again = parsed(text);
  CHECK(again.created_at == manifest.created_at);
  CHECK(again.user_id.empty());
  CHECK(again.to_text() == text);
}

TEST_CASE("text from people is escaped") {
  const Manifest manifest = new_manifest(
      {.session_id = "s", .user_id = "a\"b\\c\n", .tags = {"caf\xC3\xA9", "\x01"}}, Timestamp());
  const Manifest again = parsed(manifest.to_text());
  CHECK(again.user_id == "a\"b\\c\n");
  CHECK(again.tags == Strings{"caf\xC3\xA9", "\x01"});
}

TEST_CASE("members that are not known keep their bytes on all three levels") {
  const std::string text = R"({
  "session_id": "s",
  "created_at": "2026-01-11T10:00:00Z",
  "updated_at": "2026-01-11T10:00:00Z",
  "agent_ids": [],
  "metadata": {
    "project_name": "p",
    "ticket": 1.00
  },
  "statistics": {
    "total_messages": 3,
    "mood": "caf\u00e9"
  },
  "version": "1.0",
  "x-team": {
    "big": 1E+2,
    "nested": [
      {
        "a": -0.0
      }
    ]
  }
}
)";
  Manifest manifest = parsed(text);
  CHECK(manifest.to_text() == text);
  manifest.set_total("total_messages", 4);
  manifest.project_name = "q";
  CHECK(manifest.to_text() == replaced(replaced(text, "\"p\"", "\"q\""), "s\": 3", "s\": 4"));
}

TEST_CASE("totals are written when they are above 0") {
  Manifest manifest = parsed(kSpecification);
  manifest.set_total("total_agent_states", 1);
  manifest.set_total("total_facts", 0);
  manifest.set_total("total_findings", 0);
  const std::string with = manifest.to_text();
  CHECK(with.contains("\"total_decisions\": 8,\n    \"total_agent_states\": 1\n  },"));
  CHECK_FALSE(with.contains("total_facts"));

  Manifest again = parsed(with);
  CHECK(again.totals.size() == 3);
  for (const char* total : {"total_messages", "total_decisions", "total_agent_states"}) {
    again.set_total(total, 0);
  }
  CHECK_FALSE(again.to_text().contains("statistics"));
}

TEST_CASE("what 0.1 wrote of its machine goes with the next write") {
  const std::string text = replaced(kSpecification, "\"total_findings\": 15",
                                    "\"total_findings\": 15,\n    \"total_events\": 9,\n"
                                    "    \"size_bytes\": 245678,\n    \"compacted_bytes\": 7,\n"
                                    "    \"last_accessed\": \"2026-01-11T14:30:00Z\"");
  CHECK(parsed(text).to_text() == kSpecification);
}

TEST_CASE("a session is closed and opened again by closed_at") {
  Manifest manifest = parsed(kSpecification);
  manifest.closed_at = time("2026-01-11T18:00:00Z");
  const std::string closed = manifest.to_text();
  CHECK(closed.find("  \"closed_at\": \"2026-01-11T18:00:00Z\",\n  \"version\"") !=
        std::string::npos);
  Manifest again = parsed(closed);
  CHECK(again.closed_at == time("2026-01-11T18:00:00Z"));
  again.closed_at.reset();
  CHECK(again.to_text() == kSpecification);
}

TEST_CASE("a member that is emptied stays, empty") {
  Manifest manifest = parsed(kSpecification);
  manifest.user_id.clear();
  manifest.tags.clear();
  const std::string text = manifest.to_text();
  CHECK(text.find("\"user_id\": \"\"") != std::string::npos);
  CHECK(text.find("\"tags\": []") != std::string::npos);
}

TEST_CASE("only identity and time of creation are needed") {
  const Manifest manifest =
      parsed(R"({"session_id":"s","created_at":"2026-01-11T11:00:00+01:00"})");
  CHECK(manifest.created_at == time("2026-01-11T10:00:00Z"));
  CHECK(manifest.updated_at == manifest.created_at);
  CHECK(manifest.agent_ids.empty());
  CHECK(manifest.totals.empty());
  CHECK(manifest.version == "1.0");
}

TEST_CASE("statistics that make no sense count as absent, since they are derived") {
  for (const char* statistics : {
           "null",
           "[]",
           "17",
           R"({"total_messages":"many","total_decisions":-1,"size_bytes":-5,"last_accessed":"x"})",
           R"({"total_messages":1.5,"size_bytes":18446744073709551615,"last_accessed":7})",
       }) {
    CAPTURE(statistics);
    const Manifest manifest = parsed(
        std::string(R"({"session_id":"s","created_at":"2026-01-11T10:00:00Z","statistics":)") +
        statistics + "}");
    CHECK(manifest.totals.empty());
    CHECK_FALSE(manifest.to_text().contains("statistics"));
  }
}

TEST_CASE("what is wrong is named with line, column, field and remedy") {
  struct Row {
    const char* from;
    const char* to;
    std::uint64_t line;
    std::uint64_t column;
    const char* field;
    const char* reason;
  };
  constexpr Row kRows[] = {
      {"\"session_id\": \"sess-2026-01-11-abc123\",", "", 0, 0, "session_id", "is missing"},
      {"\"sess-2026-01-11-abc123\"", "7", 2, 3, "session_id", "must be a string, not a number"},
      {"sess-2026-01-11-abc123", "../x", 2, 3, "session_id", "is not a session id"},
      {"\"created_at\": \"2026-01-11T10:00:00Z\",", "", 0, 0, "created_at", "is missing"},
      {"2026-01-11T10:00:00Z", "yesterday", 3, 3, "created_at", "must be a time"},
      {"\"2026-01-11T10:00:00Z\"", "1768125600", 3, 3, "created_at", "must be a time"},
      {"2026-01-11T14:30:00Z", "2026-13-11T14:30:00Z", 4, 3, "updated_at", "must be a time"},
      {"\"user-789\"", "789", 5, 3, "user_id", "must be a string, not a number"},
      {"\"user-789\"", "null", 5, 3, "user_id", "must be a string, not null"},
      {"[\"bmad-master\", \"architect\", \"analyst\"]", "\"architect\"", 6, 3, "agent_ids",
       "must be an array of strings, not a string"},
      {"\"analyst\"", "{}", 6, 3, "agent_ids", "must be an array of strings only, not an object"},
      {"\"payment-system\"", "false", 8, 5, "metadata.project_name",
       "must be a string, not a boolean"},
      {"\"architecture_review\"", "[]", 9, 5, "metadata.session_type",
       "must be a string, not an array"},
      {"\"payments\"", "1", 10, 5, "metadata.tags", "must be an array of strings only"},
      {"\"1.0\"", "\"one\"", 17, 3, "version", "is no version"},
      {"\"1.0\"", "1.0", 17, 3, "version", "must be a string, not a number"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.to);
    const Error error =
        parse_manifest(replaced(kSpecification, row.from, row.to), "s/manifest.json").error();
    CHECK(error.code == ErrorCode::E_SESSION_CORRUPT);
    CHECK(error.path == "s/manifest.json");
    CHECK(error.line == row.line);
    CHECK(error.column == row.column);
    CHECK(error.field == row.field);
    CHECK(error.message.find(row.reason) != std::string::npos);
    CHECK(error.message.find("bmad-mem repair") != std::string::npos);
  }
}

TEST_CASE("a manifest of a newer version is no damage, and no repair is advised") {
  const Error error =
      parse_manifest(replaced(kSpecification, "\"1.0\"", "\"2.0\""), "s/manifest.json").error();
  CHECK(error.code == ErrorCode::E_NEWER_VERSION);
  CHECK(error.field == "version");
  CHECK(error.line == 17);
  CHECK(error.message == "is 2.0, and this bmad-mem reads 1.0; install a newer bmad-mem");
}

TEST_CASE("metadata must be an object") {
  const Error error =
      parse_manifest(
          "{\"session_id\":\"s\",\"created_at\":\"2026-01-11T10:00:00Z\",\n\"metadata\":[]}", "m")
          .error();
  CHECK(error.code == ErrorCode::E_SESSION_CORRUPT);
  CHECK(error.field == "metadata");
  CHECK(error.line == 2);
}

TEST_CASE("a manifest that isn't JSON is corrupt, with the place in the file") {
  struct Row {
    const char* text;
    std::uint64_t line;
  };
  constexpr Row kRows[] = {
      {"", 1},
      {"{\"session_id\": \"s\",\n \"created_at\": }\n", 2},
      {"{\"session_id\": \"s\",\n\n \"session_id\": \"t\"}\n", 3},
      {"{\"session_id\": \"s\"}\n{}", 2},
      {"[]", 0},
      {"null", 0},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const Error error = parse_manifest(row.text, "m").error();
    CHECK(error.code == ErrorCode::E_SESSION_CORRUPT);
    CHECK(error.line == row.line);
    CHECK(error.message.find("bmad-mem repair") != std::string::npos);
  }
}

TEST_CASE("a manifest is saved by replacing it, and loaded again") {
  MemoryFileSystem disk;
  disk.make_folders(session_folder(kSession));
  FaultyFileSystem files(disk);
  Manifest manifest = parsed(kSpecification);
  CHECK(save_manifest(files, manifest).has_value());
  const std::string path = manifest_path(kSession);
  CHECK(files.log() == Strings{"open " + path + ".tmp create",
                               "write " + path + ".tmp " + std::to_string(kSpecification.size()),
                               "sync_all " + path + ".tmp", "rename " + path + ".tmp " + path,
                               "sync_directory " + session_folder(kSession)});
  CHECK(disk.read(path) == kSpecification);
  CHECK(load_manifest(files, kSession).value().to_text() == kSpecification);
}

TEST_CASE("a manifest that can't be saved leaves the old one") {
  for (const Operation operation :
       {Operation::kOpen, Operation::kWrite, Operation::kSyncAll, Operation::kRename}) {
    CAPTURE(operation_name(operation));
    MemoryFileSystem disk;
    disk.make_folders(session_folder(kSession));
    disk.write(manifest_path(kSession), kSpecification);
    FaultyFileSystem files(disk);
    files.fail({.operation = operation, .error_number = ENOSPC, .from_then_on = true});
    Manifest manifest = parsed(kSpecification);
    manifest.user_id = "someone else";
    CHECK(save_manifest(files, manifest).error().code == ErrorCode::E_STORAGE_FULL);
    CHECK(disk.read(manifest_path(kSession)) == kSpecification);
    files.heal();
    CHECK(save_manifest(files, manifest).has_value());
    CHECK(load_manifest(files, kSession).value().user_id == "someone else");
  }
}

TEST_CASE("a session that isn't there is not found, and one without manifest is told apart") {
  MemoryFileSystem files;
  const Error missing = load_manifest(files, kSession).error();
  CHECK(missing.code == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(missing.message.find("session list") != std::string::npos);
  CHECK(missing.path == files.display_path(manifest_path(kSession)));
  files.make_folders(session_folder(kSession));
  CHECK(load_manifest(files, kSession).error().message == missing.message);
  files.write(session_file(kSession, "facts.jsonl"), "");
  const Error without = load_manifest(files, kSession).error();
  CHECK(without.code == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(without.message.find("has no manifest") != std::string::npos);
}

TEST_CASE("a manifest of another session is corrupt: somebody copied the folder") {
  MemoryFileSystem files;
  files.make_folders("sessions/copy");
  files.write("sessions/copy/manifest.json", kSpecification);
  const Error error = load_manifest(files, "copy").error();
  CHECK(error.code == ErrorCode::E_SESSION_CORRUPT);
  CHECK(error.field == "session_id");
  CHECK(error.line == 2);
  CHECK(error.message.find("sess-2026-01-11-abc123") != std::string::npos);
  CHECK(error.message.find("folder is that of copy") != std::string::npos);
}

TEST_CASE("an error of the disk is passed on, a huge manifest is not read") {
  MemoryFileSystem disk;
  disk.make_folders(session_folder(kSession));
  disk.write(manifest_path(kSession), kSpecification);
  FaultyFileSystem files(disk);
  files.fail({.operation = Operation::kReadAt, .error_number = EIO});
  CHECK(load_manifest(files, kSession).error().code == ErrorCode::E_STORAGE_IO);
  disk.write(manifest_path(kSession), std::string((1U << 20U) + 1, ' '));
  CHECK(load_manifest(files, kSession).error().code == ErrorCode::E_SIZE_LIMIT);
}

}  // namespace bmad_mem::test::manifest_test
