// lifecycle_store.hpp - a session of six facts over a disk in memory that can be made to fail, and
// what can be done with it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "operations/rooms.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test {

inline constexpr int kLifecycleEntries = 6;

class LifecycleStore {
 public:
  LifecycleStore();

  /// How often `line` is in the log.
  std::ptrdiff_t in_log(const std::string& line);
  /// Whether `line` can be had from somewhere: in the log, among the evicted or deleted ones, or in
  /// the folder or archive of the session.
  bool is_somewhere(const std::string& line);
  /// The files of the disk that hold `text`.
  std::vector<std::string> files_with(const std::string& text, const std::string& folder = "");

  /// The same root, opened a second time. It waits for no lock.
  std::unique_ptr<Store> another_process();

  MemoryFileSystem disk;
  FaultyFileSystem* files = nullptr;
  ManualClock clock;
  Store store{clock, all_rooms()};
  std::vector<std::string> lines;  ///< Of f1 to f6, with the texts "text-1" to "text-6".

 private:
  bool is_packed(const std::string& line);
};

/// f2 and f4.
const std::vector<std::string>& some_ids();

// What can be done with the session: all of it, or those two.
Status compact(Store& store);
Status restore_evicted(Store& store);
Status archive(Store& store);
Status restore(Store& store);
Status delete_whole(Store& store);
Status undelete_all(Store& store);
Status delete_some(Store& store);
Status purge_some(Store& store);
Status nothing(Store& store);

}  // namespace bmad_mem::test
