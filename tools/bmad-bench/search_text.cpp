#include "search_text.hpp"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "word_lists.hpp"

namespace bmad_mem::bench {
namespace {

struct SearchedFields {
  std::vector<std::string_view> names;
  std::string_view anything;  ///< A field of which numbers and keys are searched, too.
};

SearchedFields fields_of(EntryType type) {
  switch (type) {
    case EntryType::kConversation:
      return {{"content", "tags"}, ""};
    case EntryType::kDecision:
      return {{"decision", "rationale", "alternatives_considered", "tags"}, ""};
    case EntryType::kFinding:
      return {{"category", "description", "evidence", "recommendation", "tags"}, ""};
    case EntryType::kPreference:
      return {{"key", "value", "context", "tags"}, "value"};
    case EntryType::kFact:
      return {{"key", "content", "tags"}, ""};
    case EntryType::kEvent:
      return {{"tool", "path", "content", "tags"}, ""};
    case EntryType::kAgentState:
      return {{"state", "tags"}, "state"};
    case EntryType::kArtifact:
      return {{"path", "title", "snippet", "tags"}, ""};
  }
  return {};
}

void append(std::string& text, std::string_view more) {
  text += text.empty() ? "" : "\n";
  text += more;
}

/// Made-up memory is not deep; JSON is 64 deep at most.
// NOLINTNEXTLINE(misc-no-recursion)
void append_words(std::string& text, JsonValue value, bool anything) {
  if (value.is_string()) {
    append(text, value.string());
  } else if (anything && value.is_number()) {
    append(text, fmt::format("{}", value.number()));
  }
  for (const JsonMember& member : value.members()) {
    if (anything) {
      append(text, member.key);
    }
    append_words(text, member.value, anything);
  }
  for (const JsonValue element : value.elements()) {
    append_words(text, element, anything);
  }
}

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// Whether `c` can stand beside a word without making it part of something longer.
bool separates(char c) {
  constexpr std::string_view kJoints = "_-./:'@#\\=+~$";
  return !is_word_byte(c) && kJoints.find(c) == std::string_view::npos;
}

/// A full stop or a colon ends a word when nothing follows it at once.
bool ends_word(std::string_view text, std::size_t at) {
  if (at >= text.size() || separates(text[at])) {
    return true;
  }
  const bool mark = text[at] == '.' || text[at] == ':';
  return mark && (at + 1 >= text.size() || text[at + 1] == ' ' || text[at + 1] == '\n');
}

bool is_plain(std::string_view word) {
  constexpr std::size_t kSizeMin = 3;
  constexpr std::size_t kSizeMax = 16;
  static const std::unordered_set<std::string_view> kFunctionWords = [] {
    const std::vector<std::string_view> words = function_words();
    return std::unordered_set<std::string_view>(words.begin(), words.end());
  }();
  return word.size() >= kSizeMin && word.size() <= kSizeMax &&
         std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; }) &&
         !kFunctionWords.contains(word);
}

}  // namespace

std::string searched_text(EntryType type, JsonValue entry) {
  const SearchedFields fields = fields_of(type);
  std::string text;
  for (const std::string_view name : fields.names) {
    append_words(text, entry[name], name == fields.anything);
  }
  return text;
}

std::string text_for_others(std::string_view text) {
  std::string parts;
  parts.reserve(text.size() + text.size() / 16);
  char before = ' ';
  for (const char c : text) {
    const bool hump = c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z';
    if (hump) {
      parts += ' ';
    }
    parts += c == '_' ? ' ' : c;
    before = c;
  }
  return parts;
}

std::vector<std::string> plain_words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = at;
    while (at < text.size() && is_word_byte(text[at])) {
      ++at;
    }
    if (at > begin) {
      std::string word(text.substr(begin, at - begin));
      if (word.front() >= 'A' && word.front() <= 'Z') {  // The first of a sentence.
        word.front() = static_cast<char>(word.front() - 'A' + 'a');
      }
      const bool alone = (begin == 0 || separates(text[begin - 1])) && ends_word(text, at);
      if (alone && is_plain(word)) {
        words.push_back(std::move(word));
      }
    }
    ++at;
  }
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  return words;
}

}  // namespace bmad_mem::bench
