#include <string>

#include <doctest/doctest.h>

#include "base/file_system.hpp"

namespace bmad_mem::test::workspace_test {
namespace {

struct Row {
  const char* path;
  bool outside;
};

template <std::size_t kCount>
void check_rows(const Workspace& workspace, const Row (&rows)[kCount]) {
  for (const Row& row : rows) {
    CAPTURE(row.path);
    CHECK(is_outside_workspace(workspace, row.path) == row.outside);
  }
}

const Workspace kMain = {.folder = "/work/main", .resolved = "/work/main", .home = "/home/ann"};

}  // namespace

TEST_CASE("relative paths count from the workspace") {
  static constexpr Row kRows[] = {
      {"", false},
      {"  ", false},
      {".", false},
      {"src/a.cpp", false},
      {"./src//a.cpp", false},
      {"src/../a.cpp", false},
      {"src/../../main/a.cpp", false},
      {"../main", false},
      {"..", true},
      {"../", true},
      {"../mainland/a.cpp", true},
      {"src/../../a.cpp", true},
      {"../../../../../../work/main/a.cpp", false},  // Nothing is above the root.
      {"...", false},
      {"..a/b", false},
      {"a b/c", false},
      {" ../a", true},
  };
  check_rows(kMain, kRows);
}

TEST_CASE("absolute paths are compared name by name") {
  static constexpr Row kRows[] = {
      {"/work/main", false},
      {"/work/main/", false},
      {"/work/main/src/a.cpp", false},
      {"//work///main/./a.cpp", false},
      {"/work/main/../main/a.cpp", false},
      {"/etc/../work/main/a.cpp", false},
      {"/work/mainland/a.cpp", true},
      {"/work/main2", true},
      {"/work/main.bak/a", true},
      {"/work", true},
      {"/", true},
      {"/work/main/..", true},
      {"/work/main/../../etc/passwd", true},
      {"/Work/main/a", true},
      {"/work/main\\..\\..\\a", true},  // A file of that name in /work.
      {"/work/main/a\\..\\..\\b", false},
      {" /etc/passwd\n", true},
  };
  check_rows(kMain, kRows);
}

TEST_CASE("Windows paths are outside a workspace of another kind") {
  static constexpr Row kRows[] = {
      {"C:\\Users\\ann\\a.txt", true},
      {"c:/work/main/a", true},
      {"C:a.txt", true},
      {"\\\\server\\share\\a", true},
      {"\\windows\\a", true},
      {"src\\a.cpp", false},
      {"..\\a.cpp", true},
      {"src\\..\\..\\a", true},
      {".\\src\\..\\a", false},
      {"..\\main\\a", false},
  };
  check_rows(kMain, kRows);
}

TEST_CASE("a workspace on a drive knows its own paths") {
  const Workspace drive = {
      .folder = "C:\\Work\\Main", .resolved = "C:\\Work\\Main", .home = "C:\\Users\\ann"};
  static constexpr Row kRows[] = {
      {"c:/work/main/a.cpp", false},
      {"C:\\Work\\Main\\src\\..\\a", false},
      {"src\\a.cpp", false},
      {"file:///C:/Work/Main/a", false},
      {"C:\\Work\\Mainland", true},
      {"D:\\Work\\Main\\a", true},
      {"~\\notes.txt", true},
      {"/work/main/a", true},
      {"\\\\server\\work\\main\\a", true},
  };
  check_rows(drive, kRows);
}

TEST_CASE("URLs are the paths they hold, or no paths") {
  static constexpr Row kRows[] = {
      {"file:///work/main/a.cpp", false},
      {"FILE://localhost/work/main/a.cpp#L10", false},
      {"file:/work/main/a.cpp", false},
      {"file:src/a.cpp", false},
      {"file:///work/main/a%20b.cpp", false},
      {"file:///work/main/%2e%2e/b.cpp", true},
      {"file:///work/main/100%", false},
      {"file:///work/mainland", true},
      {"file:///etc/passwd", true},
      {"file:///C:/work/main/a", true},
      {"file://server/work/main/a", true},
      {"https://example.com/../../x", false},
      {"HTTP://example.com", false},
      {"sftp://example.com/etc/passwd", true},
      {"vscode-remote://host/work/main/a", true},
      {"std::string", false},
      {"src/x://y", false},
  };
  check_rows(kMain, kRows);
}

TEST_CASE("a tilde is a home, where one is known") {
  static constexpr Row kRows[] = {
      {"~", true},          {"~/.ssh/id_rsa", true}, {"~/../../work/main/a", false},
      {"~bob/a.txt", true}, {"~bob", true},          {"~$report.docx", false},
      {"~lock.a#", false},  {"src/~/a", false},      {"a~", false},
  };
  check_rows(kMain, kRows);
  Workspace at_home = kMain;
  at_home.folder = "/home/ann/main";
  CHECK_FALSE(is_outside_workspace(at_home, "~/main/a.cpp"));
  CHECK(is_outside_workspace(at_home, "~/mainland"));
  at_home.home.clear();
  CHECK(is_outside_workspace(at_home, "~/main/a.cpp"));
}

TEST_CASE("a workspace that was reached by a link has two names") {
  const Workspace linked = {.folder = "/home/ann/main", .resolved = "/disk2/projects/main"};
  static constexpr Row kRows[] = {
      {"/home/ann/main/a", false},
      {"/disk2/projects/main/a", false},
      {"/disk2/projects/mainland", true},
      {"/home/ann/a", true},
      {"src/a", false},
      {"../main/a", false},
      {"../a", true},
  };
  check_rows(linked, kRows);
}

TEST_CASE("everything is inside a workspace that is the root") {
  const Workspace root = {.folder = "/", .resolved = "/", .home = "/root"};
  CHECK_FALSE(is_outside_workspace(root, "/etc/passwd"));
  CHECK_FALSE(is_outside_workspace(root, "../x"));
  CHECK_FALSE(is_outside_workspace(root, "~/x"));
}

}  // namespace bmad_mem::test::workspace_test
