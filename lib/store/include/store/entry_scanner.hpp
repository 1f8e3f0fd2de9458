// entry_scanner.hpp - a log as entries: bytes to lines to checked values, front to back;
// and the latest version of each.
//
// Every line gets one verdict, the same for reads, `stats`, `verify` and `repair`: it is an entry
// of the log's type, it is an encrypted one, or it is damaged. Blank lines are none of these. Bytes
// behind the last newline are torn and not looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "base/hash.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

class LineOpener;
class LineEncryption;

/// A line that is an entry. The views are valid during the call-back.
struct ScannedEntry {
  EntryType type = EntryType::kConversation;
  JsonValue value;
  std::string_view text;
  std::uint64_t offset = 0;
  std::uint64_t line = 0;       ///< 1-based.
  std::uint64_t line_size = 0;  ///< In the log, with its '\n' and what stands before it.
};

/// A line that is none.
struct DamagedLine {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t line = 0;    ///< 1-based.
  std::uint64_t column = 0;  ///< 1-based byte; 1 when the whole line is meant.
  std::string field = {};
  std::string reason = {};
};

struct LogScan {
  std::uint64_t entries = 0;
  std::uint64_t encrypted = 0;
  std::uint64_t damaged = 0;
  std::uint64_t whole_end = 0;  ///< Where the last whole line ends.
  std::uint64_t torn_size = 0;
  std::uint64_t torn_line = 0;  ///< The number the torn line would have.
  bool hashed = true;           ///< False when a line was too long to be added to ScanStart::hash.
};

struct ScanHandlers {
  std::function<void(const ScannedEntry&)> on_entry;
  /// Of an encrypted entry id and times alone can be read. Without this they are passed over:
  /// nothing that is made of entries has one by chance.
  std::function<void(const ScannedEntry&)> on_encrypted = {};
  /// Finding out why a line is damaged is slow; without this nobody asks.
  std::function<void(const DamagedLine&)> on_damage = {};
  /// Called about once in 256 KiB with how far it is, in bytes.
  std::function<void(std::uint64_t offset)> on_progress = {};
};

/// Where a scan begins: at the start of a line.
struct ScanStart {
  std::uint64_t offset = 0;
  std::uint64_t line = 1;  ///< Its number.
  /// If given, the bytes of each whole line are added to it, '\n' included: the very bytes that
  /// were parsed, whatever happens to the file meanwhile.
  LineHash* hash = nullptr;
};

/// Scans the log at `path`, which holds entries of `type`. A log that isn't there is empty.
/// Errors: as the file system's; E_SIZE_LIMIT above kLogSizeMax; damaged lines are no errors.
Result<LogScan> scan_log(FileSystem& files, const std::string& path, EntryType type,
                         JsonParser& parser, const ScanHandlers& handlers, ScanStart start = {});

/// The same of the logs of `types` in `folder`, a session's or of that form.
Status scan_logs(FileSystem& files, std::string_view folder, const ScanHandlers& handlers,
                 std::span<const EntryType> types = kEntryTypes);

/// What an encrypted line holds.
struct OpenedEntry {
  std::string line;
  ScannedEntry entry;  ///< At the place of the encrypted one; its text is `line`.

  OpenedEntry() = default;
  OpenedEntry(OpenedEntry&& other) noexcept : line(std::move(other.line)), entry(other.entry) {
    entry.text = line;
  }
};

/// `scanned`, an encrypted line, opened and parsed by `parser`. Errors: as LineOpener::open(), and
/// E_STORAGE_CORRUPT when no entry is in it.
Result<OpenedEntry> open_entry(const LineOpener& opener, std::string_view session_id,
                               const ScannedEntry& scanned, JsonParser& parser);
/// An encrypted line that `error` keeps from being opened.
DamagedLine encrypted_damage(const ScannedEntry& scanned, const Error& error);

// The latest version of every entry of a session, in memory.
//
// An update is a newer line with the same id, so the last line of a log wins. Reading the logs from
// front to back costs about 1 ms per MB; it takes no lock.

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
  std::optional<Timestamp> expires_at;
  bool archived = false;  ///< As Entry says; no scan knows, nor of the next one.
  bool evicted = false;
  bool encrypted = false;  ///< It was opened with a key.
};

/// What a scan met, copied; `versions` is 1.
TableEntry to_table_entry(const ScannedEntry& scanned);

enum class Versions : std::uint8_t { kLatest, kAll };

/// The entries of `types` (all when empty) in session `session_id`, by type and line.
/// Errors: as the file system's. Damaged lines are passed over, and given to `on_damage`, if any.
/// Encrypted lines are passed over without `encryption`; with it, those that its key opens are
/// entries, and those that were changed are damaged. `closed`: their number grows by the encrypted
/// entries that were passed over.
using OnDamage = std::function<void(EntryType type, const DamagedLine& line)>;
Result<std::vector<TableEntry>> load_entries(FileSystem& files, std::string_view session_id,
                                             std::span<const EntryType> types,
                                             Versions versions = Versions::kLatest,
                                             const OnDamage& on_damage = {},
                                             const LineEncryption* encryption = nullptr,
                                             std::uint64_t* closed = nullptr);

}  // namespace bmad_mem
