#include "search_queries.hpp"

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "corpus.hpp"

using namespace bmad_mem;
using namespace bmad_mem::bench;

namespace {

using Words = std::vector<std::string>;

DocumentFrequencies frequencies_of_corpus(std::uint64_t seed) {
  Corpus corpus(seed);
  DocumentFrequencies frequencies;
  for (int i = 0; i < 1000; ++i) {
    count_words(frequencies, corpus.next().text);
  }
  return frequencies;
}

}  // namespace

TEST_CASE("words that every tokenizer agrees upon") {
  CHECK(plain_words("Pools fail, pools recover.") == Words{"fail", "pools", "recover"});
  CHECK(plain_words("(retry) \"cache\"; done:\nQueue") == Words{"cache", "done", "queue", "retry"});
  CHECK(plain_words("getUserById user_id src/auth.ts v1.2 don't 42 x") == Words{});
  CHECK(plain_words("the and of is") == Words{});
  CHECK(plain_words("caf\xC3\xA9 naive\xC3\xAFvely") == Words{});
  CHECK(plain_words("") == Words{});
}

TEST_CASE("others get identifiers in parts") {
  CHECK(text_for_others("getUserById user_id E_LOCK x") == "get User By Id user id E LOCK x");
}

TEST_CASE("queries are the same for a seed, and rare and frequent words are in them") {
  const DocumentFrequencies frequencies = frequencies_of_corpus(1);
  const std::vector<SearchWords> queries = draw_queries(frequencies, 1, 200);
  REQUIRE(queries.size() == 200);
  CHECK(queries == draw_queries(frequencies, 1, 200));
  CHECK(queries != draw_queries(frequencies, 2, 200));
  std::size_t frequent = 0;
  std::size_t rare = 0;
  for (const SearchWords& words : queries) {
    CHECK(words.size() >= 1);
    CHECK(words.size() <= 5);
    CHECK(std::set<std::string>(words.begin(), words.end()).size() == words.size());
    for (const std::string& word : words) {
      const std::uint64_t frequency = frequencies.at(word);
      CHECK(frequency >= 2);
      frequent += frequency >= 100 ? 1 : 0;
      rare += frequency <= 20 ? 1 : 0;
    }
  }
  CHECK(frequent > 50);
  CHECK(rare > 50);
  CHECK(joined({"a", "b"}) == "a b");
}

TEST_CASE("without words there is nothing to ask") {
  CHECK(draw_queries(DocumentFrequencies(), 1, 10).empty());
}
