// word_encoder.hpp - an encoder for tests, quick and always the same: words that begin with the
// same three letters mean the same, so that "alphabet" finds "alpha".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/text_encoder.hpp"

namespace bmad_mem::test {

class WordEncoder final : public TextEncoder {
 public:
  explicit WordEncoder(std::string name = "words", std::uint32_t dimension = 64);

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t id() const override;
  [[nodiscard]] std::uint32_t dimension() const override { return dimension_; }
  Result<std::vector<float>> encode(std::span<const std::string> texts,
                                    Deadline deadline = {}) override;

  [[nodiscard]] bool knows(std::string_view word) const override { return !unknown.contains(word); }
  std::set<std::string, std::less<>> unknown;  ///< Words that it does not know; it encodes them.

  /// The vector of one text, past all that follows.
  [[nodiscard]] std::vector<float> vector_of(const std::string& text) const;
  /// All texts that it was asked for, in their order.
  [[nodiscard]] std::vector<std::string> texts() const;
  void forget() {
    set([&] { texts_.clear(); });
  }
  /// From the next call on.
  void resize(std::uint32_t dimension) { dimension_ = dimension; }
  /// A call with a text that it refuses fails; such a text has no vector.
  using Refuses = std::function<bool(const std::string& text)>;
  void refuse(Refuses refuses) {
    set([&] { refuses_ = std::move(refuses); });
  }
  /// How many calls there were since before_calls().
  [[nodiscard]] std::size_t calls() const;
  /// Called before each call, with its number from 1 on; an error is the answer of the call.
  using BeforeCall = std::function<Status(std::size_t call)>;
  void before_calls(BeforeCall work) {
    set([&] { before_ = std::move(work), calls_ = 0; });
  }

 private:
  template <typename Change>
  void set(const Change& change) {
    const std::lock_guard guard(mutex_);
    change();
  }

  [[nodiscard]] bool is_refused(const std::string& text) const;

  std::string name_;
  std::atomic<std::uint32_t> dimension_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::vector<std::string> texts_;
  BeforeCall before_;
  Refuses refuses_;
  std::size_t calls_ = 0;
};

}  // namespace bmad_mem::test
