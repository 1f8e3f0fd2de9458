// every_fault.hpp - an action, made to fail at each of its calls to the file system in turn.
#pragma once

#include <array>
#include <functional>
#include <string>

#include <doctest/doctest.h>

#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test {

/// Runs `act` on fresh disks made by `prepare`: first undisturbed, to count the calls, then once
/// for each call, which fails; and once for each write, which is cut to one byte before it fails.
/// After each failure `check` judges the disk. Returns how many failures there were.
inline std::size_t for_every_fault(const std::function<void(MemoryFileSystem&)>& prepare,
                                   const std::function<Status(FileSystem&)>& act,
                                   const std::function<void(MemoryFileSystem&)>& check) {
  constexpr std::array kOperations = {
      Operation::kOpen,          Operation::kReadAt,        Operation::kWrite,
      Operation::kTruncate,      Operation::kSyncData,      Operation::kSyncAll,
      Operation::kFileInfo,      Operation::kInfo,          Operation::kList,
      Operation::kRename,        Operation::kMakeDirectory, Operation::kRemove,
      Operation::kSyncDirectory,
  };
  MemoryFileSystem undisturbed;
  prepare(undisturbed);
  FaultyFileSystem counted(undisturbed);
  REQUIRE(act(counted));
  std::size_t failures = 0;
  for (const Operation operation : kOperations) {
    for (std::size_t nth = 1; nth <= counted.count(operation); ++nth) {
      for (const bool torn : {false, true}) {
        if (torn && operation != Operation::kWrite) {
          continue;
        }
        CAPTURE(operation_name(operation));
        CAPTURE(nth);
        CAPTURE(torn);
        MemoryFileSystem disk;
        prepare(disk);
        FaultyFileSystem files(disk);
        if (torn) {
          files.shorten({.operation = operation, .nth = nth}, 1);
          files.fail({.operation = operation, .nth = nth + 1, .from_then_on = true});
        } else {
          files.fail({.operation = operation, .nth = nth});
        }
        const Status status = act(files);
        failures += status ? 0U : 1U;
        check(disk);
        // What failed can be done again.
        files.heal();
        CHECK(act(files));
      }
    }
  }
  return failures;
}

}  // namespace bmad_mem::test
