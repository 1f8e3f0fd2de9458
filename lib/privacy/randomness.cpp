#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "bmad_mem/text.hpp"
#include "innocent.hpp"

namespace bmad_mem {
namespace {

/// Costs are in quarters of a bit: -4 log2 P. Both tables were counted in 275 000 different names
/// and words of the headers, the Python and JavaScript sources and the documents of a Debian
/// system.
constexpr double kCostsPerBit = 4;

/// Cost of each letter after each letter; last row: at the beginning of a word. '0' stands for 0,
/// the next characters of ASCII for 1, 2, 3, ...
constexpr std::size_t kLetterCount = 26;
constexpr std::size_t kWordBegin = kLetterCount;
constexpr std::array<std::string_view, kLetterCount + 1> kLetterCosts = {{
    "SD@AOMCYAZK<A?_BZ=>:GIQJJV",  "=NGN?OO_=CP=NM6P]FEJ>UYUE^",  ">KGM=OU>Da?ADS9JWAD<FIVOJ]",
    ">JMB5KHL<PVEKPAMVCBICNOQK_",  "BM?@HEFVNOVBC=LFG:>=QGKAH]",  "?MJI??PX9c^@LI:IU@DB>ZKXFc",
    "EPGP6QJC<e\\@E?CKX?AEFSTYKV", "9UWN9SV[>lUMFR>;[AG>CZO]Lb",  "EFAAEECaX^S@B8=EVE?<YF\\JeF",
    "A]HN7QVVFWFRLR=KRY6M@TNZT]",  "AJ?I5KKJ:YQIGFJJYJAJDWJbRZ",  "=MNC9EIN;bQ=TR<L]RDBADTPDW",
    "9CJD9KPX?_SGDR?;ZQALEQVUQa",  "?Q>=>C=TBZJIPJ?LZK=;DGVWQ\\", "JHAAQGJYGQJB@:=Ag;<EDHGPT^",
    "=OJK:KOFBYF?LO><U<C?CRRXES",  "KKQMORRYEXTKPKRGMDIO1IOYhZ",  "<PFF8MFT<dLHEG>JZC@@GIQ[Bc",
    "EVDS:NNC>\\CBJGDCTL>7CPOWGR", "=TGJ:MV?<ePGOS>F]<BCFWRJ?[",  "EADE>EHbCcY>@;Q@_>>=YL_G^[",
    "9PIQ6HPX>jCL=SDD\\OGGRZSE[[", ":NHB>QMB8cNJJ@?JR<BKRUDX]e",  "DO?H=EMSA_COAHK;RJG7NKTBG\\",
    "ILIQGJHZH^[DA@J4PO=AOTI[SQ",  ">OOW2QYOA`[GFTEScUKTSWW`FJ",  "A@>ABBDC@QKCBCC@QB=@FEHEVT",
}};

/// Cost of a class after a class; last row: at the beginning of the text.
enum Class : std::size_t { kLower, kUpper, kDigit, kSymbol, kClassCount };
constexpr std::size_t kTextBegin = kClassCount;
constexpr std::array<std::array<int, kClassCount>, kClassCount + 1> kClassCosts = {{
    {{1, 21, 25, 13}},
    {{13, 2, 22, 11}},
    {{13, 17, 3, 9}},
    {{4, 6, 19, 14}},
    {{3, 6, 16, 18}},
}};

/// Of a digit among 10, and of a symbol among those that names have.
constexpr int kDigitCost = 13;
constexpr int kSymbolCost = 8;
constexpr unsigned kSymbolCount = 8;

Class class_of(char c) {
  if (is_lower(c)) {
    return kLower;
  }
  if (is_upper(c)) {
    return kUpper;
  }
  return is_digit(c) ? kDigit : kSymbol;
}

/// How many characters the alphabet has from which `value` would have been drawn.
double alphabet_size(const std::array<bool, kClassCount>& has, bool is_hex) {
  if (is_hex) {
    return 16;
  }
  return (has[kLower] ? 26 : 0) + (has[kUpper] ? 26 : 0) + (has[kDigit] ? 10 : 0) +
         (has[kSymbol] ? kSymbolCount : 0);
}

}  // namespace

double randomness_bits(std::string_view value) {
  int cost = 0;
  std::array<bool, kClassCount> has = {};
  bool is_hex = true;
  std::size_t previous = kTextBegin;
  std::size_t row = kWordBegin;
  for (const char c : value) {
    const Class each = class_of(c);
    has[each] = true;
    is_hex = is_hex && is_hex_digit(c);
    cost += kClassCosts[previous][each];
    if (each == kLower || each == kUpper) {
      const auto letter = static_cast<std::size_t>(to_lower(c) - 'a');
      const bool begins_word = previous == kLower && each == kUpper;
      cost += kLetterCosts[begins_word ? kWordBegin : row][letter] - '0';
      row = letter;
    } else {
      cost += each == kDigit ? kDigitCost : kSymbolCost;
      row = kWordBegin;
    }
    previous = each;
  }
  if (value.empty()) {
    return 0;
  }
  return (cost / kCostsPerBit) -
         (static_cast<double>(value.size()) * std::log2(alphabet_size(has, is_hex)));
}

double shannon_entropy(std::string_view text) {
  std::array<std::size_t, 256> counts{};
  for (const char c : text) {
    ++counts[static_cast<unsigned char>(c)];
  }
  double entropy = 0;
  for (const std::size_t count : counts) {
    if (count > 0) {
      const double share = static_cast<double>(count) / static_cast<double>(text.size());
      entropy -= share * std::log2(share);
    }
  }
  return entropy;
}

Shape shape_of(std::string_view value) {
  Shape shape;
  enum class Kind : std::uint8_t { kNone, kLower, kUpper, kDigit };
  Kind last = Kind::kNone;
  for (const char c : value) {
    Kind kind = Kind::kNone;
    if (is_lower(c)) {
      kind = Kind::kLower;
      ++shape.lower;
    } else if (is_upper(c)) {
      kind = Kind::kUpper;
      ++shape.upper;
    } else if (is_digit(c)) {
      kind = Kind::kDigit;
      ++shape.digits;
    } else {
      continue;
    }
    shape.turns += last != Kind::kNone && kind != last ? 1U : 0U;
    last = kind;
  }
  return shape;
}

bool looks_random(std::string_view value) {
  // A key of letters and digits turns at 6 of 10 places, a hexadecimal one at 4 to 5, camelCase at
  // 3, words with a number behind at 1. Longer values tell nothing that their begin does not.
  constexpr std::size_t kEnough = 256;
  constexpr std::size_t kSizeMin = 16;
  constexpr double kEntropyMin = 3.0;
  if (value.size() < kSizeMin) {
    return false;
  }
  value = value.substr(0, kEnough);
  const Shape shape = shape_of(value);
  const bool turns_often = shape.digits > 0
                               ? shape.turns * 5 >= value.size()
                               : shape.upper > 0 && shape.turns * 5 >= value.size() * 2;
  return turns_often && shannon_entropy(value) >= kEntropyMin;
}

namespace {

/// Whether `value` tells what others have to look like: a regular expression.
bool is_pattern(std::string_view value) {
  static constexpr std::string_view kParts[] = {"(?=", "(?:", "(?!", "(?<",  "(?P", "A-Z",
                                                "a-z", "0-9", ".*[", "\\d{", ")+",  "[^"};
  return std::ranges::any_of(kParts, [&](std::string_view part) { return value.contains(part); });
}

/// Whether `value` has bytes as source code writes them: `\x63\x6c`.
bool has_byte_escapes(std::string_view value) {
  const std::size_t first = value.find("\\x");
  return first != std::string_view::npos && value.find("\\x", first + 1) != std::string_view::npos;
}

/// Names and what code joins them with: "Name.Class", "&pass;", "certs[0][2],".
bool is_joined_names(std::string_view value) {
  while (!value.empty() && std::string_view("&*!@$").contains(value.front())) {
    value.remove_prefix(1);
  }
  while (!value.empty() && std::string_view(";,)").contains(value.back())) {
    value.remove_suffix(1);
  }
  return std::ranges::all_of(
             value,
             [](char c) { return is_word_byte(c) || std::string_view(".:->[]()").contains(c); }) &&
         (randomness_bits(value) < kRandomBits || std::ranges::none_of(value, is_digit));
}

}  // namespace

bool is_scrambled(std::string_view value) {
  // Of random texts of 16 printable characters 98 in 100 are so. The next kind of a character is
  // another one in 72 of 100 cases; letters that could be a word are five or fewer.
  constexpr std::size_t kSizeMin = 8;
  constexpr std::size_t kEnough = 256;
  constexpr std::size_t kWordMax = 5;
  if (value.size() < kSizeMin) {
    return false;
  }
  value = value.substr(0, kEnough);
  std::array<std::size_t, kClassCount> counts = {};
  std::size_t turns = 0;
  std::size_t word = 0;
  Class previous = kClassCount;
  for (const char c : value) {
    if (c <= ' ' || c > '~') {
      return false;
    }
    const Class each = class_of(c);
    ++counts[each];
    turns += previous != kClassCount && each != previous ? 1U : 0U;
    // "Word", "WORD" and "word" are words, "wOrD" is none.
    const bool goes_on = each == previous || (each == kLower && previous == kUpper && word == 1);
    word = each == kLower || each == kUpper ? (goes_on ? word + 1 : 1) : 0;
    if (word > kWordMax) {
      return false;
    }
    previous = each;
  }
  const std::size_t kinds = static_cast<std::size_t>(
      std::ranges::count_if(counts, [](std::size_t count) { return count > 0; }));
  return counts[kSymbol] > 0 && kinds >= 3 && turns * 3 >= value.size() && !is_pattern(value) &&
         !has_byte_escapes(value) && !is_joined_names(value);
}

}  // namespace bmad_mem
