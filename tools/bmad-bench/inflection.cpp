#include "inflection.hpp"

#include <initializer_list>

namespace bmad_mem::bench {
namespace {

bool is_vowel(char c) { return std::string_view("aeiou").find(c) != std::string_view::npos; }

bool ends_in_consonant_y(std::string_view stem) {
  return stem.size() > 1 && stem.ends_with('y') && !is_vowel(stem[stem.size() - 2]);
}

/// plan, drop, set: short, and one vowel between consonants at the end.
bool doubles_its_end(std::string_view stem) {
  const std::size_t size = stem.size();
  return size >= 3 && size <= 4 && !is_vowel(stem[size - 1]) && is_vowel(stem[size - 2]) &&
         !is_vowel(stem[size - 3]) &&
         std::string_view("wxy").find(stem[size - 1]) == std::string_view::npos;
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) {
    out += part;
  }
  return out;
}

std::string_view without_last(std::string_view stem) { return stem.substr(0, stem.size() - 1); }

std::string with_vowel_ending(std::string_view stem, std::string_view ending) {
  if (doubles_its_end(stem)) {
    return joined({stem, stem.substr(stem.size() - 1), ending});
  }
  return joined({stem.ends_with('e') ? without_last(stem) : stem, ending});
}

}  // namespace

std::string with_s(std::string_view stem) {
  if (ends_in_consonant_y(stem)) {
    return joined({without_last(stem), "ies"});
  }
  const bool hisses = stem.ends_with('s') || stem.ends_with('x') || stem.ends_with('z') ||
                      stem.ends_with("ch") || stem.ends_with("sh");
  return joined({stem, hisses ? "es" : "s"});
}

std::string with_ed(std::string_view stem) {
  return ends_in_consonant_y(stem) ? joined({without_last(stem), "ied"})
                                   : with_vowel_ending(stem, "ed");
}

std::string with_ing(std::string_view stem) { return with_vowel_ending(stem, "ing"); }

std::string with_er(std::string_view stem) { return with_vowel_ending(stem, "er"); }

std::string with_ly(std::string_view stem) {
  if (stem.ends_with("le")) {
    return joined({without_last(stem), "y"});
  }
  return ends_in_consonant_y(stem) ? joined({without_last(stem), "ily"}) : joined({stem, "ly"});
}

std::string with_ness(std::string_view stem) {
  return ends_in_consonant_y(stem) ? joined({without_last(stem), "iness"}) : joined({stem, "ness"});
}

}  // namespace bmad_mem::bench
