// analyzer_property_test.cpp - what holds for the tokens and terms of any text.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "search/analyzer.hpp"

namespace bmad_mem::test::analyzer_property_test {
namespace {

std::string encoded(std::uint32_t code) {
  const auto tail = [code](unsigned shift) {
    return static_cast<char>(0x80U | ((code >> shift) & 0x3FU));
  };
  if (code < 0x80) {
    return {static_cast<char>(code)};
  }
  if (code < 0x800) {
    return {static_cast<char>(0xC0U | (code >> 6U)), tail(0)};
  }
  if (code < 0x10000) {
    return {static_cast<char>(0xE0U | (code >> 12U)), tail(6), tail(0)};
  }
  return {static_cast<char>(0xF0U | (code >> 18U)), tail(12), tail(6), tail(0)};
}

/// The size of the UTF-8 character at `at`, 0 when there is none.
std::size_t character_size(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t size = lead < 0x80   ? 1
                           : lead < 0xC2 ? 0
                           : lead < 0xE0 ? 2
                           : lead < 0xF0 ? 3
                                         : 4;
  if (lead > 0xF4 || at + size > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  return size;
}

/// Why `term` may not stand in the index; empty when it may.
std::string fault_of(std::string_view term) {
  if (term.size() > kTokenSizeMax) {
    return "too long";
  }
  for (std::size_t at = 0; at < term.size();) {
    const std::size_t size = character_size(term, at);
    const auto c = static_cast<unsigned char>(term[at]);
    if (size == 0) {
      return "no UTF-8";
    }
    if (c < 0x20 || c == 0x7F || c == '"' || c == '\\' || (c == 0xC2 && term[at + 1] < '\xA0')) {
      return "needs an escape, or is a control";
    }
    if (c >= 'A' && c <= 'Z') {
      return "a capital";
    }
    at += size;
  }
  return {};
}

/// What is wrong with the tokens of `text`; empty when nothing is.
std::string fault_in(Analyzer& analyzer, std::string_view text) {
  std::size_t part_end = 0;
  std::size_t last_offset = 0;
  for (const Token& token : analyzer.tokenize(text)) {
    const std::size_t end = std::size_t{token.offset} + token.size;
    if (token.text.empty() || token.size == 0 || end > text.size()) {
      return "empty, or outside of the text";
    }
    if (token.offset < last_offset) {
      return "not in the order of offsets";
    }
    // Pairs of neighbouring characters overlap; all other parts follow one another.
    if (!token.whole && token.offset < part_end && (token.text[0] & 0x80) == 0) {
      return "parts overlap";
    }
    last_offset = token.offset;
    part_end = token.whole ? part_end : end;
    std::string fault = fault_of(token.text);
    if (!fault.empty()) {
      return "token: " + fault;
    }
    fault = fault_of(analyzer.term(token.text, token.whole));
    if (!fault.empty()) {
      return "term: " + fault;
    }
  }
  return {};
}

std::vector<std::string> terms_of(Analyzer& analyzer, std::string_view text) {
  std::vector<std::string> terms;
  for (const Token& token : analyzer.tokenize(text)) {
    terms.emplace_back(analyzer.term(token.text, token.whole));
  }
  return terms;
}

using Random = std::mt19937;  // The same numbers everywhere, unlike the standard's distributions.

std::uint32_t below(Random& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(random()) % bound;
}

std::string random_bytes(Random& random) {
  std::string text(below(random, 300), '\0');
  for (char& c : text) {
    c = static_cast<char>(below(random, 256));
  }
  return text;
}

/// ASCII that is rich in joints, apostrophes and changes of case.
std::string random_ascii(Random& random) {
  static constexpr std::string_view kLetters = "aabcsSvVsxXZ019__-./:@+#\\'' \"\n,";
  std::string text(below(random, 300), '\0');
  for (char& c : text) {
    c = kLetters[below(random, kLetters.size())];
  }
  return text;
}

/// Characters of all kinds: ASCII, apostrophes, marks, scripts with and without blanks, damage.
std::string random_utf8(Random& random) {
  static constexpr std::uint32_t kStarts[] = {
      0x20,   0x41,   0x61,   0xC0,   0x130,  0x2B0,  0x300,  0x391,   0x410,   0x5D0,   0x627,
      0x64B,  0x905,  0x93E,  0xE01,  0xE31,  0x1100, 0x200B, 0x2019,  0x2474,  0x3040,  0x4E00,
      0xAC00, 0xFB00, 0xFDFA, 0xFE0F, 0xFF21, 0xFF66, 0xFF9E, 0x1D400, 0x1F600, 0x20000, 0xE0100};
  std::string text;
  for (std::uint32_t count = below(random, 80); count > 0; --count) {
    text += encoded(kStarts[below(random, std::size(kStarts))] + below(random, 16));
    if (below(random, 40) == 0) {
      text.pop_back();
    }
  }
  return text;
}

struct Kind {
  const char* name;
  std::string (*make)(Random&);
};
constexpr Kind kKinds[] = {
    {"bytes", random_bytes}, {"ASCII", random_ascii}, {"UTF-8", random_utf8}};

Analyzer english() { return Analyzer::create("english").value(); }

}  // namespace

TEST_CASE("tokens of any text are ordered, inside of it and fit for the index") {
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.name);
    Analyzer analyzer = english();
    for (std::uint32_t seed = 0; seed < 3000; ++seed) {
      Random random(seed);
      const std::string fault = fault_in(analyzer, kind.make(random));
      if (!fault.empty()) {
        FAIL(fault << " with seed " << seed);
      }
    }
  }
}

TEST_CASE("terms are fit for the index in every language") {
  const std::string known = Analyzer::create("none").error().message;
  std::size_t languages = 0;
  for (std::size_t at = known.find(": ") + 2; at < known.size(); ++languages) {
    const std::size_t end = std::min(known.find(", ", at), known.size());
    const std::string language = known.substr(at, end - at);
    CAPTURE(language);
    Analyzer analyzer = Analyzer::create(language).value();
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
      CAPTURE(seed);
      Random random(seed);
      REQUIRE(fault_in(analyzer, random_utf8(random)) == "");
      // Words as long as tokens, in the script of some stemmer or other.
      static constexpr std::uint32_t kScripts[] = {0x61, 0x3B1, 0x430, 0x5D0, 0x627, 0x905, 0xB85};
      std::string word;
      for (int i = 0; i < 70; ++i) {
        word += encoded(kScripts[seed % std::size(kScripts)] + below(random, 24));
      }
      REQUIRE(fault_in(analyzer, word) == "");
    }
    at = end + 2;
  }
  CHECK(languages > 20);
}

TEST_CASE("every character alone, inside a word, and twice is fit for the index") {
  Analyzer analyzer = english();
  for (std::uint32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0x3'1000 && code < 0xE'0000) {
      code = 0xE'0000;  // Nothing is assigned between, as of Unicode 14.
    }
    const std::string c = encoded(code);  // Surrogates too.
    const std::string fault = fault_in(analyzer, c + " a" + c + "b/c " + c + c);
    if (!fault.empty()) {
      FAIL(fault << " with U+" << std::hex << code);
    }
  }
}

TEST_CASE("a text has the same terms whatever was analyzed before it") {
  Analyzer used = english();
  for (const Kind& kind : kKinds) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
      Random random(seed);
      const std::string text = kind.make(random);
      Analyzer fresh = english();
      REQUIRE(terms_of(used, text) == terms_of(fresh, text));
    }
  }
}

TEST_CASE("case makes no difference where it does not change inside of words") {
  Analyzer analyzer = english();
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    std::string lower = random_ascii(random);
    std::ranges::transform(lower, lower.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    std::string upper = lower;
    std::ranges::transform(upper, upper.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
    });
    const std::vector<std::string> expected = terms_of(analyzer, lower);
    CAPTURE(seed);
    REQUIRE(terms_of(analyzer, upper) == expected);
  }
}

TEST_CASE("a word has the same token at every place, however the text goes on") {
  Analyzer analyzer = english();
  for (std::size_t size = 1; size <= 40; ++size) {
    const std::string word = std::string("Q") + std::string(size - 1, 'w');
    const std::string lower = std::string("q") + std::string(size - 1, 'w');
    for (std::size_t place = 0; place < 10; ++place) {
      for (const std::string_view after : {"", " ", ".", ", and", "' x", "\xE2\x80\x94", "\xFF"}) {
        const std::string text = std::string(place, ' ') + word + std::string(after);
        const std::span<const Token> tokens = analyzer.tokenize(text);
        REQUIRE_FALSE(tokens.empty());
        CHECK(tokens[0].text == lower);
        CHECK(tokens[0].offset == place);
        CHECK(tokens[0].size == size);
      }
    }
  }
}

}  // namespace bmad_mem::test::analyzer_property_test
