// encoded_test.cpp - one layer of encoding hides nothing.
#include <string>

#include <doctest/doctest.h>

#include "privacy/finders.hpp"

namespace bmad_mem::test::encoded_test {
namespace {

/// Finds "hunter2" in what is decoded.
Detections hidden(std::string_view text) {
  Detections found;
  find_encoded(
      text,
      [](std::string_view decoded, Detections& out) {
        if (const std::size_t at = decoded.find("hunter2"); at != std::string_view::npos) {
          out.push_back({.begin = at, .end = at + 7, .rule = "test"});
        }
      },
      found);
  return found;
}

}  // namespace

TEST_CASE("a base64 run with a secret in it is found whole") {
  // "the password is hunter2!"
  const std::string run = "dGhlIHBhc3N3b3JkIGlzIGh1bnRlcjIh";
  const Detections found = hidden("data: " + run + " end");
  REQUIRE(found.size() == 1);
  CHECK(found[0].begin == 6);
  CHECK(found[0].end == 6 + run.size());
}

TEST_CASE("padding belongs to the run") {
  // "the password is hunter2"
  const std::string run = "dGhlIHBhc3N3b3JkIGlzIGh1bnRlcjI=";
  const Detections found = hidden(run);
  REQUIRE(found.size() == 1);
  CHECK(found[0].end == run.size());
}

TEST_CASE("percent-encoded text is found at its place") {
  const std::string text = "see http://x/?q=%68unter%32&b=1 there";
  const Detections found = hidden(text);
  REQUIRE(found.size() == 1);
  CHECK(text.substr(found[0].begin, found[0].end - found[0].begin) == "%68unter%32");
}

TEST_CASE("what decodes to no text is innocent") {
  CHECK(hidden("3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e").empty());
  CHECK(hidden("100% sure, 5%, %zz and %").empty());
  CHECK(hidden(std::string(5000, 'A')).empty());
}

}  // namespace bmad_mem::test::encoded_test
