#include "corpus_text.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kMadeUpWords = 9000;
constexpr std::size_t kIdentifiers = 6000;
constexpr std::size_t kTopicWords = 40;

bool is_vowel(char c) { return std::string_view("aeiou").contains(c); }

/// plan, drop, set: short, and one vowel between consonants at the end.
bool doubles_its_end(std::string_view stem) {
  const std::size_t size = stem.size();
  return size >= 3 && size <= 4 && !is_vowel(stem[size - 1]) && is_vowel(stem[size - 2]) &&
         !is_vowel(stem[size - 3]) && !std::string_view("wxy").contains(stem[size - 1]);
}

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

char to_upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

std::string capitalized(std::string word) {
  word.front() = to_upper(word.front());
  return word;
}

std::string upper(std::string word) {
  std::ranges::transform(word, word.begin(), to_upper);
  return word;
}

/// A name of two or three words in one of the shapes that code uses.
std::string made_up_identifier(Random& random, const std::string& a, const std::string& b,
                               const std::string& c) {
  static constexpr auto kExtensions =
      std::to_array<std::string_view>({"ts", "cpp", "hpp", "py", "md", "json", "sql", "yml", "go"});
  switch (random.below(12)) {
    case 0:
    case 1:
      return a + capitalized(b) + capitalized(c);
    case 2:
    case 3:
      return fmt::format("{}_{}", a, b);
    case 4:
    case 5:
      return fmt::format("src/{}/{}_{}.{}", a, b, c, random.pick(kExtensions));
    case 6:
      return fmt::format("E_{}_{}", upper(a), upper(b));
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
      return capitalized(a) + capitalized(b);
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

std::vector<std::string_view> words_of(std::string_view section) {
  const std::string head = fmt::format("\n[{}]", section);
  std::string_view text = words_file();
  text.remove_prefix(text.find('\n', text.find(head) + 1));
  text = text.substr(0, text.find("\n["));
  std::vector<std::string_view> words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const std::size_t size = std::min(text.find_first_of(kWhiteSpace), text.size());
    words.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return words;
}

std::string with_ending(std::string_view stem, std::string_view ending) {
  assert(stem.size() > 1);
  const std::string shorter(stem.substr(0, stem.size() - 1));
  const std::string_view hissing[] = {"s", "x", "z", "ch", "sh"};
  const bool hisses =
      std::ranges::any_of(hissing, [&](std::string_view end) { return stem.ends_with(end); });
  const bool ends_in_y = stem.ends_with('y') && !is_vowel(stem[stem.size() - 2]);
  if (ends_in_y && (ending == "s" || ending == "ed")) {
    return shorter + (ending == "s" ? "ies" : "ied");
  }
  if (ending == "s") {
    return fmt::format("{}{}", stem, hisses ? "es" : "s");
  }
  if (ending == "ly" && stem.ends_with("le")) {
    return shorter + 'y';
  }
  if (ending == "ly" || ending == "ness") {
    return ends_in_y ? fmt::format("{}i{}", shorter, ending) : fmt::format("{}{}", stem, ending);
  }
  if (doubles_its_end(stem)) {
    return fmt::format("{}{}{}", stem, stem.back(), ending);
  }
  return fmt::format("{}{}", stem.ends_with('e') ? shorter : stem, ending);
}

TextMaker::TextMaker(std::uint64_t seed, Random& random)
    : random_(random),
      word_ranks_(0),
      identifier_ranks_(kIdentifiers),
      function_ranks_(functions_.size()),
      technical_ranks_(technical_.size()),
      topic_ranks_(kTopicWords) {
  Random of_words(seed ^ 0x766F636162U);  // Another sequence than the text's.
  add_real_words();
  add_made_up_words(of_words);
  word_ranks_ = Zipf(words_.size());
  add_identifiers(of_words);
}

/// The three kinds in turn, so that the most frequent of each get the lowest ranks.
void TextMaker::add_real_words() {
  const std::array lists = {words_of("nouns"), words_of("verbs"), words_of("adjectives")};
  const std::size_t longest =
      std::ranges::max(lists, {}, [](const auto& list) { return list.size(); }).size();
  for (std::size_t i = 0; i < longest; ++i) {
    for (std::size_t kind = 0; kind < lists.size(); ++kind) {
      if (i < lists[kind].size()) {
        words_.push_back({.stem = std::string(lists[kind][i]), .kind = kind});
      }
    }
  }
  real_words_ = words_.size();
}

void TextMaker::add_made_up_words(Random& random) {
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
    words_.push_back({.stem = std::move(word), .kind = kind < 9 ? 0U : kind < 16 ? 1U : 2U});
  }
}

void TextMaker::add_identifiers(Random& random) {
  const auto part = [&]() -> const std::string& { return words_[word_ranks_.draw(random)].stem; };
  for (std::size_t i = 0; i < kIdentifiers; ++i) {
    const std::string& a = part();
    const std::string& b = part();
    identifiers_.push_back(made_up_identifier(random, a, b, part()));
  }
}

std::string TextMaker::inflected(std::size_t rank) {
  /// Up to which per cent a kind takes which ending.
  struct Share {
    std::uint64_t below;
    std::string_view ending;
  };
  static constexpr Share kShares[][5] = {
      {{72, ""}, {100, "s"}},
      {{48, ""}, {62, "s"}, {80, "ed"}, {97, "ing"}, {100, "er"}},
      {{84, ""}, {95, "ly"}, {100, "ness"}}};
  const Word& word = words_[rank];
  const Share* share = kShares[word.kind];
  for (const std::uint64_t draw = random_.below(100); draw >= share->below;) {
    ++share;
  }
  return share->ending.empty() ? word.stem : with_ending(word.stem, share->ending);
}

std::size_t count_tokens(std::string_view text) {
  std::size_t count = 0;
  bool inside = false;
  for (const char c : text) {
    const bool is_token = is_alnum(c) || !is_ascii(c);
    count += is_token && !inside ? 1 : 0;
    inside = is_token;
  }
  return count;
}

Topic TextMaker::topic() {
  Topic topic;
  for (std::size_t i = 0; i < kTopicWords; ++i) {
    // Every third word is one that everybody uses; the others belong to few topics.
    const std::size_t bound = i % 3 == 0 ? real_words_ : words_.size();
    topic.words.push_back(static_cast<std::size_t>(random_.below(bound)));
  }
  topic.name = words_[topic.words[0]].stem + '_' + words_[topic.words[3]].stem;
  return topic;
}

std::string TextMaker::word(const Topic& topic) {
  const std::uint64_t draw = random_.below(1000);
  if (draw < 400) {
    return std::string(functions_[function_ranks_.draw(random_)]);
  }
  if (draw < 735) {
    return inflected(word_ranks_.draw(random_));
  }
  if (draw < 915) {
    return inflected(topic.words[topic_ranks_.draw(random_)]);
  }
  if (draw < 955) {
    return std::string(technical_[technical_ranks_.draw(random_)]);
  }
  if (draw < 985) {
    const std::string& name = identifier();
    return random_.percent(60) ? fmt::format("`{}`", name) : name;
  }
  if (draw < 995) {
    static constexpr auto kBounds = std::to_array<std::uint64_t>({10, 100, 1000, 10'000, 100'000});
    return fmt::format("{}", random_.below(random_.pick(kBounds)));
  }
  return std::string(random_.pick(foreign_));
}

std::string TextMaker::words(const Topic& topic, std::size_t tokens, bool commas) {
  std::string text;
  for (std::size_t i = 0; i < tokens; ++i) {
    if (i > 0) {
      text += commas && random_.percent(7) ? ", " : " ";
    }
    text += word(topic);
  }
  return text.empty() ? text : capitalized(std::move(text));
}

std::string TextMaker::sentences(const Topic& topic, std::size_t tokens) {
  std::string text;
  for (std::size_t made = 0; made < tokens;) {
    const auto drawn = static_cast<std::size_t>(random_.between(5, 18));
    const std::size_t size = std::min(drawn, std::max<std::size_t>(tokens - made, 2));
    text += text.empty() ? "" : " ";
    text += words(topic, size, true);
    const std::uint64_t draw = random_.below(20);
    text += draw < 16 ? '.' : draw < 19 ? '?' : '!';
    made += size;
  }
  return text;
}

std::string TextMaker::code() {
  const std::string& object = identifier();
  const std::string& function = identifier();
  switch (random_.below(4)) {
    case 0:
      return fmt::format("const {} = await {}(\"{}\");", object, function, identifier());
    case 1:
      return fmt::format("if ({} == null) {{\n  throw new Error(\"{}\");\n}}", object, function);
    case 2:
      return fmt::format("$ grep -rn '{}' {} | head -{}", object, function, random_.below(90) + 10);
    default:
      return fmt::format("{{\"{}\": \"{}\", \"retries\": {}}}", object, function,
                         random_.below(10));
  }
}

std::string TextMaker::document(const Topic& topic, std::size_t tokens) {
  std::string text;
  for (std::size_t made = 0; made < tokens;) {
    text += text.empty() ? "" : "\n\n";
    const std::size_t before = text.size();
    const std::uint64_t draw = random_.below(10);
    if (draw == 0) {
      text += fmt::format("```\n{}\n```", code());
    } else if (draw < 3) {
      for (std::uint64_t items = random_.between(2, 4); items > 0; --items) {
        text += "- " + phrase(topic, static_cast<std::size_t>(random_.between(4, 10)));
        text += items > 1 ? "\n" : "";
      }
    } else {
      const auto drawn = static_cast<std::size_t>(random_.between(15, 60));
      text += sentences(topic, std::min(drawn, tokens - made));
    }
    made += count_tokens(std::string_view(text).substr(before));
  }
  return text;
}

std::string TextMaker::tag(const Topic& topic) {
  return words_[topic.words[static_cast<std::size_t>(random_.below(6))]].stem;
}

}  // namespace bmad_mem::bench
