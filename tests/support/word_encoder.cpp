#include "support/word_encoder.hpp"

#include <cctype>
#include <chrono>
#include <cmath>
#include <random>
#include <string_view>

#include "base/hash.hpp"

namespace bmad_mem::test {
namespace {

void add_word(std::string_view word, std::span<float> numbers) {
  std::mt19937_64 random(xxh3(word.substr(0, 3)));
  for (float& number : numbers) {
    number += static_cast<float>(static_cast<double>(random() % 20001) / 10000 - 1);
  }
}

}  // namespace

WordEncoder::WordEncoder(std::string name, std::uint32_t dimension)
    : name_(std::move(name)), dimension_(dimension) {}

std::uint64_t WordEncoder::id() const { return xxh3(name_) + dimension_; }

Result<std::vector<float>> WordEncoder::encode(std::span<const std::string> texts,
                                               Deadline deadline) {
  const std::uint32_t dimension = dimension_;
  BeforeCall before;
  std::size_t call = 0;
  set([&] {
    before = before_;
    call = ++calls_;
  });
  if (before) {
    BMAD_TRY(before(call));
  }
  if (deadline && std::chrono::steady_clock::now() > *deadline) {
    return Error{.code = ErrorCode::E_QUERY_TIMEOUT, .message = "the words take too long"};
  }
  std::vector<float> numbers;
  for (const std::string& text : texts) {
    if (is_refused(text)) {
      return Error{.code = ErrorCode::E_STORAGE_IO, .message = "answers with status 400"};
    }
    std::vector<float> its = vector_of(text);
    its.resize(dimension);
    numbers.insert(numbers.end(), its.begin(), its.end());
  }
  set([&] { texts_.insert(texts_.end(), texts.begin(), texts.end()); });
  return numbers;
}

std::vector<float> WordEncoder::vector_of(const std::string& text) const {
  std::vector<float> numbers(dimension_);
  std::string word;
  for (const char letter : is_refused(text) ? std::string() : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    } else if (!word.empty()) {
      add_word(word, numbers);
      word.clear();
    }
  }
  double square = 0;
  for (const float number : numbers) {
    square += double{number} * double{number};
  }
  for (float& number : numbers) {
    number = square > 0 ? static_cast<float>(number / std::sqrt(square)) : 0;
  }
  return numbers;
}

bool WordEncoder::is_refused(const std::string& text) const {
  const std::lock_guard guard(mutex_);
  return refuses_ && refuses_(text);
}

std::size_t WordEncoder::calls() const {
  const std::lock_guard guard(mutex_);
  return calls_;
}

std::vector<std::string> WordEncoder::texts() const {
  const std::lock_guard guard(mutex_);
  return texts_;
}

}  // namespace bmad_mem::test
