// lifecycle_rows.cpp - compaction, deletion, archives and maintenance, on copies of one full
// session.
//
//   begin ---- plan ---- .lock.json ---- archive, rewrite ---- manifest.json ---- index ---- end
//
// Nothing here knows the engine's inside. The lock's information is written when the lock is taken,
// the manifest is the last that is written under it: the times of the two files tell the parts.
//
// The baseline is what nothing can do without that looks at every entry and writes the logs anew:
// all lines parsed, one write of their bytes, one sync. No decision, no archive, no index.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "machine.hpp"
#include "rows.hpp"
#include "workers.hpp"

namespace bmad_mem::bench {
namespace {

std::string logs_of(const StoreCopy& copy) {
  std::string all;
  for (const EntryType type : kEntryTypes) {  // Some logs are made on first use.
    std::ifstream log(copy.file(entry_type_info(type).log_file), std::ios::binary);
    all.append(std::istreambuf_iterator<char>(log), {});
  }
  ensure(!all.empty(), "there are no logs", copy.root);
  return all;
}

void parse_lines(std::string& logs) {
  JsonParser parser;
  const std::size_t size = logs.size();
  logs.append(kJsonPadding, ' ');
  for (std::size_t begin = 0; begin < size;) {
    const std::size_t end = logs.find('\n', begin);
    ensure(parser.try_parse_padded(std::string_view(logs).substr(begin, end - begin)).has_value(),
           "a line cannot be parsed");
    begin = end + 1;
  }
  logs.resize(size);
}

void write_durably(const std::string& path, std::string_view bytes) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    ensure(written > 0, "cannot write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  ensure(::fsync(file.get()) == 0, "cannot sync", path);
  ::unlink(path.c_str());
}

constexpr const char* kRaw = "parse, write, sync";

/// Milliseconds of the baseline; `parse`: those of its first part, reading from the page cache.
double rewrite_raw(const StoreCopy& copy, Values* parse = nullptr) {
  const double begin = wall_seconds();
  std::string logs = logs_of(copy);
  parse_lines(logs);
  if (parse != nullptr) {
    parse->push_back((wall_seconds() - begin) * 1e3);
  }
  write_durably(copy.root + "/rewritten.raw", logs);
  return (wall_seconds() - begin) * 1e3;
}

double milliseconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// The present in what the times of files are counted in.
double file_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return milliseconds_of(now);
}

/// When the file was written or put there by a rename. A kernel may round it down to a tick, which
/// is 4 ms at most.
double changed_at(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    throw system_error("look at", path);
  }
  return milliseconds_of(status.st_ctim);
}

}  // namespace

/// Values by what they are of.
using Series = std::map<std::string, Values>;

Rows compact_rows(const Run& run) {
  // A third as fast is three times as long.
  constexpr Target kTarget = ratio_at_least(0.333, 0.667);
  Series of;
  CompactionReport last;
  for (std::size_t i = 0; i < run.times(11); ++i) {
    const StoreCopy copy(run.store, run.folder + "/copy");
    MemoryManager memory = copy.open();
    of["raw"].push_back(rewrite_raw(copy, &of["parse"]));
    const double begin = file_clock();
    const double took = milliseconds([&] { last = must(memory.compact(copy.session())); });
    const double lock = changed_at(copy.file(".lock.json")) - begin;
    const double release = changed_at(copy.file("manifest.json")) - begin;
    ensure(last.evicted > 0, "a compaction of a full session evicted nothing");
    of["all"].push_back(took);
    of["plan"].push_back(lock);
    of["locked"].push_back(release - lock);
    of["until released"].push_back(release);
    of["index"].push_back(took - release);
  }
  return Rows{Row("compact a full session", "ms", of["all"])
                  .beside(kRaw, of["raw"])
                  .wants(kTarget)
                  .noting(fmt::format(
                      "{} compactions of fresh copies; {} entries before, {} after, {} "
                      "evicted, {} superseded, {} repeated; raw: every line parsed in "
                      "{:.1f} ms, the rest is one write of all logs and a sync",
                      of["all"].size(), last.entries_before, last.entries_after, last.evicted,
                      last.superseded, last.duplicates, percentile(of["parse"], 0.5))),
              Row("compact without the index", "ms", of["until released"])
                  .beside(kRaw, of["raw"])
                  .wants(kTarget)
                  .noting("until the lock is given back; told by the times of two files"),
              Row("compact: its plan, nothing locked", "ms", of["plan"]),
              Row("compact: archive and rewrite, locked", "ms", of["locked"]),
              Row("compact: the index, nothing locked", "ms", of["index"])};
}

Rows delete_rows(const Run& run) {
  constexpr std::size_t kIds = 100;
  Series of;
  for (std::size_t i = 0; i < run.times(11); ++i) {
    const StoreCopy copy(run.store, run.folder + "/copy");
    MemoryManager memory = copy.open();
    std::vector<std::string> ids;  // Spread evenly over the session.
    for (std::size_t id = 0; id < kIds; ++id) {
      ids.push_back(run.store.ids[id * run.store.ids.size() / kIds]);
    }
    of["raw"].push_back(rewrite_raw(copy));
    DeletionReport report;
    const double begin = file_clock();
    of["all"].push_back(milliseconds(
        [&] { report = must(memory.delete_entries({.ids = ids, .sessions = {copy.session()}})); }));
    // The last that is written before the lock is given back.
    of["until released"].push_back(changed_at(copy.file("audit.jsonl")) - begin);
    ensure(report.entries == kIds,
           fmt::format("{} of {} entries were deleted", report.entries, kIds));
  }
  return Rows{Row("delete 100 ids from it", "ms", of["all"])
                  .beside(kRaw, of["raw"])
                  .wants(ratio_at_least(0.667, 1))
                  .noting(fmt::format("{} times, each from a fresh copy; they can be brought back",
                                      of["all"].size())),
              Row("delete without the index", "ms", of["until released"])};
}

namespace {

/// What tar and gzip make of the same folder. It neither reads back what it wrote nor waits for the
/// disk.
struct TarCost {
  double pack_ms = 0;
  double unpack_ms = 0;
  double ratio = 0;  ///< Of sizes, unpacked to packed.
};

TarCost run_tar(const StoreCopy& copy) {
  constexpr const char* kTar = "/bin/tar";
  constexpr const char* kGzip = "--use-compress-program=/bin/gzip";
  const std::string archive = copy.root + "/tar.tar.gz";
  const std::string target = copy.root + "/tar.out";
  std::filesystem::create_directories(target);
  // What our archive leaves out.
  const double pack = run_process({kTar, kGzip, "--exclude=index.json", "--exclude=.lock*", "-cf",
                                   archive, "-C", copy.root + "/sessions", copy.session()});
  const double unpack = run_process({kTar, kGzip, "-xf", archive, "-C", target});
  const auto bytes = static_cast<double>(bytes_in(target + '/' + copy.session()));
  const TarCost cost{.pack_ms = pack,
                     .unpack_ms = unpack,
                     .ratio = bytes / static_cast<double>(std::filesystem::file_size(archive))};
  std::filesystem::remove_all(target);
  std::filesystem::remove(archive);
  return cost;
}

}  // namespace

Rows archive_rows(const Run& run) {
  constexpr const char* kTarName = "tar and gzip";
  Series of;
  TarCost tar;
  ArchiveReport last;
  for (std::size_t i = 0; i < run.times(11); ++i) {
    const StoreCopy copy(run.store, run.folder + "/copy");
    tar = run_tar(copy);
    MemoryManager memory = copy.open();
    of["pack"].push_back(
        milliseconds([&] { last = must(memory.archive_session(copy.session())); }));
    of["unpack"].push_back(milliseconds([&] { must(memory.restore_session(copy.session())); }));
    of["tar pack"].push_back(tar.pack_ms);
    of["tar unpack"].push_back(tar.unpack_ms);
    const SessionStatistics statistics = must(memory.statistics(copy.session()));
    ensure(statistics.entries() == run.store.ids.size(),
           fmt::format("{} of {} entries came back", statistics.entries(), run.store.ids.size()));
  }
  const double ratio =
      static_cast<double>(last.original_bytes) / static_cast<double>(last.compressed_bytes);
  return Rows{
      Row("archive it", "ms", of["pack"])
          .beside(kTarName, of["tar pack"])
          .wants(at_most(400))
          .noting(fmt::format("{} times; {} files of {} bytes to {} bytes, read back and on the "
                              "disk; {} entries stay searchable",
                              of["pack"].size(), last.files, last.original_bytes,
                              last.compressed_bytes, last.kept)),
      Row("restore it", "ms", of["unpack"])
          .beside(kTarName, of["tar unpack"])
          .wants(at_most(250))
          .noting("on the disk; tar leaves that to the system"),
      Row("archive: bytes before to bytes after", "", {ratio}).beside(kTarName, {tar.ratio})};
}

Rows maintain_rows(const Run& run) {
  const std::size_t sessions = run.options.effort < 0.1 ? 20 : 1000;
  Run many = run;
  many.store.root = run.folder + "/sessions";
  must(MemoryManager::init(many.store.root));
  {
    MemoryManager memory = many.store.open();
    for (std::size_t i = 0; i < sessions; ++i) {
      const std::string session =
          must(memory.create_session({.session_id = fmt::format("session-{:04}", i)}));
      must(memory.add_event(session, {.kind = "note", .content = "Nothing is due here."}));
    }
  }
  Arguments maintain = many.call({"maintain", "--auto"});
  run_process(maintain);  // Does what is due.
  const std::vector<Values> times = above_empty(
      many, {process_step("maintain", [&](std::size_t) { return maintain; })}, run.times(200));
  return Rows{Row(fmt::format("`bmad-mem maintain --auto`, nothing due, {} sessions", sessions),
                  "ms", times[0])
                  .wants(at_most(15))
                  .noting(fmt::format("{} processes, above an empty C program", times[0].size()))};
}

// Who waits for a compaction: three processes on one session.
//
//   reader   query  query  query |query  query ...                query| query
//   writer   append append append|append                        append| append
//   third                        |<---------- compact() ------------->|
//
// Reader and writer pause for a millisecond between calls: three that never rest on two cores wait
// for each other whatever the engine does.
namespace {

enum Phase : int { kBefore, kDuring, kAfter };

/// Calls `step` until the compaction is over. The result: how many calls ran at any time of it, the
/// milliseconds of the slowest of these, and of the slowest before.
void repeat_until_after(const Worker& worker, const std::function<void()>& step) {
  WorkerResult& result = worker.result;
  while (worker.shared.phase != kAfter) {
    const double took = milliseconds(step);
    if (worker.shared.phase == kBefore) {
      result.other = std::max(result.other, took);
    } else {
      result.longest = std::max(result.longest, took);
      ++result.count;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// The result: the milliseconds of the compaction.
void compact_meanwhile(Worker& worker, const StoreCopy& copy) {
  MemoryManager memory = copy.open();
  worker.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  worker.shared.phase = kDuring;
  const auto over = [&](void*) { worker.shared.phase = kAfter; };
  // Also when it fails: the others wait for that.
  const std::unique_ptr<void, decltype(over)> at_end(&worker, over);
  worker.result.longest = milliseconds([&] { must(memory.compact(copy.session())); });
}

void read_meanwhile(Worker& worker, const StoreCopy& copy, const SearchStore& store) {
  const MemoryManager memory = copy.open();
  std::size_t next = 0;
  const auto query = [&]() {
    must(memory.query(text_query(store.words(next++), TextRanking::kContext)));
  };
  query();
  worker.start();
  repeat_until_after(worker, query);
}

void write_meanwhile(Worker& worker, const StoreCopy& copy) {
  MemoryManager memory = copy.open();
  const auto append = [&]() {
    must(memory.add_conversation(copy.session(),
                                 {.role = "user",
                                  .content = "Does somebody wait while the session is compacted?",
                                  .agent_id = "builder"}));
  };
  append();
  worker.start();
  repeat_until_after(worker, append);
}

}  // namespace

Rows race_rows(const Run& run) {
  struct Side {
    const char* what;
    const char* calls;
    Values during = {};
    Values before = {};
    std::uint64_t count = 0;
  };
  Side sides[] = {{"a reader's slowest query during a compaction", "queries"},
                  {"a writer's slowest append during a compaction", "appends"}};
  Values compaction;
  for (std::size_t i = 0; i < run.times(7); ++i) {
    const StoreCopy copy(run.store, run.folder + "/copy");
    const std::vector<WorkerResult> results =
        run_workers({[&](Worker& worker) { read_meanwhile(worker, copy, run.store); },
                     [&](Worker& worker) { write_meanwhile(worker, copy); },
                     [&](Worker& worker) { compact_meanwhile(worker, copy); }});
    for (std::size_t side = 0; side < std::size(sides); ++side) {
      sides[side].during.push_back(results[side].longest);
      sides[side].before.push_back(results[side].other);
      sides[side].count += results[side].count;
    }
    compaction.push_back(results.back().longest);
  }
  Rows rows;
  for (const Side& side : sides) {
    rows.push_back(
        Row(side.what, "ms", side.during)
            .beside("compact()", compaction)
            .wants(ratio_at_least(1))
            .noting(fmt::format("the slowest of {} {} each time, {} times; before it {:.1f} ms",
                                side.count / side.during.size(), side.calls, side.during.size(),
                                percentile(side.before, 0.5))));
  }
  return rows;
}

}  // namespace bmad_mem::bench
