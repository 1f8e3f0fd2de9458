// redact_command.cpp - `bmad-bench redact`: how fast texts are searched for secrets, all rules on.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/privacy.hpp"
#include "commands.hpp"
#include "corpus.hpp"
#include "environment.hpp"
#include "report.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kEntrySize = 400;

/// Seconds of this process's time for one look at `text`.
double seconds_for(const SecretScanner& scanner, std::string_view text) {
  const double begin = cpu_seconds();
  static_cast<void>(scanner.find(text));
  return cpu_seconds() - begin;
}

Summary throughput(const SecretScanner& scanner, const std::string& text, int rounds) {
  std::vector<double> values;
  for (int round = 0; round < rounds; ++round) {
    values.push_back(static_cast<double>(text.size()) / seconds_for(scanner, text) / 1e6);
  }
  return summarize(values);
}

Row throughput_row(const SecretScanner& scanner, std::string what, const std::string& text,
                   int rounds, bool has_target) {
  Row row{.what = std::move(what), .unit = "MB/s", .ours = throughput(scanner, text, rounds)};
  if (has_target) {
    row.target = {.of = TargetOf::kOurs, .better = Better::kHigher, .required = 100};
  }
  return row;
}

/// What entries of the corpus say, one after another, and their lines.
struct Texts {
  std::string prose;
  std::string lines;
};

Texts make_texts(std::uint64_t seed, std::size_t size) {
  Texts texts;
  Corpus corpus(seed);
  JsonParser parser;
  while (texts.prose.size() < size) {
    const CorpusEntry entry = corpus.next_of(EntryType::kConversation);
    const Result<JsonValue> value = parser.parse(entry.line);
    texts.prose.append(value ? (*value)["content"].string() : "").append("\n");
    if (texts.lines.size() < size) {
      texts.lines.append(entry.line).append("\n");
    }
  }
  return texts;
}

Row entry_row(const SecretScanner& scanner, const std::string& prose, int rounds) {
  constexpr int kEntries = 2000;
  std::vector<double> values;
  for (int round = 0; round < rounds; ++round) {
    const double begin = cpu_seconds();
    for (std::size_t i = 0; i < kEntries; ++i) {
      const std::size_t at = i * kEntrySize % (prose.size() - kEntrySize);
      static_cast<void>(scanner.find(std::string_view(prose).substr(at, kEntrySize)));
    }
    values.push_back((cpu_seconds() - begin) / kEntries * 1e6);
  }
  return {.what = fmt::format("one text of {} bytes", kEntrySize),
          .unit = "us",
          .ours = summarize(values),
          .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 20}};
}

struct Hostile {
  std::string_view what;
  std::string_view piece;
};

/// Texts on which patterns that go back and forth take for ever.
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

std::string repeated(std::string_view piece, std::size_t size) {
  std::string text;
  text.reserve(size + piece.size());
  while (text.size() < size) {
    text += piece;
  }
  return text;
}

/// How much longer twice the text takes: 2 is linear.
Row hostile_row(const SecretScanner& scanner, const Hostile& hostile, std::size_t size,
                int rounds) {
  const std::string once = repeated(hostile.piece, size);
  const std::string twice = repeated(hostile.piece, 2 * size);
  std::vector<double> ratios;
  double slowest = 0;
  for (int round = 0; round < rounds; ++round) {
    const double first = seconds_for(scanner, once);
    const double second = seconds_for(scanner, twice);
    ratios.push_back(second / first);
    slowest = std::max(slowest, second);
  }
  return {.what = fmt::format("twice as much of {}", hostile.what),
          .unit = "",
          .ours = summarize(ratios),
          .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 2.2},
          .note = fmt::format("{:.1f} MB in {:.2f} s", 2e-6 * static_cast<double>(size), slowest)};
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

Result<bool> run_redact(const RedactOptions& options) {
  const Environment environment = environment_of(options.directory);
  std::fputs("measuring redact: texts, an entry, and what is meant to be slow ...\n", stderr);
  const SecretScanner scanner;
  const int rounds = std::max(3, static_cast<int>(10 * options.effort));
  const auto size = static_cast<std::size_t>(5e6 * std::clamp(options.effort, 0.02, 1.0));
  const Texts texts = make_texts(options.seed, 2 * size);
  std::vector<Row> rows = {
      throughput_row(scanner, "messages of the corpus, all rules", texts.prose, rounds, true),
      throughput_row(scanner, "the same as lines of JSON", texts.lines, rounds, false),
      entry_row(scanner, texts.prose, rounds),
  };
  for (const Hostile& hostile : kHostile) {
    rows.push_back(hostile_row(scanner, hostile, size, 3));
  }
  if (options.json) {
    JsonWriter json;
    json.begin_object().key("environment");
    write_environment(json, environment);
    json.member("seed", options.seed).member("effort", options.effort).key("rows");
    write_rows(json, rows);
    print(json_pretty(json.end_object().text()) + '\n');
  } else {
    print(environment_text(environment) + '\n' + table_text(rows));
  }
  return true;
}

}  // namespace bmad_mem::bench
