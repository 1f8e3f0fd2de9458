#include "storage/log_stamp.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>

#include "bmad_mem/clock.hpp"
#include "core/hash.hpp"
#include "core/ids.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kRecordSize = 64;
constexpr std::size_t kHashedSize = 56;

using Record = std::array<char, kRecordSize>;

void put(Record& record, std::size_t place, std::uint64_t number) {
  for (std::size_t i = 0; i < 8; ++i) {
    record[place * 8 + i] = static_cast<char>(number >> (8 * i) & 0xFFU);
  }
}

std::uint64_t number_at(const Record& record, std::size_t place) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(record[place * 8 + i])} << (8 * i);
  }
  return number;
}

/// Of the record's numbers, its type and this boot.
std::uint64_t hash_of(const Record& record, EntryType type) {
  std::string text(record.data(), kHashedSize);
  text += static_cast<char>(type);
  text += boot_id();
  return xxh3(text);
}

std::uint64_t place_of(EntryType type) { return static_cast<std::uint64_t>(type) * kRecordSize; }

/// To the nanosecond. Where tests have moved the clock, moved as what the system stamps.
std::int64_t exact_time_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch() + system_clock_shift())
      .count();
}

std::uint64_t new_chain() {
  const std::uint64_t chain = std::uint64_t{system_random()} << 60U ^
                              std::uint64_t{system_random()} << 30U ^ system_random();
  return chain == 0 ? 1 : chain;
}

}  // namespace

std::optional<EntryType> type_of_log(std::string_view log_file) {
  for (const EntryType type : kEntryTypes) {
    if (entry_type_info(type).log_file == log_file) {
      return type;
    }
  }
  return std::nullopt;
}

std::optional<LogStamp> read_stamp(File& lock_file, EntryType type) {
  Record record{};
  const Result<std::size_t> got = lock_file.read_at(place_of(type), record);
  if (boot_id().empty() || !got || *got != kRecordSize || number_at(record, 6) != kVersion ||
      number_at(record, 5) == 0 || number_at(record, 7) != hash_of(record, type)) {
    return std::nullopt;
  }
  return LogStamp{.log = {.device = number_at(record, 0),
                          .inode = number_at(record, 1),
                          .size = number_at(record, 2),
                          .mtime_ns = static_cast<std::int64_t>(number_at(record, 3)),
                          .ctime_ns = static_cast<std::int64_t>(number_at(record, 4))},
                  .chain = number_at(record, 5)};
}

std::optional<LogStamp> read_stamp(FileSystem& files, std::string_view session_id, EntryType type) {
  const Result<std::unique_ptr<File>> lock_file =
      files.open(lock_path(session_id), OpenMode::kRead);
  return lock_file ? read_stamp(**lock_file, type) : std::nullopt;
}

std::uint64_t chain_of(File& lock_file, EntryType type, File& log) {
  const std::optional<LogStamp> stamp = read_stamp(lock_file, type);
  if (!stamp) {
    return new_chain();
  }
  const Result<FileInfo> now = log.info();  // As late as can be.
  return now && stamp->describes(*now) ? stamp->chain : new_chain();
}

void stamp_log(File& lock_file, EntryType type, File& log, std::uint64_t end, std::uint64_t chain) {
  const std::int64_t time_ns = exact_time_ns();
  if (boot_id().empty() || !log.set_mtime(time_ns)) {
    return;
  }
  const Result<FileInfo> now = log.info();
  if (!now || now->mtime_ns != time_ns || now->size != end) {
    return;
  }
  Record record{};
  put(record, 0, now->device);
  put(record, 1, now->inode);
  put(record, 2, now->size);
  put(record, 3, static_cast<std::uint64_t>(now->mtime_ns));
  put(record, 4, static_cast<std::uint64_t>(now->ctime_ns));
  put(record, 5, chain);
  put(record, 6, kVersion);
  put(record, 7, hash_of(record, type));
  static_cast<void>(
      lock_file.write_at(place_of(type), std::string_view(record.data(), record.size())));
}

}  // namespace bmad_mem
