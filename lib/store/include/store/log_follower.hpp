// log_follower.hpp - what was added to one log since somebody looked last.
//
//   {"id":1}\n {"id":2}\n {"id":3}\n {"id":4,"te          appended: 3 is given, 4 not yet
//   |<-- covered --->|   |<- given ->|
//
//   a new file, or bytes that don't go on there: rewritten. Then what carries an id and a time that
//   were not there before is given, and nothing else: a rewrite that takes lines out, blackens or
//   marks them changes neither.
//
// A version that was stated with the time of an older one, and whose log was rewritten before
// anybody looked, is missed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_parser.hpp"
#include "store/entry_scanner.hpp"

namespace bmad_mem {

class LogFollower {
 public:
  LogFollower(std::string path, EntryType type) : path_(std::move(path)), type_(type) {}

  /// Adds to `added`, unless it is null, what came since the last call, in the order of the log;
  /// everything there is the first time. A log that isn't there has nothing. Errors: as the file
  /// system's.
  Status look(FileSystem& files, JsonParser& parser, std::vector<TableEntry>* added);

  /// Whether what the earlier looks found may have gone or changed, since this was asked last.
  [[nodiscard]] bool take_rewritten() { return std::exchange(rewritten_, false); }

 private:
  struct Found {
    std::optional<TableEntry> entry = {};  // Where it is wanted.
    std::uint64_t id_hash = 0;
    std::uint64_t version_hash = 0;
  };

  Result<std::uint64_t> end_hash(FileSystem& files, std::uint64_t end) const;
  Result<bool> goes_on(FileSystem& files, const FileInfo& info) const;
  Result<bool> look_once(FileSystem& files, JsonParser& parser, std::vector<TableEntry>* added);
  void keep(std::vector<Found> found, bool rewritten, std::vector<TableEntry>* added);

  std::string path_;
  EntryType type_;
  bool known_ = false;  // Whether there is a file whose first covered_ bytes were looked at.
  bool rewritten_ = false;
  FileInfo file_;
  std::uint64_t covered_ = 0;   // Where the last whole line ends that was looked at.
  std::uint64_t end_hash_ = 0;  // Of the last covered bytes: they say whether it is still the log.
  std::uint64_t next_line_ = 1;
  std::unordered_map<std::uint64_t, std::uint64_t> versions_;  // By hash of the id.
  std::unordered_set<std::uint64_t> seen_;                     // Hashes of id and time.
};

}  // namespace bmad_mem
