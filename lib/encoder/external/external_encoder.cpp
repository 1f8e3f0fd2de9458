// external_encoder.cpp - asks a program or a server in batches, and notes its failures.
#include "external/external_encoder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kRecordSizeMax = 1U << 14U;
constexpr std::size_t kProblemSizeMax = 1000;
constexpr std::size_t kBatchCountMax = 64;
constexpr std::size_t kBatchSizeMax = 1U << 18U;  // Bytes; one text may have more.
constexpr std::size_t kTextSizeMax = 32U << 10U;  // 8,000 tokens: as much as any such model reads.

/// Where a batch that begins at `begin` ends.
std::size_t batch_end(std::span<const std::string> texts, std::size_t begin) {
  assert(begin < texts.size());
  std::size_t size = 0;
  std::size_t end = begin;
  while (end < texts.size() && end - begin < kBatchCountMax &&
         (end == begin || size + texts[end].size() <= kBatchSizeMax)) {
    size += texts[end++].size();
  }
  assert(end > begin && "a batch has a text or more");
  return end;
}

Error wrong_answer(std::string message) {
  return {.code = ErrorCode::E_INVALID_FORMAT, .message = std::move(message)};
}

/// Puts vectors in their places, each checked and of length 1.
class VectorTable {
 public:
  explicit VectorTable(std::size_t count) : count_(count), is_filled_(count, false) {}

  /// `what` is it, for the error.
  Status put(std::size_t place, JsonValue vector, std::string_view what) {
    if (!vector.is_array()) {
      return wrong_answer(
          fmt::format("{} is {}, and not an array of numbers", what,
                      vector.present() ? json_kind_name(vector.kind()) : "not there"));
    }
    if (place >= count_ || is_filled_[place]) {
      return wrong_answer(fmt::format("{} is of text {}, and there are {}, one vector for each",
                                      what, place, count_));
    }
    row_.clear();
    double square = 0;
    for (const JsonValue each : vector.elements()) {
      const auto number = static_cast<float>(each.number(std::nan("")));
      if (!std::isfinite(number) || row_.size() == kDimensionMax) {
        return wrong_answer(row_.size() == kDimensionMax
                                ? fmt::format("{} has more than {} numbers", what, kDimensionMax)
                                : fmt::format("{} has a value that is no number", what));
      }
      row_.push_back(number);
      square += double{number} * double{number};
    }
    return take_row(place, std::sqrt(square), what);
  }

  Result<Vectors> take() && {
    for (std::size_t place = 0; place < count_; ++place) {
      if (!is_filled_[place]) {
        return wrong_answer(fmt::format("text {} of {} has no vector", place, count_));
      }
    }
    return std::move(vectors_);
  }

 private:
  Status take_row(std::size_t place, double length, std::string_view what) {
    if (row_.empty()) {
      return wrong_answer(fmt::format("{} is empty", what));
    }
    if (vectors_.dimension == 0) {
      vectors_.dimension = static_cast<std::uint32_t>(row_.size());
      vectors_.numbers.resize(count_ * row_.size());
    }
    if (row_.size() != vectors_.dimension) {
      return wrong_answer(fmt::format("{} has {} numbers, and the one before it has {}", what,
                                      row_.size(), vectors_.dimension));
    }
    for (std::size_t i = 0; i < row_.size(); ++i) {
      vectors_.numbers[place * row_.size() + i] =
          length > 0 ? static_cast<float>(row_[i] / length) : 0;
    }
    is_filled_[place] = true;
    return {};
  }

  std::size_t count_;
  std::vector<bool> is_filled_;
  std::vector<float> row_;
  Vectors vectors_;
};

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
  assert(record.dimension <= kDimensionMax);
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
      return wrong_answer(
          fmt::format("{}: the vector of a sentence is all zeros; name another model in {}",
                      encoder->name(), encoder->options_.setting));
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
      return wrong_answer(
          fmt::format("{}: its vectors have {} numbers now, and had {}; what was encoded before is "
                      "encoded again",
                      name(), vectors.dimension, dimension));
    }
    assert(vectors.numbers.size() == (end - begin) * dimension);
    for (std::size_t i = begin; i < end; ++i) {
      std::copy_n(vectors.numbers.begin() + static_cast<std::ptrdiff_t>((i - begin) * dimension),
                  dimension, numbers.begin() + static_cast<std::ptrdiff_t>(places[i] * dimension));
    }
    begin = end;
  }
  return numbers;
}

Status ExternalEncoder::check_rest() {
  const Timestamp now = options_.clock->now();
  const std::lock_guard guard(mutex_);
  look();
  // A clock that was set back must not make it rest for years.
  const bool rests = record_.failures >= kEncoderFailuresMax && record_.failed_at <= now &&
                     now < record_.failed_at + kEncoderRest;
  if (!rests) {
    return {};
  }
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = fmt::format("the encoder rests until {} after {} failures; the last: {}",
                                      format_rfc3339(record_.failed_at + kEncoderRest),
                                      record_.failures, record_.problem)};
}

Result<Vectors> ExternalEncoder::ask(std::span<const std::string> texts, Deadline deadline) {
  assert(!texts.empty() && texts.size() <= kBatchCountMax);
  BMAD_TRY(options_.may_ask());
  BMAD_TRY(check_rest());
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

std::string program_question(std::span<const std::string> texts) {
  std::string lines;
  JsonWriter json;
  for (const std::string& text : texts) {
    lines += json.begin_object().member("text", text).end_object().take() + '\n';
  }
  return lines;
}

std::string server_question(std::span<const std::string> texts, std::string_view model) {
  JsonWriter json;
  json.begin_object().member_unless_empty("model", model);
  return json.key("input").raw(list_json(texts)).end_object().take();
}

Result<Vectors> program_vectors(std::string_view answer, std::size_t count) {
  VectorTable table(count);
  JsonParser parser;
  std::size_t place = 0;
  for (std::size_t number = 1; !answer.empty(); ++number) {
    const std::string_view line = take_line(answer);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    const Result<JsonValue> value = parser.parse(line);
    if (!value) {
      return wrong_answer(fmt::format("line {}: {}", number, value.error().message));
    }
    BMAD_TRY(table.put(place++, (*value)["vector"], fmt::format("line {}: \"vector\"", number)));
  }
  return std::move(table).take();
}

Result<Vectors> server_vectors(std::string_view answer, std::size_t count) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(answer);
  if (!value) {
    return wrong_answer(value.error().message);
  }
  const JsonValue data = (*value)["data"];
  if (!data.is_array()) {
    return wrong_answer("there is no array \"data\"");
  }
  VectorTable table(count);
  std::size_t number = 0;
  for (const JsonValue each : data.elements()) {
    const JsonValue index = each["index"];
    const std::int64_t place =
        index.present() ? index.integer(-1) : static_cast<std::int64_t>(number);
    const std::string what = fmt::format("data[{}].embedding", number++);
    if (place < 0) {
      return wrong_answer(fmt::format("data[{}].index is no index", number - 1));
    }
    BMAD_TRY(table.put(static_cast<std::size_t>(place), each["embedding"], what));
  }
  return std::move(table).take();
}

}  // namespace bmad_mem
