#include "external/vector_answers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_copy.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "encoder/text_encoder.hpp"

namespace bmad_mem {
namespace {

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

std::string program_question(std::span<const std::string> texts) {
  std::string lines;
  JsonWriter json;
  for (const std::string& text : texts) {
    lines += json.begin_object().member("text", text).end_object().take();
    lines += '\n';
  }
  return lines;
}

std::string server_question(std::span<const std::string> texts, std::string_view model) {
  JsonWriter json;
  json.begin_object();
  if (!model.empty()) {
    json.member("model", model);
  }
  return json.key("input").raw(list_json(texts)).end_object().take();
}

Result<Vectors> program_vectors(std::string_view answer, std::size_t count) {
  VectorTable table(count);
  JsonParser parser;
  std::size_t place = 0;
  for (std::size_t number = 1; !answer.empty(); ++number) {
    const std::string_view line = answer.substr(0, answer.find('\n'));
    answer.remove_prefix(std::min(answer.size(), line.size() + 1));
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
