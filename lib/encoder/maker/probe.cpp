// probe.cpp - bmad_encoder_probe: measures the encoder, and gives what a projection is made of.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "lite_model.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem::encoder {
namespace {

constexpr std::uint64_t kInputMax = 64U << 20U;

/// Writes the 512 floats of each text in a file, one a line, as projections are made of.
Status write_sentences(std::span<const std::string> arguments) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<LiteModel> model, LiteModel::open(arguments[0]));
  BMAD_TRY_ASSIGN(const std::string lines, read_outside_file(arguments[1], kInputMax));
  std::ofstream out(arguments[2], std::ios::binary);
  for (std::string_view rest = lines; !rest.empty();) {
    const PieceNumbers pieces = model->tokenizer().pieces_of(take_line(rest));
    const std::vector<float> sentence = model->sentences({&pieces, 1});
    out.write(reinterpret_cast<const char*>(sentence.data()),
              static_cast<std::streamsize>(sentence.size() * sizeof(float)));
  }
  out.close();
  return out ? Status{} : Status{posix_error(errno, "write", arguments[2])};
}

constexpr std::size_t kRounds = 20;

/// 13 pieces.
constexpr std::string_view kShortText = "A scanner that needs nothing but itself can not starve.";
/// 60 words.
constexpr std::string_view kLongText =
    "We moved the nightly export to the second worker because the first one ran out of memory each "
    "time the customer list grew, and nobody noticed before Monday. Please keep an eye on the disk "
    "there, write the result into the shared folder, tell Anna when it is done, and remember that "
    "the old job has to stay off until the audit is over.";

double cosine(std::span<const double> ours, std::span<const double> theirs) {
  const auto product = [](std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  return product(ours, theirs) / std::sqrt(product(ours, ours) * product(theirs, theirs));
}

/// Of one thread, so that a busy machine changes little.
template <typename Call>
double cpu_milliseconds(const Call& call) {
  constexpr double kMilli = 1e3;
  const std::clock_t begin = std::clock();
  call();
  return kMilli * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Milliseconds that `text` takes alone.
void write_times(JsonWriter& json, std::string_view name, LiteModel& model,
                 const std::string& text) {
  constexpr std::size_t kTimes = 10;  // A clock of microseconds is coarse for one.
  json.key(name).begin_array();
  for (std::size_t round = 0; round < kRounds; ++round) {
    const double taken = cpu_milliseconds([&] {
      for (std::size_t time = 0; time < kTimes; ++time) {
        static_cast<void>(model.encode({&text, 1}, {}));
      }
    });
    json.real(taken / kTimes);
  }
  json.end_array();
}

Status write_exactness(JsonWriter& json, const LiteModel& model, const std::string& reference) {
  constexpr std::uint64_t kReferenceMax = 16U << 20U;
  BMAD_TRY_ASSIGN(const std::string lines, read_outside_file(reference, kReferenceMax));
  std::int64_t texts = 0;
  std::int64_t other_pieces = 0;
  std::vector<double> cosines;
  JsonParser parser;
  for (std::string_view rest = lines; !rest.empty(); ++texts) {
    BMAD_TRY_ASSIGN(const JsonValue line, parser.parse(take_line(rest)));
    PieceNumbers expected;
    for (const JsonValue piece : line["pieces"].elements()) {
      expected.push_back(static_cast<std::uint32_t>(piece.integer()));
    }
    const PieceNumbers pieces = model.tokenizer().pieces_of(line["text"].string());
    other_pieces += pieces == expected ? 0 : 1;
    const std::vector<double> vector =
        mapped(line["vector"].elements(), [](JsonValue number) { return number.number(); });
    const std::vector<float> numbers = model.sentences({&pieces, 1});
    const std::vector<double> sentence(numbers.begin(), numbers.end());
    if (!pieces.empty() && vector.size() == sentence.size()) {
      cosines.push_back(cosine(sentence, vector));
    }
  }
  if (cosines.empty()) {
    return path_error(ErrorCode::E_INVALID_FORMAT, reference, "has no text to compare with");
  }
  const double sum = std::accumulate(cosines.begin(), cosines.end(), 0.0);
  json.member("texts", texts).member("other_pieces", other_pieces);
  json.member("worst_cosine", *std::ranges::min_element(cosines));
  json.member("mean_cosine", sum / static_cast<double>(cosines.size()));
  return {};
}

/// One JSON object: "kernels", "open_ms" (an array of milliseconds of opening and one text),
/// "short_pieces", "short_ms", "long_pieces" and "long_ms" (arrays of milliseconds of CPU), and
/// where `reference` is not empty "texts", "other_pieces" (texts with pieces that differ from it),
/// "worst_cosine" and "mean_cosine". `reference`: the path of JSON lines with text, pieces and
/// vector. Errors: those of the files.
Result<std::string> measured(const std::string& weights, const std::string& reference,
                             const Kernels& kernels) {
  std::shared_ptr<LiteModel> model;
  JsonWriter json;
  json.begin_object().member("kernels", kernels.name).key("open_ms").begin_array();
  for (std::size_t round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    BMAD_TRY_ASSIGN(model, LiteModel::open(weights, kernels));
    static_cast<void>(model->encode(std::vector<std::string>{std::string(kShortText)}, {}));
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    json.real(taken.count());
  }
  json.end_array();
  for (const auto& [name, text] : {std::pair{"short", kShortText}, std::pair{"long", kLongText}}) {
    json.member(std::string(name) + "_pieces",
                std::int64_t(model->tokenizer().pieces_of(text).size()));
    write_times(json, std::string(name) + "_ms", *model, std::string(text));
  }
  if (!reference.empty()) {
    BMAD_TRY(write_exactness(json, *model, reference));
  }
  return json.end_object().take();
}

/// With all kernels of this processor, a JSON line each.
Status measure(std::span<const std::string> arguments) {
  for (const Kernels* kernels : kernels_here()) {
    BMAD_TRY_ASSIGN(const std::string json,
                    measured(arguments[0], arguments.size() > 1 ? arguments[1] : "", *kernels));
    fmt::print("{}\n", json);
  }
  return {};
}

int run(std::span<const std::string> arguments) {
  const bool is_measure = !arguments.empty() && arguments[0] == "measure";
  const bool is_sentences = arguments.size() == 4 && arguments[0] == "sentences";
  if (!is_sentences && (!is_measure || arguments.size() < 2 || arguments.size() > 3)) {
    fmt::print(stderr,
               "usage: bmad_encoder_probe measure FILE [REFERENCE]\n"
               "       bmad_encoder_probe sentences FILE TEXTS OUT\n");
    return 2;
  }
  const Status status =
      is_measure ? measure(arguments.subspan(1)) : write_sentences(arguments.subspan(1));
  if (!status) {
    fmt::print(stderr, "bmad_encoder_probe: {}\n", status.error().to_string());
  }
  return status ? 0 : 1;
}

}  // namespace
}  // namespace bmad_mem::encoder

int main(int count, char** arguments) {
  return bmad_mem::encoder::run(std::vector<std::string>(arguments + 1, arguments + count));
}
