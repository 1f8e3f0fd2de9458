// told_log.cpp - see told_log.hpp.
#include "context/told_log.hpp"

#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/file_system.hpp"
#include "base/hash.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/text.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

/// A session that was told 30,000 entries is told the first ones again.
constexpr std::uint64_t kToldSizeMax = std::uint64_t{1} << 20U;
constexpr std::size_t kHashDigits = 16;

}  // namespace

std::uint64_t told_hash(std::string_view session_id, EntryType type, std::string_view id) {
  return xxh3(fmt::format("{} {} {}", session_id, static_cast<int>(type), id)) | 1U;
}

std::set<std::uint64_t> read_told(const Store& store, const ContextReader& reader) {
  std::set<std::uint64_t> told;
  const std::string path = session_file(reader.session_id, kToldName);
  const Result<std::string> text = read_file(*store.files, path, kToldSizeMax);
  const std::string who = hash_hex(xxh3(reader.instance));
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.size() != 2 * kHashDigits || !line.starts_with(who)) {
      continue;
    }
    const auto entry = number_in<std::uint64_t>(line.substr(kHashDigits), 16);
    if (!entry) {
      continue;
    }
    if (*entry == 0) {
      told.clear();
    } else {
      told.insert(*entry);
    }
  }
  return told;
}

Status append_told(const Store& store, const ContextReader& reader,
                   std::span<const std::uint64_t> entries) {
  static constexpr std::uint64_t kForgotten[] = {0};
  std::string lines;
  for (const std::uint64_t entry : entries.empty() ? std::span(kForgotten) : entries) {
    lines += hash_hex(xxh3(reader.instance)) + hash_hex(entry) + "\n";
  }
  const std::string path = session_file(reader.session_id, kToldName);
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, store.files->open(path, OpenMode::kAppend));
  return write_all(*file, lines);
}

}  // namespace bmad_mem
