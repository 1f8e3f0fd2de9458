// remove_tree_test.cpp - a folder goes with everything in it, and nothing beside it.
#include <cerrno>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "store/atomic_file.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::remove_tree_test {

TEST_CASE("a folder is removed with all that is below it") {
  MemoryFileSystem disk;
  disk.make_folders("a/b/c");
  disk.make_folders("ab");
  disk.write("a/x", "1");
  disk.write("a/b/c/y", "2");
  disk.make_other("a/b/link");
  REQUIRE(remove_tree(disk, "a").has_value());
  CHECK(disk.list("").value() == std::vector<std::string>{"ab"});
  CHECK(remove_tree(disk, "a").has_value());  // Gone already.
}

TEST_CASE("an error on the way is told, and the next run goes on") {
  for (const Operation operation : {Operation::kList, Operation::kRemove,
                                    Operation::kRemoveDirectory, Operation::kSyncDirectory}) {
    MemoryFileSystem disk;
    FaultyFileSystem files(disk);
    disk.make_folders("a/b");
    disk.write("a/b/x", "1");
    files.fail({.operation = operation, .error_number = EIO});
    CHECK_FALSE(remove_tree(files, "a").has_value());
    files.heal();
    CHECK(remove_tree(files, "a").has_value());
    CHECK(disk.list("").value().empty());
  }
}

}  // namespace bmad_mem::test::remove_tree_test
