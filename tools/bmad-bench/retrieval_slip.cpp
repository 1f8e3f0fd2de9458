#include "retrieval_slip.hpp"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kWordSizeMin = 4;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// A run of ASCII letters, which no other letter, digit or byte of UTF-8 touches.
bool goes_on(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || (c & 0x80) != 0;
}

std::string lower(std::string_view word) {
  std::string text(word);
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

/// Calls `take` with offset and size of each word.
void for_each_word(std::string_view text,
                   const std::function<void(std::size_t, std::size_t)>& take) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    while (at < text.size() && goes_on(text[at])) {
      ++at;
    }
    if (at == begin) {
      ++at;
    } else if (std::ranges::all_of(text.substr(begin, at - begin), is_letter)) {
      take(begin, at - begin);
    }
  }
}

/// Where in `word` a swap with the next letter changes something: in the middle, else further back,
/// else further in front. 0: nowhere.
std::size_t place_of_slip(std::string_view word) {
  const std::size_t middle = word.size() / 2 - 1;
  for (std::size_t at = std::max<std::size_t>(middle, 1); at + 1 < word.size(); ++at) {
    if (word[at] != word[at + 1]) {
      return at;
    }
  }
  for (std::size_t at = middle; at > 0; --at) {
    if (word[at] != word[at + 1]) {
      return at;
    }
  }
  return 0;
}

}  // namespace

SlipMaker::SlipMaker(const MessageStore& store) {
  for (const Message& message : store.messages) {
    std::unordered_set<std::string> words;
    const std::string_view text = message.text;
    for_each_word(text, [&](std::size_t offset, std::size_t size) {
      words.insert(lower(text.substr(offset, size)));
    });
    for (const std::string& word : words) {
      ++counts_[word];
    }
  }
}

std::uint32_t SlipMaker::messages_with(const std::string& word) const {
  const auto found = counts_.find(word);
  return found == counts_.end() ? 0 : found->second;
}

std::string SlipMaker::slipped(std::string_view question) const {
  std::string text(question);
  std::uint32_t fewest = 0;
  std::size_t longest = 0;
  std::size_t place = 0;
  for_each_word(question, [&](std::size_t offset, std::size_t size) {
    const std::string_view word = question.substr(offset, size);
    const std::uint32_t messages = messages_with(lower(word));
    const std::size_t inside = size < kWordSizeMin ? 0 : place_of_slip(word);
    const bool rarer = longest == 0 || messages < fewest || (messages == fewest && size > longest);
    if (messages > 0 && inside > 0 && rarer) {
      fewest = messages;
      longest = size;
      place = offset + inside;
    }
  });
  if (place > 0) {
    std::swap(text[place], text[place + 1]);
  }
  return text;
}

}  // namespace bmad_mem::bench
