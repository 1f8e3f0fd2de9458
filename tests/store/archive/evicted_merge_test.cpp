#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/log_merge.hpp"
#include "store/gzip.hpp"

namespace bmad_mem::evicted_merge_test {
namespace {

std::string merged(const std::string& base, const std::string& ours, const std::string& theirs) {
  const Result<std::string> result = merge_evicted(base, ours, theirs);
  REQUIRE_MESSAGE(result.has_value(), result.error().to_string());
  CHECK(*result == *merge_evicted(base, theirs, ours));
  return gunzip(*result, 1000).value();
}

}  // namespace

TEST_CASE("what both branches moved out is all there, in one order") {
  const std::string a = *gzip("a\n");
  const std::string b = *gzip("b\n");
  const std::string c = *gzip("c\n");
  const std::string both = merged(a, a + b, a + c);
  CHECK((both == "a\nb\nc\n" || both == "a\nc\nb\n"));
  CHECK(merged("", b, c).size() == 4);
  CHECK(merged(a, a, a + b) == "a\nb\n");
  CHECK(merged(a, a + b, a + b) == "a\nb\n");
}

TEST_CASE("a side that rewrote what was moved out, or is damaged, is named") {
  const std::string a = *gzip("a\n");
  const std::string b = *gzip("b\n");
  const auto side_of = [](const Result<std::string>& result) {
    return result ? std::string("none") : result.error().path;
  };
  CHECK(side_of(merge_evicted(a, b, a + b)) == "ours");
  CHECK(side_of(merge_evicted(a, a + b, "")) == "theirs");
  CHECK(side_of(merge_evicted(a, a + b, a + b.substr(0, b.size() - 1))) == "theirs");
  CHECK(side_of(merge_evicted("", "text", b)) == "ours");
}

}  // namespace bmad_mem::evicted_merge_test
