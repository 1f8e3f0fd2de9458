#include "languages.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "search/analyzer.hpp"

namespace bmad_mem {
namespace {

constexpr auto kLanguages = std::to_array<Language>({
    {.names = "english en eng porter", .keeps_beginnings = true, .folds_first = true},
    {.names = "arabic ar ara"},
    {.names = "armenian hy hye arm"},
    {.names = "basque eu eus baq"},
    {.names = "catalan ca cat", .elides = true},
    {.names = "danish da dan", .keeps_beginnings = true},
    {.names = "dutch nl nld dut"},
    {.names = "finnish fi fin"},
    {.names = "french fr fra fre", .elides = true, .keeps_beginnings = true, .stems_again = true},
    {.names = "german de deu ger"},
    {.names = "greek el ell gre"},
    {.names = "hindi hi hin"},
    {.names = "hungarian hu hun", .stems_again = true},
    {.names = "indonesian id ind"},
    {.names = "irish ga gle"},
    {.names = "italian it ita", .elides = true, .keeps_beginnings = true},
    {.names = "lithuanian lt lit"},
    {.names = "nepali ne nep"},
    {.names = "norwegian no nor", .keeps_beginnings = true},
    {.names = "portuguese pt por", .keeps_beginnings = true},
    {.names = "romanian ro ron rum"},
    {.names = "russian ru rus"},
    {.names = "serbian sr srp"},
    {.names = "spanish es spa esl", .keeps_beginnings = true},
    {.names = "swedish sv swe", .keeps_beginnings = true},
    {.names = "tamil ta tam"},
    {.names = "turkish tr tur"},
    {.names = "yiddish yi yid"},
});

/// Whether `name` is one of `names`, which are apart by blanks.
bool has_name(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) {
      return true;
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

std::ptrdiff_t stop_word_count(const Language& language, std::span<const std::string> words) {
  const StopWords& known = stop_words_of(language.name());
  return std::ranges::count_if(words,
                               [&](const std::string& word) { return known.contains(word); });
}

}  // namespace

const Language* find_language(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kLanguages, [&](const Language& language) { return has_name(language.names, name); });
  return found == kLanguages.end() ? nullptr : found;
}

bool is_stop_word(std::string_view word, std::string_view language) {
  const Language* const known = find_language(language);
  return known != nullptr && stop_words_of(known->name()).contains(word);
}

std::string_view language_of(std::span<const std::string> words, std::string_view fallback) {
  constexpr std::ptrdiff_t kCountMin = 2;
  const Language* const known = find_language(fallback);
  std::ptrdiff_t most =
      std::max(kCountMin - 1, known == nullptr ? 0 : stop_word_count(*known, words));
  std::string_view best = fallback;
  for (const Language& language : kLanguages) {
    if (const std::ptrdiff_t count = stop_word_count(language, words); count > most) {
      most = count;
      best = language.name();
    }
  }
  return best;
}

}  // namespace bmad_mem
