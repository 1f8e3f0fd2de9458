// lifecycle_archive_rows.cpp - a full session into its archive and back, beside tar and gzip.
//
// tar neither reads back what it wrote nor waits for the disk.
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "lifecycle_rows.hpp"
#include "spawn.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

constexpr const char* kTar = "/bin/tar";
constexpr const char* kGzip = "--use-compress-program=/bin/gzip";

/// What tar and gzip make of the same folder. Milliseconds.
struct TarCost {
  double pack = 0;
  double unpack = 0;
  double ratio = 0;  ///< Of sizes, unpacked to packed.
};

Result<TarCost> run_tar(const StoreCopy& copy) {
  const std::string archive = copy.root() + "/tar.tar.gz";
  const std::string target = copy.root() + "/tar.out";
  std::error_code error;
  std::filesystem::create_directories(target, error);
  // What our archive leaves out.
  BMAD_TRY_ASSIGN(const ProcessCost pack,
                  run_process({kTar, kGzip, "--exclude=index.json", "--exclude=.lock*", "-cf",
                               archive, "-C", copy.root() + "/sessions", copy.session()}));
  BMAD_TRY_ASSIGN(const ProcessCost unpack,
                  run_process({kTar, kGzip, "-xf", archive, "-C", target}));
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(target)) {
    bytes += file.is_regular_file() ? file.file_size() : 0;
  }
  const TarCost cost{.pack = pack.wall * 1e3,
                     .unpack = unpack.wall * 1e3,
                     .ratio = static_cast<double>(bytes) /
                              static_cast<double>(std::filesystem::file_size(archive))};
  std::filesystem::remove_all(target, error);
  std::filesystem::remove(archive, error);
  return cost;
}

struct Measured {
  Pairs archive;
  Pairs restore;
  double ratio = 0;
  TarCost tar;
  ArchiveReport last;
};

Status there_and_back(const StoreCopy& copy, Measured& measured) {
  BMAD_TRY_ASSIGN(measured.tar, run_tar(copy));
  BMAD_TRY_ASSIGN(MemoryManager memory, copy.open());
  const double begin = wall_seconds();
  BMAD_TRY_ASSIGN(measured.last, memory.archive_session(copy.session()));
  const double packed = wall_seconds();
  BMAD_TRY(memory.restore_session(copy.session()));
  const double back = wall_seconds();
  measured.archive.add((packed - begin) * 1e3, measured.tar.pack);
  measured.restore.add((back - packed) * 1e3, measured.tar.unpack);
  measured.ratio = static_cast<double>(measured.last.original_bytes) /
                   static_cast<double>(measured.last.compressed_bytes);
  return {};
}

}  // namespace

LifecycleRows archive_rows(const LifecycleRun& run) {
  Measured measured;
  for (std::size_t i = 0; i < run.times(11); ++i) {
    BMAD_TRY_ASSIGN(const StoreCopy copy, run.copy());
    BMAD_TRY(there_and_back(copy, measured));
    BMAD_TRY_ASSIGN(const MemoryManager memory, copy.open());
    BMAD_TRY_ASSIGN(const SessionStatistics statistics, memory.statistics(copy.session()));
    if (statistics.entries() != run.store.entries) {
      return Error{.message = fmt::format("{} of {} entries came back", statistics.entries(),
                                          run.store.entries)};
    }
  }
  Row archive = measured.archive.row("archive it", "tar and gzip", at_most(400));
  archive.note = fmt::format(
      "{} times; {} files of {} bytes to {} bytes, read back and on the disk; {} entries stay "
      "searchable",
      measured.archive.ours.size(), measured.last.files, measured.last.original_bytes,
      measured.last.compressed_bytes, measured.last.kept);
  Row restore = measured.restore.row("restore it", "tar and gzip", at_most(250));
  restore.note = "on the disk; tar leaves that to the system";
  Row ratio{.what = "archive: bytes before to bytes after",
            .unit = "",
            .ours = single(measured.ratio),
            .baseline_name = "tar and gzip",
            .baseline = single(measured.tar.ratio)};
  return std::vector<Row>{archive, restore, ratio};
}

}  // namespace bmad_mem::bench
