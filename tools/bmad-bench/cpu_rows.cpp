// cpu_rows.cpp - the steps of a write and a read that need no disk, through the public headers.
#include <functional>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "corpus.hpp"
#include "google_run.hpp"
#include "store_rows.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kEntries = 100;

/// Entries of one type without id and time, as programs hand them over.
std::vector<std::string> bare_entries(std::uint64_t seed) {
  Corpus corpus(seed);
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const std::string line = corpus.next_of(EntryType::kConversation).line;
    // {"id":"...","timestamp":"...", and the rest
    const std::size_t rest = line.find(',', line.find("\"timestamp\"")) + 1;
    entries.push_back('{' + line.substr(rest));
  }
  return entries;
}

/// Completes and checks a hundred good entries, and writes none of them: the last line of the batch
/// is bad, and a batch is refused as a whole. So nothing but the work before the lock is measured.
void register_complete(MemoryManager& memory, const std::vector<std::string>& entries,
                       const std::string& session) {
  register_benchmark("complete", [&](benchmark::State& state) {
    std::vector<std::string_view> lines(entries.begin(), entries.end());
    lines.emplace_back(R"({"role":"nobody","content":"x"})");
    for (auto _ : state) {
      const Result<BatchReport> report = memory.add_batch(session, EntryType::kConversation, lines);
      if (report || report.error().line != lines.size()) {
        state.SkipWithError("another line than the last one was refused");
        break;
      }
    }
  });
}

/// `step` for each of `items` in turn.
void register_each(const char* name, const std::vector<std::string>& items,
                   const std::function<bool(const std::string&)>& step) {
  register_benchmark(name, [&items, step](benchmark::State& state) {
    for (auto _ : state) {
      for (const std::string& item : items) {
        if (!step(item)) {
          state.SkipWithError("an item was refused");
          return;
        }
      }
    }
  });
}

Row cpu_row(std::string what, const Measured& measured) {
  const auto scaled = [](double seconds) { return seconds * 1e6 / static_cast<double>(kEntries); };
  Row row{.what = std::move(what),
          .unit = "us",
          .ours = {.median = scaled(measured.cpu_seconds.median),
                   .low = scaled(measured.cpu_seconds.low),
                   .high = scaled(measured.cpu_seconds.high),
                   .count = measured.cpu_seconds.count}};
  return row;
}

}  // namespace

Result<std::vector<Row>> cpu_rows(const StoreRun& run) {
  BMAD_TRY_ASSIGN(MemoryManager memory, run.store.open());
  BMAD_TRY_ASSIGN(const std::string session, run.store.new_session());
  const std::vector<std::string> entries = bare_entries(run.store.seed());
  const std::vector<std::string> times(kEntries, "2026-01-11T10:05:23.250Z");
  JsonParser parser;
  register_complete(memory, entries, session);
  register_each("parse", entries,
                [&](const std::string& text) { return parser.parse(text).has_value(); });
  register_each("quote", entries,
                [](const std::string& text) { return json_quoted(text).size() > text.size(); });
  register_each("utf8", entries,
                [](const std::string& text) { return utf8_valid_size(text) == text.size(); });
  register_each("time", times,
                [](const std::string& text) { return try_parse_rfc3339(text).has_value(); });
  BMAD_TRY_ASSIGN(auto measured, run_registered(run.times(15), run.seconds(0.05)));
  std::size_t bytes = 0;
  for (const std::string& entry : entries) {
    bytes += entry.size();
  }
  Row complete = cpu_row("CPU: parse, check and complete an entry", measured["complete"]);
  complete.note = fmt::format("CPU time an entry, conversation entries of {} bytes on average",
                              bytes / kEntries);
  return std::vector<Row>{complete, cpu_row("CPU: parse that entry", measured["parse"]),
                          cpu_row("CPU: quote its text as JSON", measured["quote"]),
                          cpu_row("CPU: check its UTF-8", measured["utf8"]),
                          cpu_row("CPU: read an RFC 3339 time", measured["time"])};
}

}  // namespace bmad_mem::bench
