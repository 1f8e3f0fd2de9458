#include "store/session_archive.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::session_archive_test {
namespace {

using Folder = std::map<std::string, std::string>;  // Name in the session's folder, and bytes.

const Folder kSession = {
    {"manifest.json", "{\"session_id\": \"s1\"}\n"},
    {"conversation.jsonl", "{\"id\":\"msg-1\",\"content\":\"Grüße\"}\n{\"id\":\"torn"},
    {"facts.jsonl", ""},
    {"summary.md", "# Summary\n"},
    {"access.jsonl", "{}\n"},
    {"audit.jsonl", "{}\n"},
    {"quarantine.jsonl", std::string("\0\xFF", 2)},
    {"artifacts/art-1.md", "text"},
    {"artifacts/a:b@c+d=e~f.md", ""},
};

void put(MemoryFileSystem& files, const std::string& id, const Folder& folder) {
  files.make_folders("sessions/" + id + "/artifacts");
  for (const auto& [name, bytes] : folder) {
    files.write("sessions/" + id + "/" + name, bytes);
  }
}

/// All files under the session's folder.
Folder folder_of(MemoryFileSystem& files, const std::string& id) {
  Folder folder;
  const std::string root = "sessions/" + id;
  const std::vector<std::string> names = files.list(root).value();
  for (const std::string& name : names) {
    if (files.info(root + "/" + name)->kind == FileKind::kRegular) {
      folder[name] = files.read(root + "/" + name);
    }
  }
  if (files.info(root + "/artifacts")) {
    const std::vector<std::string> artifacts = files.list(root + "/artifacts").value();
    for (const std::string& name : artifacts) {
      folder["artifacts/" + name] = files.read(root + "/artifacts/" + name);
    }
  }
  return folder;
}

Folder folder_of(const std::vector<ArchivedFile>& members) {
  Folder folder;
  for (const ArchivedFile& member : members) {
    folder[member.name] = member.bytes;
  }
  return folder;
}

}  // namespace

TEST_CASE("a session goes into its archive and comes back byte for byte") {
  MemoryFileSystem files;
  put(files, "s1", kSession);
  const ArchiveSize size = write_session_archive(files, "s1").value();
  CHECK(size.files == kSession.size());
  std::uint64_t bytes = 0;
  for (const auto& [name, content] : kSession) {
    bytes += content.size();
  }
  CHECK(size.original_bytes == bytes);
  CHECK(size.compressed_bytes == files.info("archive/s1.tar.gz")->size);
  CHECK(folder_of(files, "s1") == kSession);

  const std::vector<ArchivedFile> members = read_session_archive(files, "s1").value();
  CHECK(folder_of(members) == kSession);
  CHECK(members.front().name == "manifest.json");

  REQUIRE(remove_tree(files, "sessions/s1"));
  REQUIRE(unpack_session_archive(files, "s1", members));
  CHECK(folder_of(files, "s1") == kSession);
}

TEST_CASE("any session comes back byte for byte") {
  CHECK(rc::check([] {
    Folder session = {{"manifest.json", *rc::gen::arbitrary<std::string>()}};
    for (const EntryType type : kEntryTypes) {
      if (*rc::gen::arbitrary<bool>()) {
        const std::string name(entry_type_info(type).log_file);
        session[name] = *rc::gen::arbitrary<std::string>();
      }
    }
    const auto ids = *rc::gen::container<std::vector<std::string>>(rc::gen::nonEmpty(
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("aZ09_")))));
    for (const std::string& id : ids) {
      session["artifacts/" + id.substr(0, 128) + ".md"] = *rc::gen::arbitrary<std::string>();
    }
    MemoryFileSystem files;
    put(files, "s1", session);
    RC_ASSERT(write_session_archive(files, "s1").has_value());
    RC_ASSERT(remove_tree(files, "sessions/s1").has_value());
    const auto members = read_session_archive(files, "s1");
    RC_ASSERT(members.has_value());
    RC_ASSERT(unpack_session_archive(files, "s1", *members).has_value());
    RC_ASSERT(folder_of(files, "s1") == session);
  }));
}

TEST_CASE("the longest ids fit") {
  const std::string id(64, 's');
  Folder session = kSession;
  session["artifacts/" + std::string(128, 'a') + ".md"] = "long";
  MemoryFileSystem files;
  put(files, id, session);
  REQUIRE(write_session_archive(files, id));
  CHECK(folder_of(read_session_archive(files, id).value()) == session);
}

TEST_CASE("equal sessions give equal archives") {
  MemoryFileSystem one;
  MemoryFileSystem two;
  put(one, "s1", kSession);
  put(two, "s1", kSession);
  REQUIRE(write_session_archive(one, "s1"));
  REQUIRE(write_session_archive(two, "s1"));
  CHECK(one.read("archive/s1.tar.gz") == two.read("archive/s1.tar.gz"));
}

TEST_CASE("an archive has the time of the newest entry") {
  MemoryFileSystem files;
  Folder session = kSession;
  session["facts.jsonl"] =
      "{\"id\":\"f1\",\"timestamp\":\"2026-01-11T10:00:00Z\",\"updated_at\":\"2026-01-12T10:00:"
      "00Z\"}\n"
      "{\"id\":\"f2\",\"timestamp\":\"2026-01-11T10:00:07Z\"}\nno entry\n";
  put(files, "s1", session);
  CHECK(write_session_archive(files, "s1")->newest ==
        parse_rfc3339("2026-01-12T10:00:00Z").value());
  CHECK(read_session_archive(files, "s1")->front().mtime_s == 1'768'212'000);
}

TEST_CASE("in an archive for git is nothing that git ignores, and nothing is lost") {
  MemoryFileSystem one;
  MemoryFileSystem two;
  put(one, "s1", {{"manifest.json", "{}"}, {"access.jsonl", "mine\n"}, {"events.jsonl", "ls\n"}});
  put(two, "s1", {{"manifest.json", "{}"}});
  for (MemoryFileSystem* const files : {&one, &two}) {
    files->write(".gitignore", "# Local.\n/sessions/*/access.jsonl\n/sessions/*/events.jsonl\n");
    REQUIRE(write_session_archive(*files, "s1", {}, /*for_git=*/true));
  }
  CHECK(one.read("archive/s1.tar.gz") == two.read("archive/s1.tar.gz"));
  CHECK(!two.info("archive/.lock.s1.gz"));
  std::vector<ArchivedFile> members = read_session_archive(one, "s1").value();
  CHECK(folder_of(members) == folder_of(one, "s1"));
  // It stays so when the archive is written again.
  members.back().bytes.clear();
  REQUIRE(rewrite_session_archive(one, "s1", members));
  CHECK(one.read("archive/s1.tar.gz") == two.read("archive/s1.tar.gz"));
  CHECK(folder_of(read_session_archive(one, "s1").value()) == folder_of(members));
}

TEST_CASE("what is derived or local is left out") {
  MemoryFileSystem files;
  put(files, "s1", kSession);
  for (const char* name :
       {".lock", ".lock.json", ".lock.index", ".lock.index.json", "index.json", "facts.jsonl.tmp",
        "artifacts/art-1.md.tmp", "4913", "facts.jsonl~", "#facts.jsonl#", ".facts.jsonl.swp"}) {
    files.write(std::string("sessions/s1/") + name, "local");
  }
  REQUIRE(write_session_archive(files, "s1"));
  CHECK(folder_of(read_session_archive(files, "s1").value()) == kSession);
}

TEST_CASE("a stranger in the folder stops the archiving, and is named") {
  struct Row {
    const char* name;
    bool is_folder;
  };
  static constexpr Row kRows[] = {{"notes.txt", false},       {"facts 2.jsonl", false},
                                  {"artifacts/a.txt", false}, {"artifacts/.hidden.md", false},
                                  {"my-folder", true},        {"artifacts/art-2.md", true},
                                  {"decisions.jsonl", true}};
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    MemoryFileSystem files;
    put(files, "s1", kSession);
    const std::string path = std::string("sessions/s1/") + row.name;
    row.is_folder ? files.make_folders(path) : files.write(path, "mine");
    const Error error = write_session_archive(files, "s1").error();
    CHECK(error.code == ErrorCode::E_STORAGE_CORRUPT);
    CHECK(error.path.ends_with(path));
    CHECK(!files.info("archive/s1.tar.gz"));
  }
  MemoryFileSystem files;
  put(files, "s1", kSession);
  files.make_other("sessions/s1/events.jsonl");
  CHECK(write_session_archive(files, "s1").error().path.ends_with("events.jsonl"));
}

TEST_CASE("no session, or one without a manifest, is not archived") {
  MemoryFileSystem files;
  CHECK(write_session_archive(files, "s1").error().code == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(read_session_archive(files, "s1").error().code == ErrorCode::E_SESSION_NOT_FOUND);
  put(files, "s1", {{"facts.jsonl", ""}});
  CHECK(write_session_archive(files, "s1").error().code == ErrorCode::E_SESSION_CORRUPT);
  CHECK(rewrite_session_archive(files, "s1", {}).error().code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(!files.info("archive/s1.tar.gz"));
}

TEST_CASE("what can't be read within the limits is not written") {
  MemoryFileSystem files;
  put(files, "s1", kSession);
  CHECK(write_session_archive(files, "s1", {.members = 2}).error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(write_session_archive(files, "s1", {.bytes = 100}).error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(files.list("archive").value().empty());
}

TEST_CASE("an archive can be replaced by one with less in it") {
  MemoryFileSystem files;
  put(files, "s1", kSession);
  REQUIRE(write_session_archive(files, "s1"));
  std::vector<ArchivedFile> members = read_session_archive(files, "s1").value();
  std::erase_if(members, [](const ArchivedFile& member) { return member.name == "summary.md"; });
  const ArchiveSize size = rewrite_session_archive(files, "s1", members).value();
  CHECK(size.files == kSession.size() - 1);
  CHECK(read_session_archive(files, "s1").value() == members);
  members.back().name = "../x";
  CHECK(rewrite_session_archive(files, "s1", members).error().code == ErrorCode::E_STORAGE_CORRUPT);
}

TEST_CASE("a session is not unpacked over one that is there") {
  MemoryFileSystem files;
  put(files, "s1", kSession);
  const std::vector<ArchivedFile> members = {{.name = "manifest.json", .bytes = "{}"}};
  CHECK(unpack_session_archive(files, "s1", members).error().code == ErrorCode::E_CONCURRENT_MOD);
  CHECK(folder_of(files, "s1") == kSession);
}

TEST_CASE("nothing is unpacked under a name of someone else's") {
  for (const char* name : {"../x", "/etc/x", "index.json", "artifacts/../x.md", ""}) {
    CAPTURE(name);
    MemoryFileSystem files;
    const std::vector<ArchivedFile> members = {{.name = name, .bytes = "x"}};
    CHECK(unpack_session_archive(files, "s1", members).error().code ==
          ErrorCode::E_STORAGE_CORRUPT);
    CHECK(!files.info("sessions"));
  }
}

TEST_CASE("what a crash left of unpacking is replaced") {
  MemoryFileSystem files;
  files.make_folders("sessions/.s1.tmp/artifacts");
  files.write("sessions/.s1.tmp/artifacts/old.md", "old");
  files.write("sessions/.s1.tmp/facts.jsonl", "old");
  const std::vector<ArchivedFile> members = {{.name = "manifest.json", .bytes = "{}"}};
  REQUIRE(unpack_session_archive(files, "s1", members));
  CHECK(folder_of(files, "s1") == Folder{{"manifest.json", "{}"}});
  CHECK(files.list("sessions").value() == std::vector<std::string>{"s1"});
}

TEST_CASE("every file and folder is synced before the session gets its name") {
  MemoryFileSystem disk;
  FaultyFileSystem files(disk);
  const std::vector<ArchivedFile> members = {{.name = "manifest.json", .bytes = "{}"},
                                             {.name = "artifacts/a.md", .bytes = "a"}};
  REQUIRE(unpack_session_archive(files, "s1", members));
  const std::vector<std::string> log = files.log();
  const std::vector<std::string> end(log.end() - 10, log.end());
  CHECK(end ==
        std::vector<std::string>{
            "open sessions/.s1.tmp/manifest.json create", "write sessions/.s1.tmp/manifest.json 2",
            "sync_all sessions/.s1.tmp/manifest.json",
            "open sessions/.s1.tmp/artifacts/a.md create",
            "write sessions/.s1.tmp/artifacts/a.md 1", "sync_all sessions/.s1.tmp/artifacts/a.md",
            "sync_directory sessions/.s1.tmp/artifacts", "sync_directory sessions/.s1.tmp",
            "rename sessions/.s1.tmp sessions/s1", "sync_directory sessions"});
}

TEST_CASE("the archived sessions are listed by id") {
  MemoryFileSystem files;
  CHECK(archived_session_ids(files).value().empty());
  files.make_folders("archive");
  for (const char* name : {"s.tar.gz", "s-1.tar.gz", "t.manifest.json", "t.evicted.jsonl.gz",
                           "u.tar.gz.tmp", "BAD.tar.gz", ".tar.gz"}) {
    files.write(std::string("archive/") + name, "");
  }
  CHECK(archived_session_ids(files).value() == std::vector<std::string>{"s", "s-1"});
}

TEST_CASE("the name of a session on its way in or out is no session id") {
  CHECK(is_unfinished_session_name(".s1.tmp"));
  CHECK(!is_unfinished_session_name("s1"));
  CHECK(unfinished_session_folder("s1") == "sessions/.s1.tmp");
}

}  // namespace bmad_mem::test::session_archive_test
