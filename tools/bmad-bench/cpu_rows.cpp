// cpu_rows.cpp - what needs no disk: reading a log and checking every field of every line, the
// steps of a write and a read, the search for secrets.
//
// One call takes micro- or milliseconds and waits for nothing, so Google Benchmark is right for it.
// All rows are of CPU time: on a quiet machine it is that of the clock, and on a busy one this is
// the one that repeats.
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "corpus.hpp"
#include "machine.hpp"
#include "rows.hpp"

namespace bmad_mem::bench {
namespace {

/// Does something once, and says whether it came out right.
struct Timed {
  std::string name;
  std::function<bool()> call;
};

/// Keeps the seconds of CPU that a call took, by name and repetition, and prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration) {
        seconds[run.run_name.function_name].push_back(run.cpu_accumulated_time /
                                                      static_cast<double>(run.iterations));
      }
    }
  }

  std::map<std::string, Values> seconds;
};

/// Seconds of CPU a call, for each of `timed`: over as many repetitions, each of `seconds` at
/// least, those of all in random order, so that a slow second of the machine hits all alike.
std::vector<Values> measure(const std::vector<Timed>& timed, std::size_t repetitions,
                            double seconds) {
  std::string wrong;
  for ([[maybe_unused]] const Timed& each : timed) {
#ifndef __clang_analyzer__  // It cannot see that the library owns what is registered.
    benchmark::RegisterBenchmark(each.name.c_str(), [&each, &wrong](benchmark::State& state) {
      for (auto _ : state) {
        if (!each.call()) {
          wrong = each.name;  // What a Run says of it has other names in other versions.
          state.SkipWithError("the result is wrong");
          break;
        }
      }
    });
#endif
  }
  std::array<std::string, 4> arguments = {"bmad-bench",
                                          fmt::format("--benchmark_repetitions={}", repetitions),
                                          fmt::format("--benchmark_min_time={}", seconds),
                                          "--benchmark_enable_random_interleaving=true"};
  std::array<char*, 5> argv{};
  std::ranges::transform(arguments, argv.begin(), [](std::string& text) { return text.data(); });
  auto argc = static_cast<int>(arguments.size());
  benchmark::Initialize(&argc, argv.data());
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();
  if (!wrong.empty()) {
    throw Error{.message = fmt::format("{}: the result is wrong", wrong)};
  }
  std::vector<Values> all;
  for (const Timed& each : timed) {
    all.push_back(std::move(collector.seconds[each.name]));
  }
  return all;
}

Values scaled(Values values, double factor) {
  std::ranges::for_each(values, [&](double& value) { value *= factor; });
  return values;
}

/// Seconds to `amount` a second.
Values rates(Values seconds, double amount) {
  std::ranges::for_each(seconds, [&](double& value) { value = amount / value; });
  return seconds;
}

// Scanning: the cost of everything that reads all there is, such as `verify`, `stats`, and the
// answer to a query while no index exists.

constexpr std::uint64_t kLogBytes = 10'000'000;

CorpusReport fill_session(const Run& run, const char* label, std::optional<EntryType> only) {
  Corpus corpus(run.options.seed);
  return write_corpus(
      corpus, run.store.root,
      {.bytes = kLogBytes, .session_bytes = kLogBytes, .label = label, .only = only});
}

/// What must be read and looked at in any case: all bytes, and where the lines end.
std::uint64_t count_lines(const std::string& path, std::string& buffer) {
  std::ifstream file;
  file.rdbuf()->pubsetbuf(nullptr, 0);  // Straight into our buffer.
  file.open(path, std::ios::binary);
  std::uint64_t lines = 0;
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const char* const end = buffer.data() + file.gcount();
    for (const char* at = buffer.data();
         (at = static_cast<const char*>(
              std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr;
         ++at) {
      ++lines;
    }
  }
  return lines;
}

bool verifies(const MemoryManager& memory, const CorpusReport& written) {
  const Result<VerifyReport> report = memory.verify(written.sessions);
  return report && report->findings.empty() && report->lines == written.records;
}

}  // namespace

Rows scan_rows(const Run& run) {
  const CorpusReport messages = fill_session(run, "messages", EntryType::kConversation);
  const CorpusReport mixed = fill_session(run, "mixed", std::nullopt);
  const MemoryManager memory = run.store.open();
  const std::string& session = messages.sessions.front();
  const std::string log = run.store.session_file(session, "conversation.jsonl");
  std::string buffer(256U << 10U, '\0');
  const std::vector<Values> seconds =
      measure({{"lines", [&] { return count_lines(log, buffer) == messages.records; }},
               {"verify", [&] { return verifies(memory, messages); }},
               {"statistics",
                [&] {
                  const Result<SessionStatistics> found = memory.statistics(session);
                  return found && found->versions() == messages.records;
                }},
               {"verify_mixed", [&] { return verifies(memory, mixed); }}},
              run.times(15), run.seconds(0.1));
  const auto row = [&](const char* what, const Values& ours, const CorpusReport& written) {
    const double gigabytes = static_cast<double>(written.bytes) / 1e9;
    return Row(what, "GB/s", rates(ours, gigabytes))
        .beside("counting lines", rates(seconds[0], static_cast<double>(messages.bytes) / 1e9))
        .noting(fmt::format("{:.2f} ms of CPU for {} records, {} bytes in the page cache",
                            summarize(ours).median * 1e3, written.records, written.bytes));
  };
  Row verify = row("scan 10 MB log, all fields checked: verify()", seconds[1], messages);
  return Rows{verify.wants(at_least(0.8, 1.4)),
              row("scan 10 MB log: statistics()", seconds[2], messages),
              row("scan 10 MB of all types: verify()", seconds[3], mixed)};
}

namespace {

constexpr std::size_t kItems = 100;

/// Messages without id and time, as programs hand them over.
std::vector<std::string> bare_entries(std::uint64_t seed) {
  Corpus corpus(seed);
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < kItems; ++i) {
    const std::string line = corpus.next_of(EntryType::kConversation).line;
    // {"id":"...","timestamp":"...", and the rest
    entries.push_back('{' + line.substr(line.find(',', line.find("\"timestamp\"")) + 1));
  }
  return entries;
}

/// `step` for each of `items` in turn.
Timed each_of(const char* name, const std::vector<std::string>& items,
              std::function<bool(const std::string&)> step) {
  return {.name = name,
          .call = [&items, step = std::move(step)] { return std::ranges::all_of(items, step); }};
}

}  // namespace

Rows cpu_rows(const Run& run) {
  MemoryManager memory = run.store.open();
  const std::string session = must(memory.create_session({}));
  const std::vector<std::string> entries = bare_entries(run.options.seed);
  const std::vector<std::string> times(kItems, "2026-01-11T10:05:23.250Z");
  std::vector<std::string_view> lines(entries.begin(), entries.end());
  lines.emplace_back(R"({"role":"nobody","content":"x"})");
  JsonParser parser;
  const std::vector<Values> seconds = measure(
      {{"complete",
        // The last line is bad, and a batch is refused as a whole: nothing but the work
        // before the lock is measured, and nothing written.
        [&] {
          const auto report = memory.add_batch(session, EntryType::kConversation, lines);
          return !report && report.error().line == lines.size();
        }},
       each_of("parse", entries,
               [&](const std::string& text) { return parser.parse(text).has_value(); }),
       each_of("quote", entries,
               [](const std::string& text) { return !json_quoted(text).empty(); }),
       each_of("utf8", entries,
               [](const std::string& text) { return utf8_valid_size(text) == text.size(); }),
       each_of("time", times,
               [](const std::string& text) { return try_parse_rfc3339(text).has_value(); })},
      run.times(15), run.seconds(0.05));
  std::size_t bytes = 0;
  for (const std::string& entry : entries) {
    bytes += entry.size();
  }
  const auto row = [&](const char* what, std::size_t which) {
    return Row(what, "us", scaled(seconds[which], 1e6 / static_cast<double>(kItems)));
  };
  Row complete = row("CPU: parse, check and complete an entry", 0);
  return Rows{
      complete.noting(fmt::format("CPU time an entry, conversation entries of {} bytes on average",
                                  bytes / kItems)),
      row("CPU: parse that entry", 1), row("CPU: quote its text as JSON", 2),
      row("CPU: check its UTF-8", 3), row("CPU: read an RFC 3339 time", 4)};
}

namespace {

/// Texts on which patterns that go back and forth take for ever.
struct Hostile {
  std::string_view what;
  std::string_view piece;
};
constexpr auto kHostile = std::to_array<Hostile>({
    {"aaaa", "a"},
    {"spaces", " "},
    {"base64", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NTY3"},
    {"====", "="},
    {"sk-sk-", "sk-"},
    {"password=", "password="},
    {"eyJeyJ", "eyJ"},
    {"://", "://"},
    {"quotes", "\""},
    {"digits", "4111 "},
});

bool scan(const SecretScanner& scanner, std::string_view text) {
  const auto found = scanner.find(text);
  benchmark::DoNotOptimize(found.size());
  return true;
}

/// How much longer twice the text takes: 2 is linear.
Row hostile_row(const SecretScanner& scanner, const Hostile& hostile, std::size_t size) {
  std::string text;
  while (text.size() < 2 * size) {
    text += hostile.piece;
  }
  const std::string_view half = std::string_view(text).substr(0, text.size() / 2);
  std::vector<Values> seconds = measure({{"once", [&] { return scan(scanner, half); }},
                                         {"twice", [&] { return scan(scanner, text); }}},
                                        3, 0.001);
  Values ratios = seconds[1];
  std::ranges::transform(ratios, seconds[0], ratios.begin(), std::divides());
  return Row(fmt::format("twice as much of {}", hostile.what), "", ratios)
      .wants(at_most(2.2))
      .noting(fmt::format("{:.1f} MB in {:.2f} s", 1e-6 * static_cast<double>(text.size()),
                          std::ranges::max(seconds[1])));
}

}  // namespace

Rows redact_rows(const Run& run) {
  constexpr std::size_t kTextSize = 400;
  const SecretScanner scanner;
  const auto size = static_cast<std::size_t>(5e6 * std::clamp(run.options.effort, 0.02, 1.0));
  std::string prose;
  std::string lines;
  Corpus corpus(run.options.seed);
  while (prose.size() < 2 * size) {
    const CorpusEntry entry = corpus.next_of(EntryType::kConversation);
    prose.append(entry.text).append("\n");
    if (lines.size() < 2 * size) {
      lines.append(entry.line).append("\n");
    }
  }
  std::size_t at = 0;
  const std::vector<Values> seconds =
      measure({{"prose", [&] { return scan(scanner, prose); }},
               {"lines", [&] { return scan(scanner, lines); }},
               {"text",
                [&] {
                  at = (at + kTextSize) % (prose.size() - kTextSize);
                  return scan(scanner, std::string_view(prose).substr(at, kTextSize));
                }}},
              run.times(10), run.seconds(0.05));
  Rows rows = {Row("messages of the corpus, all rules", "MB/s",
                   rates(seconds[0], static_cast<double>(prose.size()) / 1e6))
                   .wants(at_least(100)),
               Row("the same as lines of JSON", "MB/s",
                   rates(seconds[1], static_cast<double>(lines.size()) / 1e6)),
               Row(fmt::format("one text of {} bytes", kTextSize), "us", scaled(seconds[2], 1e6))
                   .wants(at_most(20))};
  for (const Hostile& hostile : kHostile) {
    Row row = hostile_row(scanner, hostile, size);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace bmad_mem::bench
