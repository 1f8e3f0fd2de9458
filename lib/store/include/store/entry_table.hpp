// entry_table.hpp - the latest version of every entry of a session, in memory.
//
// An update is a newer line with the same id, so the last line of a log wins. Reading the logs from
// front to back costs about 1 ms per MB; it takes no lock.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "store/entry_scanner.hpp"

namespace bmad_mem {

/// One entry, or one version of it.
struct TableEntry {
  EntryType type = EntryType::kConversation;
  std::string id;
  std::string text;  ///< The line, byte for byte, without '\n'.
  std::string who;
  std::vector<std::string> tags;
  Timestamp timestamp{};
  std::uint64_t line = 0;      ///< 1-based in its log.
  std::uint64_t versions = 1;  ///< Lines with this id so far.
  bool pinned = false;
  bool sensitive = false;
  bool archived = false;  ///< As Entry says; no scan knows, nor of the next one.
  bool evicted = false;
};

/// What a scan met, copied; `versions` is 1.
TableEntry to_table_entry(const ScannedEntry& scanned);

enum class Versions : std::uint8_t { kLatest, kAll };

/// The entries of `types` (all when empty) in session `session_id`, by type and line.
/// Errors: as the file system's. Damaged lines are passed over, and given to `on_damage`, if any.
using OnDamage = std::function<void(EntryType type, const DamagedLine& line)>;
Result<std::vector<TableEntry>> load_entries(FileSystem& files, std::string_view session_id,
                                             std::span<const EntryType> types,
                                             Versions versions = Versions::kLatest,
                                             const OnDamage& on_damage = {});

}  // namespace bmad_mem
