#include "index/posting_codec.hpp"

#include <array>
#include <cassert>
#include <charconv>
#include <cstring>
#include <utility>

#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kNumberSizeMax = 10;

constexpr auto kPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

char* put_pair(std::uint32_t number, char* to) {
  std::memcpy(to, kPairs.data() + std::size_t{2} * number, 2);
  return to + 2;
}

/// Writes `number` at `to`; returns where it ends. Most gaps have up to four digits.
char* put_number(std::uint32_t number, char* to) {
  if (number < 10) {
    *to = static_cast<char>('0' + number);
    return to + 1;
  }
  if (number < 100) {
    return put_pair(number, to);
  }
  if (number < 10'000) {
    return put_pair(number % 100, put_number(number / 100, to));
  }
  return std::to_chars(to, to + kNumberSizeMax, number).ptr;
}

/// Reads a number from `at`, which it moves behind it. 0 when there is none, or one beyond 32 bits.
std::uint64_t read_number(const char*& at) {
  constexpr std::uint64_t kNumberMax = ~std::uint32_t{0};
  std::uint64_t number = 0;
  while (is_digit(*at)) {
    number = number * 10 + static_cast<std::uint64_t>(*at - '0');
    if (number > kNumberMax) {
      return 0;
    }
    ++at;
  }
  return number;
}

}  // namespace

void append_postings(std::span<const Posting> postings, Ordinal last, std::string& out) {
  // Comma, sign, gap, comma, frequency.
  constexpr std::size_t kPostingSizeMax = 2 + kNumberSizeMax + 1 + kNumberSizeMax;
  bool first = out.back() == '[';
  const auto write = [&](char* to) {
    for (const Posting& posting : postings) {
      assert(last == kNoOrdinal || posting.ordinal > last);
      assert(posting.frequency > 0);
      if (!std::exchange(first, false)) {
        *to++ = ',';
      }
      if (posting.frequency > 1) {
        *to++ = '-';
      }
      to = put_number(posting.ordinal - last, to);  // From kNoOrdinal it wraps to ordinal + 1.
      if (posting.frequency > 1) {
        *to++ = ',';
        to = put_number(posting.frequency, to);
      }
      last = posting.ordinal;
    }
    return to;
  };
  const std::size_t begin = out.size();
  out.resize_and_overwrite(begin + postings.size() * kPostingSizeMax, [&](char* text, std::size_t) {
    return static_cast<std::size_t>(write(text + begin) - text);
  });
}

Ordinal last_ordinal(std::string_view list) {
  std::uint64_t sum = 0;  // Of the gaps.
  std::uint64_t number = 0;
  bool is_frequency = false;
  bool is_counted = false;  // The gap has a frequency behind it.
  for (const char c : list.substr(1)) {
    if (is_digit(c)) {
      number = number * 10 + static_cast<std::uint64_t>(c - '0');
    } else if (c == '-') {
      is_counted = true;
    } else {  // A comma, or the closing bracket.
      sum += is_frequency ? 0 : number;
      is_frequency = std::exchange(is_counted, false);
      number = 0;
    }
  }
  return static_cast<Ordinal>(sum - 1);  // kNoOrdinal for an empty list.
}

bool decode_postings(std::string_view list, Ordinal ordinal_end, std::vector<Posting>& out) {
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') {
    return false;
  }
  if (list.size() == 2) {
    return true;
  }
  const char* at = list.data() + 1;
  const char* const end = list.data() + list.size() - 1;  // At ']', where every loop stops.
  std::uint64_t next = 0;                                 // The ordinal that a gap of 1 names.
  while (true) {
    const bool counted = *at == '-';
    at += counted ? 1 : 0;
    const std::uint64_t gap = read_number(at);
    std::uint64_t frequency = 1;
    if (counted) {
      if (*at != ',') {
        return false;
      }
      ++at;
      frequency = read_number(at);
    }
    next += gap;
    if (gap == 0 || frequency == 0 || next > ordinal_end) {
      return false;
    }
    out.push_back({.ordinal = static_cast<Ordinal>(next - 1),
                   .frequency = static_cast<std::uint32_t>(frequency)});
    if (at == end) {
      return true;
    }
    if (*at != ',') {
      return false;
    }
    ++at;
  }
}

}  // namespace bmad_mem
