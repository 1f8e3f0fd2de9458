// retrieval_slip.hpp - a slip of the finger in a question, the same in each run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "retrieval_data.hpp"

namespace bmad_mem::bench {

class SlipMaker {
 public:
  /// Counts in how many messages of `store` each word stands.
  explicit SlipMaker(const MessageStore& store);

  /// `question` with two neighbouring letters swapped inside its rarest word: of those with four
  /// letters or more that some message holds, the one that the fewest hold; the longer, then the
  /// first of several. Never its first letter. As it is when it has no such word.
  [[nodiscard]] std::string slipped(std::string_view question) const;

 private:
  [[nodiscard]] std::uint32_t messages_with(const std::string& word) const;

  std::unordered_map<std::string, std::uint32_t> counts_;
};

}  // namespace bmad_mem::bench
