// encoder_rows.cpp - how fast and how exact the encoder is. Its insides are measured by the program
// that makes its weights, bmad_encoder_maker, with each kind of arithmetic that this processor has.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "machine.hpp"
#include "rows.hpp"

namespace bmad_mem::bench {
namespace {

std::string from_environment(const char* name, std::string otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : std::move(otherwise);
}

Values values_of(JsonValue array) {
  Values values;
  for (const JsonValue value : array.elements()) {
    values.push_back(value.number());
  }
  return values;
}

/// Of the fastest arithmetic: held against what is wanted.
Rows wanted_rows(JsonValue measured) {
  constexpr double kEntries = 100'000;
  constexpr double kMillisecondsAMinute = 60'000;
  const std::string with = fmt::format("with {}, CPU time", measured["kernels"].string());
  const Values long_times = values_of(measured["long_ms"]);
  Values minutes = long_times;
  for (double& value : minutes) {
    value *= kEntries / kMillisecondsAMinute;
  }
  Rows rows;
  rows.push_back(Row(fmt::format("one text, {} pieces", measured["short_pieces"].integer()), "ms",
                     values_of(measured["short_ms"]))
                     .wants(at_most(3, 1))
                     .noting(with));
  rows.push_back(
      Row(fmt::format("one text, 60 words, {} pieces", measured["long_pieces"].integer()), "ms",
          long_times)
          .wants(at_most(3.6, 1.2))
          .noting(with));
  rows.push_back(Row("100,000 texts of 60 words, one core", "min", minutes).wants(at_most(6, 2)));
  rows.push_back(
      Row("opening the weights and encoding one text", "ms", values_of(measured["open_ms"]))
          .wants(at_most(12, 5)));
  if (measured["texts"].present()) {
    const std::string note =
        fmt::format("{} texts, {} of them with other pieces", measured["texts"].integer(),
                    measured["other_pieces"].integer());
    rows.push_back(Row("cosine with the reference, worst", "", {measured["worst_cosine"].number()})
                       .wants(at_least(0.995, 0.999))
                       .noting(note));
    rows.push_back(Row("cosine with the reference, mean", "", {measured["mean_cosine"].number()})
                       .wants(at_least(0.995, 0.999)));
  }
  return rows;
}

}  // namespace

Rows encoder_rows(const Run& run) {
  const std::string maker = run.helpers + "/bmad_encoder_maker";
  const std::string weights = from_environment("BMAD_MEM_ENCODER", run.helpers + "/encoder.bmw");
  ensure(std::filesystem::exists(maker) && std::filesystem::exists(weights),
         "there are no weights to measure; ./dev encoder makes them", weights);
  const std::string reference =
      from_environment("BMAD_SHARED_DATA", ".") + "/encoder/reference.jsonl";
  Arguments arguments = {maker, "measure", weights};
  if (std::filesystem::exists(reference)) {
    arguments.push_back(reference);
  }
  const std::string lines = output_of(arguments);
  Rows rows;
  JsonParser parser;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const JsonValue measured = must(parser.parse(std::string_view(lines).substr(at, end - at)));
    if (at == 0) {
      rows = wanted_rows(measured);
    } else {
      rows.emplace_back(fmt::format("one text, 60 words, with {}", measured["kernels"].string()),
                        "ms", values_of(measured["long_ms"]));
    }
    at = end + 1;
  }
  return rows;
}

namespace {

/// A memory of many entries that all have vectors, asked with and without them.
class MeaningRows {
 public:
  MeaningRows(const Run& run, std::uint64_t entries) : run_(run) {
    constexpr std::uint64_t kEntryBytes = 590;
    constexpr std::uint64_t kSessions = 200;
    const std::uint64_t bytes = entries * kEntryBytes;
    const std::string folder = run.options.keep.empty() ? run.folder : run.options.keep;
    run_.store = SearchStore::prepare(fmt::format("{}/encoded-{}", folder, entries),
                                      {.seed = run.options.seed,
                                       .bytes = bytes,
                                       .session_bytes = bytes / kSessions,
                                       .alone = true,
                                       .as_left = true});
  }

  Rows rows() {
    encode();
    ask_warm();
    ask_cold();
    return std::move(rows_);
  }

 private:
  [[nodiscard]] std::size_t count() const { return run_.store.ids.size(); }
  [[nodiscard]] bool is_large() const { return count() > 500'000; }

  Row& add(std::string_view what, std::string unit, Values values) {
    return rows_.emplace_back(fmt::format("{} entries: {}", count(), what), std::move(unit),
                              std::move(values));
  }

  void encode() {
    MemoryManager memory = run_.store.open();
    const auto begin = std::chrono::steady_clock::now();
    const EncodeReport report =
        must(memory.encode({.all = true}, [&](std::uint64_t done, std::uint64_t total) {
          if (done % 10'000 < 128) {
            tell(fmt::format("encoded {} of {}", done, total));
          }
        }));
    if (report.encoded > 0) {
      add("encoding, one thread", "ms an entry",
          {std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
               .count() /
           static_cast<double>(report.encoded)})
          .noting(fmt::format(
              "{} entries, {:.0f} bytes each", report.encoded,
              static_cast<double>(run_.store.log_bytes) / static_cast<double>(count())));
    }
    std::uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(run_.store.root + "/index")) {
      bytes += file.path().extension() == ".vec" ? file.file_size() : 0;
    }
    add("vectors", "bytes an entry",
        {static_cast<double>(bytes) / static_cast<double>(std::max<std::size_t>(1, count()))})
        .wants(at_most(96, 66));
  }

  void ask_warm() {
    const MemoryManager memory = run_.store.open();
    const auto ask = [&](std::size_t round, bool use_encoder) {
      return milliseconds([&] {
        must(memory.query({.text = joined(run_.store.words(round)),
                           .filter = {.limit = kSearchDepth},
                           .use_encoder = use_encoder}));
      });
    };
    const std::vector<Values> times =
        in_turn({{"meaning", [&](std::size_t round) { return ask(round, true); }},
                 {"words alone", [&](std::size_t round) { return ask(round, false); }}},
                run_.times(200), 20);
    add_above("query, warm", times, is_large() ? at_most(15, 6) : at_most(2, 0.7));
  }

  void ask_cold() {
    const auto call = [this](std::size_t round) {
      return run_.call({"query", joined(run_.store.words(round)), "--limit", "20"});
    };
    const std::vector<Values> times = in_turn(
        {process_step("meaning", call), process_step("words alone",
                                                     [&](std::size_t round) {
                                                       Arguments arguments = call(round);
                                                       arguments.emplace_back("--no-encoder");
                                                       return arguments;
                                                     })},
        run_.times(40), 3);
    add_above("query, a whole process", times, at_most(12, 5));
  }

  /// What the first takes more than the second, round by round.
  void add_above(std::string_view what, const std::vector<Values>& times, Target target) {
    Values above;
    for (std::size_t i = 0; i < times[0].size(); ++i) {
      above.push_back(times[0][i] - times[1][i]);
    }
    add(fmt::format("{}, above words alone", what), "ms", std::move(above))
        .wants(target)
        .noting(fmt::format("{:.2f} ms with meaning, {:.2f} ms by words alone, medians",
                            percentile(times[0], 0.5), percentile(times[1], 0.5)));
  }

  Run run_;
  Rows rows_;
};

}  // namespace

Rows meaning_rows(const Run& run) {
  Rows rows;
  std::vector<std::uint64_t> sizes = {100'000};
  if (run.options.large) {
    sizes.push_back(1'000'000);
  }
  for (const std::uint64_t entries : sizes) {
    const auto count = static_cast<std::uint64_t>(static_cast<double>(entries) *
                                                  std::min(1.0, run.options.effort));
    std::ranges::move(MeaningRows(run, count).rows(), std::back_inserter(rows));
  }
  return rows;
}

}  // namespace bmad_mem::bench
