#include "store/layout.hpp"

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/temporary_directory.hpp"

namespace bmad_mem::test::layout_test {
namespace {

constexpr const char* kSession = "sess-2026-01-11-4q7m2s";

/// What git would leave out of a commit, of `paths` below the folder `root`: the ones it names.
std::set<std::string> ignored_by_git(const TemporaryDirectory& project,
                                     const std::vector<std::string>& paths) {
  // A hook's environment and the user's own ignore file would both change the answer.
  std::string command = "cd '" + project.path() +
                        "' && unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE && git init -q . && "
                        "git -c core.excludesFile=/dev/null check-ignore --";
  for (const std::string& path : paths) {
    command += " '" + path + "'";
  }
  FILE* output = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(output != nullptr);
  std::set<std::string> ignored;
  char line[4096];
  while (std::fgets(line, sizeof line, output) != nullptr) {
    ignored.insert(std::string(line, std::char_traits<char>::length(line) - 1));
  }
  const int status = ::pclose(output);
  CHECK((status == 0 || status == 256));  // 1: none is ignored. Anything else: git itself failed.
  return ignored;
}

}  // namespace

TEST_CASE("every path of a session lies below its own folder") {
  struct Row {
    std::string path;
    const char* expected;
  };
  const Row rows[] = {
      {session_folder(kSession), "sessions/sess-2026-01-11-4q7m2s"},
      {session_file(kSession, "decisions.jsonl"),
       "sessions/sess-2026-01-11-4q7m2s/decisions.jsonl"},
      {manifest_path(kSession), "sessions/sess-2026-01-11-4q7m2s/manifest.json"},
      {index_path(kSession), "sessions/sess-2026-01-11-4q7m2s/index.json"},
      {lock_path(kSession), "sessions/sess-2026-01-11-4q7m2s/.lock"},
      {lock_info_path(kSession), "sessions/sess-2026-01-11-4q7m2s/.lock.json"},
      {quarantine_path(kSession), "sessions/sess-2026-01-11-4q7m2s/quarantine.jsonl"},
      {audit_path(kSession), "sessions/sess-2026-01-11-4q7m2s/audit.jsonl"},
      {access_path(kSession), "sessions/sess-2026-01-11-4q7m2s/access.jsonl"},
      {artifact_path(kSession, "art-01"), "sessions/sess-2026-01-11-4q7m2s/artifacts/art-01.md"},
      {retained_path(kSession), "shared/kept/sess-2026-01-11-4q7m2s.jsonl"},
      {archive_path(kSession), "archive/sess-2026-01-11-4q7m2s.tar.gz"},
      {archive_manifest_path(kSession), "archive/sess-2026-01-11-4q7m2s.manifest.json"},
      {evicted_path(kSession), "archive/sess-2026-01-11-4q7m2s.evicted.jsonl.gz"},
      {archive_index_path(kSession), "archive/sess-2026-01-11-4q7m2s.index.json"},
      {archive_known_path(kSession), "archive/sess-2026-01-11-4q7m2s.known.jsonl"},
      {evicted_index_path(kSession), "archive/sess-2026-01-11-4q7m2s.evicted.jsonl.index.json"},
      {deleted_folder(kSession), "deleted/sess-2026-01-11-4q7m2s"},
      {deletion_record_path(kSession), "deleted/sess-2026-01-11-4q7m2s/deletion-record.json"},
  };
  for (const Row& row : rows) {
    CHECK(row.path == row.expected);
  }
}

TEST_CASE("the root is the one that was named, else the one in the environment") {
  struct Row {
    const char* explicit_root;
    const char* env_value;
    const char* expected;
  };
  const Row rows[] = {
      {"/a/memory", "", "/a/memory"},
      {"/a/memory", "/b/memory", "/a/memory"},
      {"", "/b/memory", "/b/memory"},
      {"memory", "", "/work/dir/memory"},
      {"./memory", "", "/work/dir/memory"},
      {"../memory", "", "/work/memory"},
      {"memory/", "", "/work/dir/memory"},
      {".", "", "/work/dir"},
      {"../..", "", "/"},
      {"", "memory", "/work/dir/memory"},
      {"/a/../b", "", "/a/../b"},  // The system resolves it, and links on the way.
  };
  for (const Row& row : rows) {
    CAPTURE(row.explicit_root);
    CAPTURE(row.env_value);
    CHECK(find_root(row.explicit_root, row.env_value, "/work/dir").value() == row.expected);
    CHECK(root_to_create(row.explicit_root, row.env_value, "/work/dir") == row.expected);
  }
  CHECK(root_to_create("", "", "/work/dir") == "/work/dir/.bmad/memory");
}

TEST_CASE("the nearest root upwards is found") {
  TemporaryDirectory folder;
  folder.make_folder("project/.bmad/memory");
  folder.make_folder("project/src/deep/down");
  folder.make_folder("project/vendor/.bmad/memory");
  folder.make_folder("project/vendor/src");
  const auto found = [&](const char* name) { return find_root("", "", folder.path(name)).value(); };
  CHECK(found("project") == folder.path("project/.bmad/memory"));
  CHECK(found("project/src/deep/down") == folder.path("project/.bmad/memory"));
  CHECK(found("project/vendor/src") == folder.path("project/vendor/.bmad/memory"));
  CHECK(found("project/src/") == folder.path("project/.bmad/memory"));
  CHECK(found("project/.bmad/memory") == folder.path("project/.bmad/memory"));
}

TEST_CASE("what is no folder is no root") {
  TemporaryDirectory folder;
  folder.make_folder(".bmad/memory");
  folder.make_folder("a/.bmad");
  folder.write("a/.bmad/memory", "a file");
  folder.make_folder("b");
  folder.write("b/.bmad", "a file");
  CHECK(find_root("", "", folder.path("a")).value() == folder.path(".bmad/memory"));
  CHECK(find_root("", "", folder.path("b")).value() == folder.path(".bmad/memory"));
  CHECK(find_root("", "", folder.path("not/there")).value() == folder.path(".bmad/memory"));
}

TEST_CASE("where there is no root, the error says how to make one") {
  TemporaryDirectory folder;
  const Error error = find_root("", "", folder.path()).error();
  CHECK(error.code == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(error.message ==
        "no .bmad/memory in " + folder.path() + " or above; run `bmad-mem init` there");
  CHECK(find_root("", "", "/").error().code == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(find_root("", "", "").error().code == ErrorCode::E_SESSION_NOT_FOUND);
}

TEST_CASE("a root that can't be looked for is an error, and not taken for absent") {
  TemporaryDirectory folder;
  const std::string long_name(300, 'x');
  const Error error = find_root("", "", folder.path(long_name)).error();
  CHECK(error.code == ErrorCode::E_STORAGE_IO);
  CHECK(error.path.find(long_name) != std::string::npos);
  CHECK(error.os_error != 0);
}

TEST_CASE("git ignores what is derived, local or deleted, and nothing else") {
  const std::vector<std::string> ignored = {
      "catalog.json",
      "maintenance.json",
      "sessions/s/index.json",
      "sessions/s/access.jsonl",
      "sessions/s/.lock",
      "sessions/s/.lock.json",
      "sessions/s/manifest.json.tmp",
      "sessions/s/artifacts/art-1.md.tmp",
      "config.json.tmp",
      "archive/s.tar.gz.tmp",
      "archive/s.index.json",
      "archive/s.known.jsonl",
      "archive/s.evicted.jsonl.index.json",
      "shared/user-preferences.json",
      "shared/agent-knowledge.json",
      "shared/kept/s.jsonl.tmp",
      "deleted/s/deletion-record.json",
  };
  std::vector<std::string> tracked = {
      ".gitignore",
      "config.json",
      "sessions/s/manifest.json",
      "sessions/s/conversation.jsonl",
      "sessions/s/audit.jsonl",
      "sessions/s/quarantine.jsonl",
      "sessions/s/summary.md",
      "sessions/s/artifacts/art-1.md",
      "shared/kept/s.jsonl",
      "archive/s.tar.gz",
      "archive/s.manifest.json",
  };
  // Session ids that are spelled like something that is ignored.
  for (const char* session : {"deleted", "index.json", "access.jsonl", "catalog.json", "x.tmp"}) {
    tracked.push_back(session_file(session, "conversation.jsonl"));
    tracked.push_back(manifest_path(session));
  }
  TemporaryDirectory folder;
  folder.write(".gitignore", gitignore_text());
  std::vector<std::string> paths = ignored;
  paths.insert(paths.end(), tracked.begin(), tracked.end());
  CHECK(ignored_by_git(folder, paths) == std::set<std::string>(ignored.begin(), ignored.end()));
}

}  // namespace bmad_mem::test::layout_test
