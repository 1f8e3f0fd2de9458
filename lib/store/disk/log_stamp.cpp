// log_stamp.cpp - the record by which readers know that a log is as a writer of ours left it.
#include <array>
#include <cassert>
#include <chrono>
#include <memory>
#include <string>

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "base/little_endian.hpp"
#include "base/process.hpp"
#include "bmad_mem/clock.hpp"
#include "store/append_log.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kRecordSize = 64;
constexpr std::size_t kHashedSize = 56;

std::uint64_t number_at(std::string_view record, std::size_t place) {
  assert((place + 1) * sizeof(std::uint64_t) <= record.size());
  return little_at<std::uint64_t>(record.data() + place * sizeof(std::uint64_t));
}

/// Of the record's numbers, its type and this boot.
std::uint64_t hash_of(std::string_view record, EntryType type) {
  assert(record.size() >= kHashedSize);
  std::string text(record.substr(0, kHashedSize));
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

std::optional<LogStamp> read_stamp(File& lock_file, EntryType type) {
  std::array<char, kRecordSize> bytes{};
  const Result<std::size_t> got = lock_file.read_at(place_of(type), bytes);
  const std::string_view record(bytes.data(), bytes.size());
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

std::uint64_t chain_of(File& lock_file, EntryType type, File& log,
                       const std::optional<LogStamp>& own) {
  const auto fits = [&](const std::optional<LogStamp>& stamp) {
    const Result<FileInfo> now = stamp ? log.info() : Result<FileInfo>();  // As late as can be.
    return stamp && now && stamp->describes(*now);
  };
  if (fits(own)) {
    return own->chain;
  }
  const std::optional<LogStamp> stamp = read_stamp(lock_file, type);
  return fits(stamp) ? stamp->chain : new_chain();
}

std::optional<LogStamp> stamp_log(File& lock_file, EntryType type, File& log, std::uint64_t end,
                                  std::uint64_t chain) {
  assert(chain != 0 && "0 is the chain of no log");
  const std::int64_t time_ns = exact_time_ns();
  if (boot_id().empty() || !log.set_mtime(time_ns)) {
    return std::nullopt;
  }
  const Result<FileInfo> now = log.info();
  if (!now || now->mtime_ns != time_ns || now->size != end) {
    return std::nullopt;
  }
  std::string record;
  for (const std::uint64_t number :
       {now->device, now->inode, now->size, static_cast<std::uint64_t>(now->mtime_ns),
        static_cast<std::uint64_t>(now->ctime_ns), chain, kVersion}) {
    put_little(number, record);
  }
  put_little(hash_of(record, type), record);
  assert(record.size() == kRecordSize);
  if (!lock_file.write_at(place_of(type), record)) {
    return std::nullopt;
  }
  return LogStamp{.log = *now, .chain = chain};
}

}  // namespace bmad_mem
