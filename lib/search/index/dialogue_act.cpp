// dialogue_act.cpp - sentences by their first and last words; see dialogue_act.hpp.
#include "search/dialogue_act.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <string>
#include <vector>

#include "bmad_mem/text.hpp"
#include "model/title.hpp"
#include "search/analyzer.hpp"
#include "search_words.hpp"
#include "token_folder.hpp"

namespace bmad_mem {
namespace {

/// In bytes: no phrase of the lists is longer.
constexpr std::size_t kPhraseSizeMax = 48;
/// The number of words of a sentence that are read, from its beginning.
constexpr std::size_t kHeadWordsMax = 16;
/// A question without its mark, and an announcement, are short.
constexpr std::size_t kShortWordsMax = 14;
static_assert(kShortWordsMax < kHeadWordsMax);
/// A part of a sentence before a comma that states something has as many words.
constexpr std::size_t kStatementWordsMin = 5;

/// Bytes of the character at the front of `text`, as far as it is whole.
std::size_t character_size(std::string_view text) {
  assert(!text.empty());
  return std::min(utf8_character_size(text), text.size());
}

/// Whether the character at the front is Chinese or Japanese, where words have no blanks between
/// them: U+3040 to U+9FFF.
bool is_unspaced(std::string_view text) {
  assert(!text.empty());
  const auto first = static_cast<unsigned char>(text.front());
  const auto second = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0U;
  return (first == 0xE3U && second >= 0x81U) || (first >= 0xE4U && first <= 0xE9U);
}

/// Whether the character at the front is punctuation, a sign or an emoji.
bool is_sign(std::string_view text) {
  assert(!text.empty());
  const char c = text.front();
  if (is_ascii(c)) {
    return !is_alnum(c);
  }
  const auto first = static_cast<unsigned char>(c);
  const auto second = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0U;
  return (first == 0xC2U) || first == 0xE2U || (first == 0xE3U && second == 0x80U) ||
         (first == 0xEFU && second >= 0xB8U) || first == 0xF0U;
}

bool is_function_word(std::string_view word) {
  static constexpr std::array<const WordList*, 4> kLists = {&kEnglishStopWords, &kGermanStopWords,
                                                            &kFrenchStopWords, &kSpanishStopWords};
  return std::ranges::any_of(kLists, [&](const WordList* each) { return each->contains(word); });
}

/// Whether it is Japanese grammar: what things are called has other characters.
bool is_hiragana(std::string_view word) {
  for (; !word.empty(); word.remove_prefix(character_size(word))) {
    if (word < "\u3041" || word.substr(0, character_size(word)) > "\u309f") {
      return false;
    }
  }
  return true;
}

bool is_choice(std::string_view word) {
  constexpr std::size_t kDigitsMax = 2;
  return word.size() <= kDigitsMax && std::ranges::all_of(word, is_digit);
}

/// The size of the longest phrase of `list` that `text` begins with, at the end of a character.
std::size_t longest_phrase(const WordList& list, std::string_view text) {
  std::size_t longest = 0;
  for (std::size_t size = 0; size < std::min(text.size(), kPhraseSizeMax);) {
    size += character_size(text.substr(size));
    longest = list.contains(text.substr(0, size)) ? size : longest;
  }
  return longest;
}

/// The size of the word at the front: up to a blank or a sign other than an apostrophe or a hyphen
/// between letters.
std::size_t word_size(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && !is_unspaced(text.substr(size))) {
    if (is_alnum(text[size])) {
      ++size;
      continue;
    }
    const bool joins = (text[size] == '\'' || text[size] == '-') && size > 0 &&
                       size + 1 < text.size() && !is_sign(text.substr(size + 1));
    if (is_sign(text.substr(size)) && !joins) {
      break;
    }
    size += character_size(text.substr(size));
  }
  return size;
}

/// is_dialogue_only() of a text in lower case.
bool has_dialogue_only(std::string_view rest) {
  while (!rest.empty()) {
    if (is_sign(rest)) {
      rest.remove_prefix(character_size(rest));
      continue;
    }
    const bool is_word = !is_unspaced(rest);
    const std::size_t size = is_word ? word_size(rest) : longest_phrase(dialogue_words(), rest);
    const std::string_view word = rest.substr(0, size);
    if (size == 0 || (is_word && !dialogue_words().contains(word) && !is_function_word(word) &&
                      !is_choice(word))) {
      return false;
    }
    rest.remove_prefix(size);
  }
  return true;
}

/// One sentence, in lower case.
class Sentence {
 public:
  Sentence(std::string_view text, bool asks) : text_(lower_case(text)), asks_(asks) {
    std::string_view rest = text_;
    while (!rest.empty() && words_.size() < kHeadWordsMax) {
      const std::size_t size = word_size(rest);
      if (size > 0) {
        words_.push_back(rest.substr(0, size));
      }
      rest.remove_prefix(size > 0 ? size : character_size(rest));
    }
  }

  [[nodiscard]] bool requests() const {
    if (has_dialogue_only(text_)) {
      return true;
    }
    if (is_unspaced(text_)) {
      return asks_ || begins_with(kRequestBegins) ||
             kRequestEnds.any([&](std::string_view end) { return text_.ends_with(end); });
    }
    const std::size_t first = after_leads();
    if (first == words_.size() || kRequestVerbs.contains(words_[first]) ||
        (first > 0 && is_infinitive_behind(first))) {
      return true;
    }
    const bool has_statement = words_before_comma() >= kStatementWordsMin;
    const bool begins_question = kQuestionOpeners.contains(words_[first]);
    return asks_ ? begins_question || !has_statement
                 : begins_question && !has_statement && words_.size() <= kShortWordsMax;
  }

  [[nodiscard]] bool begins_question() const {
    return !words_.empty() && kQuestionOpeners.contains(words_[0]);
  }

  [[nodiscard]] bool announces() const {
    return asks_ || has_dialogue_only(text_) ||
           (words_.size() <= kShortWordsMax && phrase_at(kAnnouncingLeads, 0) > 0) ||
           (is_unspaced(text_) && begins_with(kAnnouncingLeads));
  }

 private:
  /// The index of the first word that is not a part of a phrase which may lead a request.
  [[nodiscard]] std::size_t after_leads() const {
    std::size_t first = 0;
    while (first < words_.size()) {
      const std::size_t count = phrase_at(kRequestLeads, first);
      if (count == 0) {
        break;
      }
      first += count;
    }
    return first;
  }

  /// "Kannst du die Tests laufen lassen": the verb comes last, as an infinitive.
  [[nodiscard]] bool is_infinitive_behind(std::size_t first) const {
    const std::string_view last = std::string_view(text_).substr(text_.find_last_of(' ') + 1);
    return first < words_.size() && last.ends_with("en") && phrase_at(kQuestionOpeners, 0) > 0;
  }

  /// How many words from `first` on are the longest phrase of `list`; 0 for none.
  [[nodiscard]] std::size_t phrase_at(const WordList& list, std::size_t first) const {
    constexpr std::size_t kWordsMax = 5;
    std::string phrase;
    std::size_t longest = 0;
    for (std::size_t i = first; i < std::min(words_.size(), first + kWordsMax); ++i) {
      phrase += i == first ? "" : " ";
      phrase += words_[i];
      longest = list.contains(phrase) ? i + 1 - first : longest;
    }
    return longest;
  }

  [[nodiscard]] bool begins_with(const WordList& list) const {
    return longest_phrase(list, text_) > 0;
  }
  [[nodiscard]] std::size_t words_before_comma() const {
    const std::size_t comma = text_.find(',');
    return comma == std::string::npos
               ? 0
               : static_cast<std::size_t>(std::ranges::count_if(
                     words_, [&](std::string_view word) { return word.data() < &text_[comma]; }));
  }

  std::string text_;
  bool asks_;                            // It ends with a question mark.
  std::vector<std::string_view> words_;  // Of text_ the first kHeadWordsMax.
};

/// What ends a sentence, and whether that asks.
struct SentenceEnd {
  std::string_view sign;
  bool asks = false;
  bool needs_blank = false;  ///< Inside a word or number it ends nothing.
};
constexpr std::array kSentenceEnds = {
    SentenceEnd{.sign = "\n"},
    SentenceEnd{.sign = ".", .needs_blank = true},
    SentenceEnd{.sign = "!", .needs_blank = true},
    SentenceEnd{.sign = ";", .needs_blank = true},
    SentenceEnd{.sign = ":", .needs_blank = true},
    SentenceEnd{.sign = "?", .asks = true, .needs_blank = true},
    SentenceEnd{.sign = "。"},
    SentenceEnd{.sign = "！"},
    SentenceEnd{.sign = "；"},
    SentenceEnd{.sign = "？", .asks = true},
};

const SentenceEnd* sentence_end_at(std::string_view text) {
  const auto* const end = std::ranges::find_if(kSentenceEnds, [&](const SentenceEnd& each) {
    return text.starts_with(each.sign) &&
           (!each.needs_blank || text.size() == 1 || is_space(text[1]) || is_sign(text.substr(1)));
  });
  return end == kSentenceEnds.end() ? nullptr : end;
}

/// Whether `is(text, asks)` of each sentence that is not blank.
template <typename Is>
bool all_sentences(std::string_view text, const Is& is) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size();) {
    while (at < text.size() && (is_word_class(byte_class(text[at])) || text[at] == ' ')) {
      ++at;
    }
    const SentenceEnd* const end = at < text.size() ? sentence_end_at(text.substr(at)) : nullptr;
    if (end == nullptr && at < text.size()) {
      at += character_size(text.substr(at));
      continue;
    }
    const std::string_view sentence = trimmed(text.substr(begin, at - begin));
    if (!sentence.empty() && !is(sentence, end != nullptr && end->asks)) {
      return false;
    }
    at += end == nullptr ? 1 : end->sign.size();
    begin = at;
  }
  return true;
}

}  // namespace

bool is_dialogue_only(std::string_view text) { return has_dialogue_only(lower_case(text)); }

bool asks_question(std::string_view text) {
  const std::string_view core = trimmed(text, " \t\r\n\"')");
  return core.ends_with('?') || core.ends_with("？") ||
         Sentence(core.substr(0, kPhraseSizeMax), false).begins_question();
}

bool states_nothing(std::string_view text, EntryRole role) {
  constexpr std::string_view kFence = "```";
  constexpr std::size_t kSizeMax = 2000;  // A longer one states something.
  if (role == EntryRole::kNone || text.size() > kSizeMax ||
      text.find(kFence) != std::string_view::npos) {
    return false;
  }
  return all_sentences(text, [&](std::string_view sentence, bool asks) {
    if (role == EntryRole::kAssistant && !asks &&
        std::ranges::count(sentence, ' ') > static_cast<std::ptrdiff_t>(kShortWordsMax)) {
      return false;  // Most of what agents say; the words need not be looked at.
    }
    const Sentence read(sentence, asks);
    return role == EntryRole::kUser ? read.requests() : read.announces();
  });
}

bool is_filler(std::string_view token, std::string_view language) {
  return dialogue_words().contains(token) || is_stop_word(token, language) ||
         is_function_word(token);
}

bool is_change_word(std::string_view token) { return kChangeWords.contains(token); }

bool is_work_word(std::string_view token) {
  constexpr std::size_t kDigitsMax = 3;
  const bool is_short =
      token.size() <= 1 || (token.size() <= kDigitsMax && std::ranges::all_of(token, is_digit));
  return is_short || is_hiragana(token) || kWorkWords.contains(token) ||
         dialogue_words().contains(token);
}

}  // namespace bmad_mem
