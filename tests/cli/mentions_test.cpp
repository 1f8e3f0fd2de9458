// mentions_test.cpp - which files and symbols a text names, and what only looks like one.
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "exchange/workspace_tree.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::cli::test::mentions_test {

using Texts = std::vector<std::string>;

TEST_CASE("files and symbols are found in prose") {
  struct Row {
    std::string_view text;
    Texts files;
    Texts symbols;
  };
  const Row kRows[] = {
      {"see src/auth.ts:12:3, or ./b.py.", {"src/auth.ts", "./b.py"}, {}},
      {"(lib/a.hpp) and lib/a.hpp", {"lib/a.hpp"}, {}},
      {"in tests/cli/cases/ and/or later", {"tests/cli/cases/"}, {}},
      {"call `Store::open()` and requireAuth() first", {}, {"open", "requireAuth"}},
      {"`max_tokens`, `maxTokens`, `Tokens`, max_tokens", {}, {"max_tokens", "maxTokens"}},
      {"Node.js 20.1, v1.2, e.g. read/write/execute", {}, {}},
      {"https://example.com/a.md ann@example.com ~/x.py *.ts $HOME/a.sh", {}, {}},
      {"config.json and README.md", {"config.json", "README.md"}, {}},
      {"f() and a.map()", {}, {}},
      {"", {}, {}},
  };
  for (const Row& row : kRows) {
    INFO(row.text);
    CHECK(mentions_in(row.text).files == row.files);
    CHECK(mentions_in(row.text).symbols == row.symbols);
  }
}

TEST_CASE("a tree is looked at within its folder and its limits") {
  const bmad_mem::test::TemporaryDirectory temp;
  temp.make_folder("proj/pkg/src");
  temp.write("proj/pkg/src/a.ts", "function loadAll() {}");
  temp.write("proj/x.ts", "let x");
  temp.write("proj/y.ts", "let y");
  temp.write("secret.ts", "hiddenName");
  const std::string folder = temp.path("proj");
  std::filesystem::create_directory_symlink(temp.path(), folder + "/link");
  std::filesystem::create_symlink(temp.path("secret.ts"), folder + "/s.ts");

  const WorkspaceTree tree(folder);
  CHECK(tree.is_complete());
  CHECK(tree.has("src/a.ts"));
  CHECK(tree.has("./pkg/x/../src"));
  CHECK_FALSE(tree.has("rc/a.ts"));
  CHECK_FALSE(tree.has("link/secret.ts"));
  CHECK(tree.has("../secret.ts"));  // Nobody looks there.
  CHECK(tree.has("/etc/nothing.conf"));
  CHECK_FALSE(tree.has(folder + "/b.ts"));
  const std::set<std::string, std::less<>> names = {"hiddenName", "loadAll", "function"};
  CHECK(tree.missing_names(names) == std::set<std::string, std::less<>>{"hiddenName"});

  const WorkspaceTree cut(folder, {.files = 1});
  CHECK_FALSE(cut.is_complete());
  CHECK_FALSE(cut.missing_names(names).has_value());
  CHECK_FALSE(WorkspaceTree(folder, {.bytes = 0}).missing_names({"nowhere", "either"}).has_value());
}

}  // namespace bmad_mem::cli::test::mentions_test
