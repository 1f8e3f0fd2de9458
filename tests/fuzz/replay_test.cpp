// replay_test.cpp - the fuzz targets over texts that are likely to hurt, and over random changes of
// them: a second of fuzzing in every test run, with any compiler.
#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "concurrency/child.hpp"
#include "fuzz/fuzz_seeds.hpp"
#include "fuzz/fuzz_targets.hpp"

namespace bmad_mem::test {
namespace {

using Target = void (*)(std::string_view);

/// A few random changes: bytes replaced, removed, doubled, or taken from another text.
std::string changed(std::string text, const std::vector<std::string>& others,
                    std::mt19937& random) {
  constexpr std::string_view kSharp = "\"\\{}[]:,\n\r\0 0e-+.\xEF\xBB\xBF\xFF\xC3";
  const auto below = [&](std::size_t limit) { return random() % std::max<std::size_t>(limit, 1); };
  for (std::size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = kSharp[below(kSharp.size())];
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), 1 + below(20)));
        break;
      case 3:
        text.resize(at);
        break;
      default: {
        const std::string& other = others[below(others.size())];
        text.insert(at, other.substr(below(other.size()), 1 + below(30)));
      }
    }
  }
  return text;
}

void replay(Target target, const std::vector<std::string>& texts, int rounds) {
  std::mt19937 random(test_seed("replay"));
  for (const std::string& text : texts) {
    target(text);
    for (int round = 0; round < rounds; ++round) {
      target(changed(text, texts, random));
    }
  }
}

}  // namespace

TEST_CASE("any JSON is read as nlohmann reads it, or refused with a place and a reason") {
  replay(fuzz_json, json_seeds(), 200);
}

TEST_CASE("any entry is completed once and for all, or refused with a reason") {
  replay(fuzz_entry, entry_seeds(), 60);
}

TEST_CASE("any time reads back the same") { replay(fuzz_rfc3339, rfc3339_seeds(), 500); }

TEST_CASE("any bytes are split into the same lines") { replay(fuzz_lines, lines_seeds(), 200); }

TEST_CASE("any log takes an append and a repair, and loses no entry") {
  replay(fuzz_log, log_seeds(), 100);
}

TEST_CASE("any query is taken apart, or refused with a place and a reason") {
  replay(fuzz_query, query_seeds(), 300);
}

TEST_CASE("any text is taken apart into terms that may stand in the index") {
  replay(fuzz_analyzer, analyzer_seeds(), 100);
}

TEST_CASE("any answer of an encoder is vectors or a reason") {
  replay(fuzz_vectors, vectors_seeds(), 300);
}

TEST_CASE("any text has a direction, and any weights are a model or none") {
  replay(fuzz_encoder, encoder_seeds(), 10);
}

TEST_CASE("any vectors beside a segment are right, or none") {
  replay(fuzz_segment_vectors, root_index_seeds(), 4);
}

TEST_CASE("any segment gives the right answer or none") {
  replay(fuzz_segment, root_index_seeds(), 4);
}

TEST_CASE("any CURRENT costs time at most") { replay(fuzz_current, root_index_seeds(), 4); }

}  // namespace bmad_mem::test
