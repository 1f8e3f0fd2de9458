#include "external/external_encoder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kRecordSizeMax = 1U << 14U;
constexpr std::size_t kProblemSizeMax = 1000;
constexpr std::size_t kBatchCountMax = 64;
constexpr std::size_t kBatchSizeMax = 1U << 18U;  // Bytes; one text may have more.
constexpr std::size_t kTextSizeMax = 32U << 10U;  // 8,000 tokens: as much as any such model reads.

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

/// Where a batch that begins at `begin` ends.
std::size_t batch_end(std::span<const std::string> texts, std::size_t begin) {
  std::size_t size = 0;
  std::size_t end = begin;
  while (end < texts.size() && end - begin < kBatchCountMax &&
         (end == begin || size + texts[end].size() <= kBatchSizeMax)) {
    size += texts[end++].size();
  }
  return end;
}

}  // namespace

EncoderRecord read_encoder_record(FileSystem& files, std::uint64_t encoder) {
  EncoderRecord record{.encoder = encoder};
  const Result<std::string> text = read_file(files, kEncoderStateName, kRecordSizeMax);
  JsonParser parser;
  const Result<JsonValue> value = text ? parser.parse(*text) : Result<JsonValue>(text.error());
  if (!value || (*value)["encoder"].string() != hash_hex(encoder)) {
    return record;
  }
  const std::int64_t dimension = (*value)["dimension"].integer();
  if (dimension >= 0 && dimension <= std::int64_t{kDimensionMax}) {
    record.dimension = static_cast<std::uint32_t>(dimension);
  }
  record.failures = static_cast<int>(
      std::clamp<std::int64_t>((*value)["failures"].integer(), 0, kEncoderFailuresMax));
  record.failed_at = Timestamp(std::chrono::milliseconds((*value)["failed_at"].integer()));
  record.problem = (*value)["problem"].string();
  return record;
}

void write_encoder_record(FileSystem& files, const EncoderRecord& record) {
  JsonWriter json;
  json.begin_object().member("encoder", hash_hex(record.encoder));
  json.member("dimension", std::uint64_t{record.dimension}).member("failures", record.failures);
  json.member("failed_at", std::int64_t{record.failed_at.time_since_epoch().count()});
  json.member("problem", record.problem).end_object();
  static_cast<void>(replace_derived_file(files, kEncoderStateName, json.take() + '\n'));
}

ExternalEncoder::ExternalEncoder(ExternalOptions options)
    : options_(std::move(options)),
      seen_(read_encoder_record(*options_.files, options_.key)),
      record_(seen_) {}

Result<std::shared_ptr<TextEncoder>> ExternalEncoder::open(ExternalOptions options,
                                                           Deadline deadline) {
  std::shared_ptr<ExternalEncoder> encoder(new ExternalEncoder(std::move(options)));
  if (encoder->dimension() == 0) {
    const std::array<std::string, 1> sentence{"The boats lie in the harbour."};
    BMAD_TRY_ASSIGN(const Vectors vectors, encoder->ask(sentence, deadline));
    if (std::ranges::all_of(vectors.numbers, [](float number) { return number == 0; })) {
      return Error{.code = ErrorCode::E_INVALID_FORMAT,
                   .message = fmt::format("{}: the vector of a sentence is all zeros; name another "
                                          "model in {}",
                                          encoder->name(), encoder->options_.setting)};
    }
    encoder->note([&](EncoderRecord& record) { record.dimension = vectors.dimension; });
  }
  return std::shared_ptr<TextEncoder>(std::move(encoder));
}

std::uint32_t ExternalEncoder::dimension() const {
  const std::lock_guard guard(mutex_);
  return record_.dimension;
}

std::uint64_t ExternalEncoder::id() const {
  const std::uint64_t id = xxh3(fmt::format("{} {}", hash_hex(options_.key), dimension()));
  return id == 0 ? 1 : id;
}

Result<std::vector<float>> ExternalEncoder::encode(std::span<const std::string> texts,
                                                   Deadline deadline) {
  const std::uint32_t dimension = this->dimension();
  std::vector<float> numbers(texts.size() * dimension);
  std::vector<std::string> asked;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!is_blank(texts[i])) {
      asked.push_back(utf8_repaired(utf8_prefix(texts[i], kTextSizeMax)));
      places.push_back(i);
    }
  }
  for (std::size_t begin = 0; begin < asked.size();) {
    const std::size_t end = batch_end(asked, begin);
    BMAD_TRY_ASSIGN(const Vectors vectors,
                    ask(std::span(asked).subspan(begin, end - begin), deadline));
    if (vectors.dimension != dimension) {
      note([&](EncoderRecord& record) { record.dimension = vectors.dimension; });
      return Error{.code = ErrorCode::E_INVALID_FORMAT,
                   .message = fmt::format("{}: its vectors have {} numbers now, and had {}; what "
                                          "was encoded before is encoded again",
                                          name(), vectors.dimension, dimension)};
    }
    for (std::size_t i = begin; i < end; ++i) {
      std::copy_n(vectors.numbers.begin() + static_cast<std::ptrdiff_t>((i - begin) * dimension),
                  dimension, numbers.begin() + static_cast<std::ptrdiff_t>(places[i] * dimension));
    }
    begin = end;
  }
  return numbers;
}

std::optional<Error> ExternalEncoder::rest() {
  const Timestamp now = options_.clock->now();
  const std::lock_guard guard(mutex_);
  look();
  // A clock that was set back must not make it rest for years.
  const bool rests = record_.failures >= kEncoderFailuresMax && record_.failed_at <= now &&
                     now < record_.failed_at + kEncoderRest;
  if (!rests) {
    return std::nullopt;
  }
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = fmt::format("the encoder rests until {} after {} failures; the last: {}",
                                      format_rfc3339(record_.failed_at + kEncoderRest),
                                      record_.failures, record_.problem)};
}

Result<Vectors> ExternalEncoder::ask(std::span<const std::string> texts, Deadline deadline) {
  BMAD_TRY(options_.may_ask());
  if (std::optional<Error> resting = rest()) {
    return *std::move(resting);
  }
  std::chrono::milliseconds timeout = options_.timeout;
  if (deadline) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
    timeout = std::min(timeout, left);
  }
  if (timeout.count() <= 0) {
    return Error{.code = ErrorCode::E_QUERY_TIMEOUT,
                 .message = fmt::format("there was no time left to ask {}", name())};
  }
  Result<Vectors> vectors = options_.ask(texts, timeout);
  if (vectors) {
    note([](EncoderRecord& record) { record.failures = 0; });
    return vectors;
  }
  Error error = std::move(vectors).error();
  error.message = fmt::format("{}: {}; mend {}, or `bmad-mem config set encoder.enabled false`",
                              name(), error.message, options_.setting);
  // Who asked may have been in a hurry, which says nothing of the encoder.
  if (error.code != ErrorCode::E_QUERY_TIMEOUT || timeout == options_.timeout ||
      timeout >= kEncoderPatience) {
    note([&](EncoderRecord& record) {
      record.failures = std::min(record.failures + 1, kEncoderFailuresMax);
      record.failed_at = options_.clock->now();
      record.problem = utf8_prefix(error.message, kProblemSizeMax);
    });
  }
  return error;
}

void ExternalEncoder::look() {
  EncoderRecord now = read_encoder_record(*options_.files, options_.key);
  if (now != seen_) {  // The same: what is known here may be newer, see note().
    seen_ = now;
    // The caller has made room for vectors of the dimension that it was told.
    now.dimension = record_.dimension == 0 ? now.dimension : record_.dimension;
    record_ = std::move(now);
  }
}

void ExternalEncoder::note(const std::function<void(EncoderRecord&)>& change) {
  const std::lock_guard guard(mutex_);
  look();
  const EncoderRecord before = record_;
  change(record_);
  if (record_ != before) {
    write_encoder_record(*options_.files, record_);
  }
}

}  // namespace bmad_mem
