#include "index/posting_codec.hpp"

#include <array>
#include <cassert>
#include <charconv>

namespace bmad_mem {
namespace {

void append_number(std::uint32_t number, std::string& out) {
  std::array<char, 10> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
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
  for (const Posting& posting : postings) {
    assert(last == kNoOrdinal || posting.ordinal > last);
    assert(posting.frequency > 0);
    if (out.back() != '[') {
      out += ',';
    }
    if (posting.frequency > 1) {
      out += '-';
    }
    append_number(posting.ordinal - last, out);  // From kNoOrdinal it wraps to ordinal + 1.
    if (posting.frequency > 1) {
      out += ',';
      append_number(posting.frequency, out);
    }
    last = posting.ordinal;
  }
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
