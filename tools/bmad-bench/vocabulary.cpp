#include "vocabulary.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_set>

#include <fmt/format.h>

#include "inflection.hpp"
#include "word_lists.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kMadeUpWords = 9000;
constexpr std::size_t kIdentifiers = 6000;

std::string made_up_word(Random& random, std::size_t syllables) {
  static constexpr auto kOnsets = std::to_array<std::string_view>(
      {"b", "br", "c",  "cr", "d", "dr", "f",  "fl", "g",  "gr", "h",   "k", "l",  "m", "n",
       "p", "pl", "pr", "r",  "s", "sc", "sh", "sl", "sp", "st", "str", "t", "tr", "v", "w"});
  static constexpr auto kVowels = std::to_array<std::string_view>(
      {"a", "e", "i", "o", "u", "a", "e", "i", "o", "ai", "ea", "ee", "oa", "ou"});
  static constexpr auto kCodas = std::to_array<std::string_view>(
      {"", "", "n", "r", "l", "t", "s", "m", "nd", "nt", "st", "ck", "rt", "mp", "x", "th"});
  std::string word;
  for (std::size_t i = 0; i < syllables; ++i) {
    word += random.pick(kOnsets);
    word += random.pick(kVowels);
    // Codas inside a word would pile up consonants.
    if (i + 1 == syllables || random.percent(30)) {
      word += random.pick(kCodas);
    }
  }
  return word;
}

std::string capitalized(std::string word) {
  word.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(word.front())));
  return word;
}

std::string upper(std::string word) {
  for (char& c : word) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return word;
}

/// A name of two or three words in one of the shapes that code uses.
std::string made_up_identifier(Random& random, std::string a, std::string b, std::string c) {
  static constexpr auto kExtensions =
      std::to_array<std::string_view>({"ts", "cpp", "hpp", "py", "md", "json", "sql", "yml", "go"});
  switch (random.below(12)) {
    case 0:
    case 1:
      return a + capitalized(std::move(b)) + capitalized(std::move(c));
    case 2:
    case 3:
      return fmt::format("{}_{}", a, b);
    case 4:
    case 5:
      return fmt::format("src/{}/{}_{}.{}", a, b, c, random.pick(kExtensions));
    case 6:
      return fmt::format("E_{}_{}", upper(std::move(a)), upper(std::move(b)));
    case 7: {
      // One draw a statement, here and everywhere: the order of arguments is up to the compiler.
      const std::uint64_t major = random.below(5);
      const std::uint64_t minor = random.below(30);
      return fmt::format("v{}.{}.{}", major, minor, random.below(20));
    }
    case 8:
      return fmt::format("{}.{}.{}", a, b, c);
    case 9:
      return fmt::format("{}_{}()", a, b);
    case 10:
      return fmt::format("{:07x}", random.below(1U << 28U));
    default:
      return fmt::format("{}{}", capitalized(std::move(a)), capitalized(std::move(b)));
  }
}

}  // namespace

Zipf::Zipf(std::size_t count) {
  cumulative_.reserve(count);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += (std::uint64_t{1} << 40U) / (i + 3);
    cumulative_.push_back(sum);
  }
}

std::size_t Zipf::draw(Random& random) const {
  const std::uint64_t at = random.next() % cumulative_.back();
  return static_cast<std::size_t>(std::ranges::upper_bound(cumulative_, at) - cumulative_.begin());
}

Vocabulary::Vocabulary(std::uint64_t seed)
    : function_words_(function_words()),
      technical_terms_(technical_terms()),
      foreign_words_(foreign_words()),
      word_ranks_(0),
      identifier_ranks_(kIdentifiers),
      function_ranks_(function_words_.size()),
      technical_ranks_(technical_terms_.size()) {
  Random random(seed ^ 0x766F636162U);  // Another sequence than the text's.
  add_real_words();
  add_made_up_words(random);
  word_ranks_ = Zipf(words_.size());
  identifiers_.reserve(kIdentifiers);
  for (std::size_t i = 0; i < kIdentifiers; ++i) {
    const auto part = [&] { return words_[word_ranks_.draw(random)].stem; };
    std::string a = part();
    std::string b = part();
    identifiers_.push_back(made_up_identifier(random, std::move(a), std::move(b), part()));
  }
}

/// The three kinds in turn, so that the most frequent of each get the lowest ranks.
void Vocabulary::add_real_words() {
  const std::array lists = {common_nouns(), common_verbs(), common_adjectives()};
  constexpr std::array kKinds = {WordKind::kNoun, WordKind::kVerb, WordKind::kAdjective};
  std::size_t longest = 0;
  for (const auto& list : lists) {
    longest = std::max(longest, list.size());
  }
  for (std::size_t i = 0; i < longest; ++i) {
    for (std::size_t kind = 0; kind < lists.size(); ++kind) {
      if (i < lists[kind].size()) {
        words_.push_back({.stem = std::string(lists[kind][i]), .kind = kKinds[kind]});
      }
    }
  }
  real_words_ = words_.size();
}

void Vocabulary::add_made_up_words(Random& random) {
  std::unordered_set<std::string> taken;
  for (const Word& word : words_) {
    taken.insert(word.stem);
  }
  while (words_.size() < real_words_ + kMadeUpWords) {
    // Rare words are longer, as in every language.
    const std::size_t rank = words_.size() - real_words_;
    const std::size_t syllables = (rank < 600 ? 1 : 2) + (random.percent(45) ? 1 : 0);
    std::string word = made_up_word(random, syllables);
    if (word.size() < 3 || !taken.insert(word).second) {
      continue;
    }
    const std::uint64_t kind = random.below(20);
    words_.push_back({.stem = std::move(word),
                      .kind = kind < 9    ? WordKind::kNoun
                              : kind < 16 ? WordKind::kVerb
                                          : WordKind::kAdjective});
  }
}

std::string Vocabulary::content_word(Random& random) const {
  return inflected(word_ranks_.draw(random), random);
}

std::string Vocabulary::inflected(std::size_t rank, Random& random) const {
  const Word& word = words_[rank];
  const std::uint64_t draw = random.below(100);
  switch (word.kind) {
    case WordKind::kNoun:
      return draw < 72 ? word.stem : with_s(word.stem);
    case WordKind::kVerb:
      return draw < 48   ? word.stem
             : draw < 62 ? with_s(word.stem)
             : draw < 80 ? with_ed(word.stem)
             : draw < 97 ? with_ing(word.stem)
                         : with_er(word.stem);
    case WordKind::kAdjective:
      return draw < 84 ? word.stem : draw < 95 ? with_ly(word.stem) : with_ness(word.stem);
  }
  return word.stem;
}

const std::string& Vocabulary::identifier(Random& random) const {
  return identifiers_[identifier_ranks_.draw(random)];
}

std::string_view Vocabulary::function_word(Random& random) const {
  return function_words_[function_ranks_.draw(random)];
}

std::string_view Vocabulary::technical_term(Random& random) const {
  return technical_terms_[technical_ranks_.draw(random)];
}

std::string_view Vocabulary::foreign_word(Random& random) const {
  return random.pick(foreign_words_);
}

}  // namespace bmad_mem::bench
