// encoder_rows.cpp - how fast and how exact the encoder is. Its insides are measured by the program
// that makes its weights, bmad_encoder_maker, with each kind of arithmetic that this processor has.
#include <cstdlib>
#include <filesystem>

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
      from_environment("BMAD_SHARED_DATA", run.helpers + "/../../../shared/data") +
      "/encoder/reference.jsonl";
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

}  // namespace bmad_mem::bench
