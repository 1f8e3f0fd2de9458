#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "store/store.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::tracked_files_test {
namespace {

std::string big_endian(std::size_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) {
    text += static_cast<char>((number >> (8 * i)) & 0xFFU);
  }
  return text;
}

struct Tracked {
  std::string path;
  unsigned stage = 0;
};

/// An index of git, version 2, with `end` behind the entries.
std::string index_of(const std::vector<Tracked>& entries, std::string_view end = {}) {
  std::string index = "DIRC" + big_endian(2, 4) + big_endian(entries.size(), 4);
  for (const Tracked& each : entries) {
    std::string entry(40 + 20, '\0');
    entry += big_endian((each.stage << 12U) + each.path.size(), 2) + each.path;
    entry.resize(entry.size() / 8 * 8 + 8, '\0');
    index += entry;
  }
  return index + std::string(end) + std::string(20, 's');
}

class Project {
 public:
  explicit Project(const std::string& dot_git = ".git") : git_(folder_.path() + "/" + dot_git) {
    std::filesystem::create_directories(root_);
    std::filesystem::create_directories(git_);
  }

  void put_index(const std::string& bytes) {
    std::ofstream(git_ + "/index", std::ios::binary) << bytes;
  }
  void put(const std::string& name, std::string_view text) {
    std::ofstream(folder_.path() + "/" + name, std::ios::binary) << text;
  }
  TrackedFiles& tracked() { return tracked_; }

 private:
  TemporaryDirectory folder_;
  std::string root_ = folder_.path() + "/.bmad/memory";
  std::string git_;
  TrackedFiles tracked_{root_};
};

}  // namespace

TEST_CASE("what git tracks is read from its index") {
  Project project;
  TrackedFiles& tracked = project.tracked();
  CHECK(tracked.in_repository());
  CHECK(!tracked.any());
  project.put_index(index_of({{".bmad/memorysessions/s1/x"}, {"README"}}));
  CHECK(!tracked.any());
  project.put_index(index_of({{".bmad/memory/archive/s2.tar.gz"},
                              {".bmad/memory/archive/s3.evicted.jsonl.gz"},
                              {".bmad/memory/sessions/s1/manifest.json"},
                              {"README"}},
                             "TREE" + big_endian(3, 4) + "abc"));
  CHECK(tracked.any());
  CHECK(tracked.has_session("s1"));
  CHECK(tracked.has_session("s2"));
  CHECK(!tracked.has_session("s3"));
  CHECK(!tracked.has_session("s"));
  CHECK(tracked.sessions_in_conflict().empty());
}

TEST_CASE("when in doubt all is tracked") {
  const std::string other = index_of({{"README"}});
  const std::vector<std::string> indexes = {"no index", "", other.substr(0, 40),
                                            index_of({{"README"}}, "link" + big_endian(0, 4)),
                                            index_of({{".bmad/"}}, "sdir" + big_endian(0, 4))};
  for (const std::string& bytes : indexes) {
    CAPTURE(bytes);
    Project project;
    project.put_index(bytes);
    CHECK(project.tracked().any());
    CHECK(project.tracked().has_session("s1"));
  }
}

TEST_CASE("a worktree has an index of its own") {
  Project project("git/worktrees/one");
  project.put(".git", "gitdir: git/worktrees/one\n");
  project.put_index(index_of({{".bmad/memory/sessions/s1/manifest.json"}}));
  CHECK(project.tracked().has_session("s1"));
}

TEST_CASE("sessions that an unfinished merge waits for") {
  struct Row {
    const char* name;
    std::vector<Tracked> entries;
    bool waits;
  };
  const std::string log = ".bmad/memory/sessions/s1/facts.jsonl";
  const std::string archive = ".bmad/memory/archive/s1.tar.gz";
  const Row rows[] = {{"merged", {{log}}, false},
                      {"removed by them", {{log, 1}, {log, 2}}, true},
                      {"removed by us", {{log, 1}, {log, 3}}, true},
                      {"changed by both", {{log, 1}, {log, 2}, {log, 3}}, false},
                      {"made by both", {{log, 2}, {log, 3}}, false},
                      {"packed by both", {{archive, 2}, {archive, 3}}, true},
                      {"not of a memory", {{"README", 1}, {"README", 2}}, false}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Project project;
    project.put_index(index_of(row.entries));
    CHECK(project.tracked().sessions_in_conflict() ==
          (row.waits ? std::set<std::string>{"s1"} : std::set<std::string>()));
  }
}

}  // namespace bmad_mem::test::tracked_files_test
