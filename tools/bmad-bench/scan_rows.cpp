// scan_rows.cpp - reading a log of ten million bytes and checking every field of every line.
//
// This is the cost of everything that reads all there is: `verify`, `stats`, and the answer to a
// query while no index exists. It needs no disk once the log lies in the page cache, and one call
// takes milliseconds, so Google Benchmark is right for it.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bmad_mem/memory_manager.hpp"
#include "corpus_writer.hpp"
#include "google_run.hpp"
#include "store_rows.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::uint64_t kBytes = 10'000'000;

/// One session with ten million bytes.
struct Scanned {
  std::string session;
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
};

Result<Scanned> fill_session(const StoreRun& run, const std::string& label,
                             std::optional<EntryType> only) {
  Corpus corpus(run.store.seed());
  BMAD_TRY_ASSIGN(
      const CorpusReport report,
      write_corpus(corpus, run.store.root(),
                   {.bytes = kBytes, .session_bytes = kBytes, .label = label, .only = only}));
  return Scanned{
      .session = report.sessions.front(), .bytes = report.bytes, .records = report.records};
}

/// What must be read and looked at in any case: all bytes, and where the lines end.
Result<std::uint64_t> count_lines(const std::string& path, std::string& buffer) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return system_error("open", path);
  }
  std::uint64_t lines = 0;
  ssize_t size = 0;
  while ((size = ::read(file, buffer.data(), buffer.size())) > 0) {
    const char* at = buffer.data();
    const char* const end = at + size;
    while ((at = static_cast<const char*>(
                std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr) {
      ++lines;
      ++at;
    }
  }
  ::close(file);
  return lines;
}

void register_verify(const char* name, const MemoryManager& memory, const Scanned& scanned) {
  register_benchmark(name, [&memory, &scanned](benchmark::State& state) {
    for (auto _ : state) {
      const Result<VerifyReport> report = memory.verify(std::span(&scanned.session, 1));
      if (!report || !report->findings.empty() || report->lines != scanned.records) {
        state.SkipWithError("verify found something wrong");
        break;
      }
    }
  });
}

void register_statistics(const char* name, const MemoryManager& memory, const Scanned& scanned) {
  register_benchmark(name, [&memory, &scanned](benchmark::State& state) {
    for (auto _ : state) {
      const Result<SessionStatistics> statistics = memory.statistics(scanned.session);
      if (!statistics || statistics->versions() != scanned.records) {
        state.SkipWithError("statistics counted wrong");
        break;
      }
    }
  });
}

void register_line_count(const char* name, const std::string& path, const Scanned& scanned) {
  register_benchmark(name, [path, &scanned](benchmark::State& state) {
    std::string buffer(256U << 10U, '\0');
    for (auto _ : state) {
      const Result<std::uint64_t> lines = count_lines(path, buffer);
      if (!lines || *lines != scanned.records) {
        state.SkipWithError("the lines were counted wrong");
        break;
      }
    }
  });
}

/// Seconds to GB/s; the fastest tenth of the times is the highest tenth of the rates.
Summary rate_of(const Summary& seconds, std::uint64_t bytes) {
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  return {.median = gigabytes / seconds.median,
          .low = gigabytes / seconds.high,
          .high = gigabytes / seconds.low,
          .count = seconds.count};
}

/// By CPU time: one thread that never waits, so on a quiet machine the two times are one, and on a
/// busy one this is the one that repeats.
Row scan_row(std::string what, const Scanned& scanned, const Measured& ours,
             const Measured& lines) {
  Row row{.what = std::move(what),
          .unit = "GB/s",
          .ours = rate_of(ours.cpu_seconds, scanned.bytes),
          .baseline_name = "counting lines",
          .baseline = rate_of(lines.cpu_seconds, scanned.bytes),
          .ratio = single(lines.cpu_seconds.median / ours.cpu_seconds.median)};
  row.note = fmt::format(
      "{:.2f} ms of CPU for {} records, {} bytes in the page cache; by wall clock {:.2f} GB/s",
      ours.cpu_seconds.median * 1e3, scanned.records, scanned.bytes,
      rate_of(ours.wall_seconds, scanned.bytes).median);
  return row;
}

}  // namespace

Result<std::vector<Row>> scan_rows(const StoreRun& run) {
  BMAD_TRY_ASSIGN(const Scanned messages, fill_session(run, "messages", EntryType::kConversation));
  BMAD_TRY_ASSIGN(const Scanned mixed, fill_session(run, "mixed", std::nullopt));
  BMAD_TRY_ASSIGN(const MemoryManager memory, run.store.open());
  register_line_count("lines", run.store.session_file(messages.session, "conversation.jsonl"),
                      messages);
  register_verify("verify", memory, messages);
  register_statistics("statistics", memory, messages);
  register_verify("verify_mixed", memory, mixed);
  BMAD_TRY_ASSIGN(auto measured, run_registered(run.times(15), run.seconds(0.1)));
  const Measured& lines = measured["lines"];
  Row verify =
      scan_row("scan 10 MB log, all fields checked: verify()", messages, measured["verify"], lines);
  verify.target = Target{.of = TargetOf::kOurs, .required = 0.8, .aim = 1.4};
  return std::vector<Row>{
      verify,
      scan_row("scan 10 MB log: statistics()", messages, measured["statistics"], lines),
      scan_row("scan 10 MB of all types: verify()", mixed, measured["verify_mixed"], lines),
  };
}

}  // namespace bmad_mem::bench
