#include "index/posting_codec.hpp"

#include <cassert>
#include <charconv>
#include <utility>

namespace bmad_mem {
namespace {

constexpr std::size_t kNumberSizeMax = 10;

/// Writes `number` at `to`; returns where it ends. Most gaps have one or two digits.
char* put_number(std::uint32_t number, char* to) {
  if (number < 10) {
    *to = static_cast<char>('0' + number);
    return to + 1;
  }
  if (number < 100) {
    to[0] = static_cast<char>('0' + number / 10);
    to[1] = static_cast<char>('0' + number % 10);
    return to + 2;
  }
  return std::to_chars(to, to + kNumberSizeMax, number).ptr;
}

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

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
  const std::size_t begin = out.size();
  bool first = out.back() == '[';
  out.resize(begin + postings.size() * kPostingSizeMax);
  char* to = out.data() + begin;
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
  out.resize(static_cast<std::size_t>(to - out.data()));
}

std::string encode_postings(std::span<const Posting> postings) {
  std::string out = "[";
  append_postings(postings, kNoOrdinal, out);
  out += ']';
  return out;
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
