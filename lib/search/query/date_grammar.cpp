// date_grammar.cpp - reads the lines of dates.txt.
#include "date_grammar.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <ranges>

#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

// In the order of DateBuiltIn.
constexpr auto kBuiltInNames = std::to_array<std::string_view>(
    {"d",   "th",  "dd",  "mm",  "n",    "year",  "Y",     "yyyy",   "yy",   "dT",
     "cap", "two", "any", "end", "sign", "alnum", "inhan", "french", "asks", "phrase-end"});

DateTest test_of(std::string_view name, bool is_wanted) {
  return {.is_wanted = is_wanted, .built_in = built_in(name), .name = name};
}

DateElement element_of(std::string_view text) {
  DateElement element;
  element.is_filler = text == "..";
  element.is_absent = took(text, "!");
  element.is_glued = took(text, "~");
  element.is_optional = text.ends_with('?');
  text.remove_suffix(element.is_optional ? 1 : 0);
  if (text == "$") {
    element.tests.push_back(test_of("phrase-end", true));
  } else if (text.starts_with('<')) {
    bool is_wanted = true;
    for (text = text.substr(1, text.size() - 2); !text.empty();) {
      const std::size_t end = std::min(text.find_first_of("+-"), text.size());
      element.tests.push_back(test_of(text.substr(0, end), is_wanted));
      is_wanted = end < text.size() && text[end] == '+';
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  } else {
    for (const auto word : std::views::split(text, '/')) {
      element.words.emplace_back(word.begin(), word.end());
    }
  }
  return element;
}

DateMeaning meaning_of(std::string_view text) {
  constexpr auto kUnits =
      std::to_array<std::string_view>({"minute", "hour", "day", "week", "month", "year"});
  DateMeaning meaning{.has_other = text.ends_with('+'), .may_bind = text.ends_with('*')};
  auto [action, rest] = parted(text.substr(0, text.find_first_of("+*")), ' ');
  meaning.action = action;
  while (!rest.empty()) {
    const auto [word, more] = parted(rest, ' ');
    const auto unit = std::ranges::find(kUnits, word);
    if (unit != kUnits.end()) {
      meaning.unit = static_cast<int>(unit - kUnits.begin());
    } else if (is_digit(word.front())) {
      meaning.count = number_in(word);
    } else {
      meaning.detail = word;
    }
    rest = more;
  }
  return meaning;
}

}  // namespace

std::optional<DateBuiltIn> built_in(std::string_view name) {
  const auto found = std::ranges::find(kBuiltInNames, name);
  return found == kBuiltInNames.end()
             ? std::nullopt
             : std::optional(static_cast<DateBuiltIn>(found - kBuiltInNames.begin()));
}

std::pair<std::string_view, std::string_view> parted(std::string_view text, char sign) {
  const std::size_t at = std::min(text.find(sign), text.size());
  std::string_view front = text.substr(0, at);
  std::string_view back = text.substr(std::min(at + 1, text.size()));
  front.remove_suffix(front.ends_with(' ') ? 1 : 0);
  back.remove_prefix(back.starts_with(' ') ? 1 : 0);
  return {front, back};
}

std::size_t first_word_size(std::string_view words) {
  constexpr unsigned char kKanaLead = 0xE3;
  return static_cast<unsigned char>(words.front()) >= kKanaLead
             ? 3
             : std::min(words.find(' '), words.size());
}

int number_in(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool took(std::string_view& text, std::string_view prefix) {
  const bool is_there = text.starts_with(prefix);
  text.remove_prefix(is_there ? prefix.size() : 0);
  return is_there;
}

DateForm form_of(std::string_view text, std::string_view meaning) {
  DateForm form{.meaning = meaning_of(meaning)};
  const bool is_marked = text.contains('[');
  std::vector<DateElement>* part = is_marked ? &form.before : &form.named;
  for (const auto each : std::views::split(text, ' ')) {
    std::string_view word(each.begin(), each.end());
    if (took(word, "[")) {
      part = &form.named;
    }
    const bool is_last = word.ends_with(']');
    word.remove_suffix(is_last ? 1 : 0);
    part->push_back(element_of(word));
    if (is_last) {
      part = &form.after;
    }
  }
  assert(!form.named.empty());
  return form;
}

}  // namespace bmad_mem
