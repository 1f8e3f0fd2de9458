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

}  // namespace bmad_mem
