// posting_codec_test.cpp - posting lists as text, there and back.
#include "index/posting_codec.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"

namespace bmad_mem::test::posting_codec_test {
namespace {

constexpr Ordinal kLargest = kNoOrdinal - 1;

/// Ascending; gaps and frequencies of very different sizes.
std::vector<Posting> random_postings(std::mt19937& random, std::size_t count_max) {
  std::vector<Posting> postings;
  const std::size_t count = random() % (count_max + 1);
  Ordinal next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto skipped = static_cast<Ordinal>(random() % (1U << (random() % 20)));
    const auto frequency =
        static_cast<std::uint32_t>(random() % 2 == 0 ? 1 : 1 + random() % (1U << (random() % 31)));
    postings.push_back({.ordinal = next + skipped, .frequency = frequency});
    next += skipped + 1;
  }
  return postings;
}

std::string encode_postings(const std::vector<Posting>& postings) {
  std::string list = "[";
  append_postings(postings, kNoOrdinal, list);
  return list + ']';
}

Ordinal end_of(const std::vector<Posting>& postings) {
  return postings.empty() ? 0 : postings.back().ordinal + 1;
}

bool ascends_below(const std::vector<Posting>& postings, Ordinal end) {
  const auto not_ascending = [](const Posting& left, const Posting& right) {
    return left.ordinal >= right.ordinal;
  };
  return std::ranges::adjacent_find(postings, not_ascending) == postings.end() &&
         std::ranges::all_of(postings, [end](const Posting& each) {
           return each.ordinal < end && each.frequency > 0;
         });
}

}  // namespace

TEST_CASE("the last ordinal of a list is told without its postings") {
  for (const std::vector<Posting>& postings : {std::vector<Posting>{{0, 1}},
                                               {{0, 7}},
                                               {{3, 2}, {4, 1}},
                                               {{9, 1}, {1234, 15}, {98765, 1}},
                                               {{5, 1}, {4'000'000'000, 99}}}) {
    CHECK(last_ordinal(encode_postings(postings)) == postings.back().ordinal);
  }
  CHECK(last_ordinal("[]") == kNoOrdinal);
}

TEST_CASE("a list is its gaps, and frequencies above one behind a negative gap") {
  struct Row {
    const char* name;
    std::vector<Posting> postings;
    std::string_view text;
  };
  const std::vector<Row> rows = {
      {"nothing", {}, "[]"},
      {"the first entry", {{0, 1}}, "[1]"},
      {"the header's example", {{0, 1}, {1, 1}, {3, 4}, {8, 1}}, "[1,1,-2,4,5]"},
      {"a frequency at the start", {{2, 7}}, "[-3,7]"},
      {"a frequency at the end", {{2, 1}, {3, 2}}, "[3,-1,2]"},
      {"frequencies only", {{0, 2}, {1, 3}}, "[-1,2,-1,3]"},
      {"the last of all ordinals", {{kLargest, 1}}, "[4294967295]"},
      {"first and last", {{0, 1}, {kLargest, kNoOrdinal}}, "[1,-4294967294,4294967295]"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(encode_postings(row.postings) == row.text);
    std::vector<Posting> decoded;
    CHECK(decode_postings(row.text, end_of(row.postings), decoded));
    CHECK(decoded == row.postings);
  }
}

TEST_CASE("what is no list of ascending ordinals below the end is refused") {
  for (const std::string_view text : {"",
                                      "[",
                                      "]",
                                      "1",
                                      "[1",
                                      "1]",
                                      "[,]",
                                      "[1,]",
                                      "[,1]",
                                      "[0]",
                                      "[1,0]",
                                      "[-1]",
                                      "[-1,0]",
                                      "[-0,2]",
                                      "[-1,]",
                                      "[-1,-2]",
                                      "[--1]",
                                      "[1 ,2]",
                                      "[1, 2]",
                                      "[1.5]",
                                      "[1e1]",
                                      "[a]",
                                      "[\"1\"]",
                                      "[[1]]",
                                      "[1]]",
                                      "[1][1]",
                                      "[1];",
                                      "[11]",
                                      "[5,6]",
                                      "[10,1]",
                                      "[-11,2]",
                                      "[1,-]",
                                      "[4294967296]",
                                      "[-]",
                                      "[-1,4294967296]",
                                      "[18446744073709551617]",
                                      "[1,99999999999999999999999999]"}) {
    CAPTURE(text);
    std::vector<Posting> decoded;
    CHECK_FALSE(decode_postings(text, 10, decoded));
  }
  std::vector<Posting> decoded;
  CHECK(decode_postings("[10]", 10, decoded));
}

TEST_CASE("decoding appends to what is there") {
  std::vector<Posting> postings = {{7, 3}};
  CHECK(decode_postings("[2]", 9, postings));
  CHECK(postings == std::vector<Posting>{{7, 3}, {1, 1}});
}

TEST_CASE("random lists come back, are JSON, and grow at their end") {
  std::mt19937 random(20261122);
  JsonParser parser;
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const std::vector<Posting> postings = random_postings(random, 40);
    const std::string text = encode_postings(postings);
    std::vector<Posting> decoded;
    REQUIRE(decode_postings(text, end_of(postings), decoded));
    CHECK(decoded == postings);
    CHECK(parser.parse(text).has_value());
    if (!postings.empty()) {
      decoded.clear();
      CHECK_FALSE(decode_postings(text, postings.back().ordinal, decoded));
    }
    std::string grown = "[";
    Ordinal last = kNoOrdinal;
    for (std::size_t at = 0; at < postings.size();) {
      const std::size_t count = std::min<std::size_t>(random() % 5, postings.size() - at);
      append_postings(std::span(postings).subspan(at, count), last, grown);
      last = count == 0 ? last : postings[at + count - 1].ordinal;
      at += count;
    }
    CHECK(grown + "]" == text);
  }
}

TEST_CASE("a list with any character gone or replaced is refused, or ascends below its end") {
  std::mt19937 random(4711);
  constexpr std::string_view kCharacters("0123456789-,[]+. \"eE{\0\xFF", 23);
  for (int round = 0; round < 120; ++round) {
    const std::vector<Posting> postings = random_postings(random, 12);
    const std::string text = encode_postings(postings);
    const auto holds = [&](const std::string& changed) {
      // No byte behind the list, so that the sanitizer sees a read beyond it.
      const std::vector<char> exact(changed.begin(), changed.end());
      std::vector<Posting> decoded;
      return !decode_postings({exact.data(), exact.size()}, end_of(postings), decoded) ||
             ascends_below(decoded, end_of(postings));
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string changed = text;
      changed.erase(at, 1);
      CHECK_MESSAGE(holds(changed), changed);
      for (const char replacement : kCharacters) {
        changed = text;
        changed[at] = replacement;
        CHECK_MESSAGE(holds(changed), changed);
      }
      CHECK_MESSAGE(holds(text.substr(0, at)), text.substr(0, at));
    }
  }
}

}  // namespace bmad_mem::test::posting_codec_test
