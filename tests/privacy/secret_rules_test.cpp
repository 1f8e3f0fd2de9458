// secret_rules_test.cpp - every row of the table of secrets, by its own examples.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <re2/re2.h>

#include "privacy/finders.hpp"
#include "privacy/keyword_index.hpp"
#include "privacy/secret_rule.hpp"
#include "rule_examples.hpp"

namespace bmad_mem::test::secret_rules_test {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kCrockfordDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

bool finds(const SecretRule& rule, const std::string& text) {
  if (rule.kind == RuleKind::kAssigned) {
    const std::size_t equals = text.find('=');
    REQUIRE_MESSAGE(equals != std::string::npos, "an example of " << rule.id << " is NAME=VALUE");
    const SecretRule* found = find_assigned_rule(std::string_view(text).substr(0, equals),
                                                 std::string_view(text).substr(equals + 1));
    return found != nullptr && found->id == rule.id;
  }
  Detections detections;
  find_tokens(text, detections);
  return std::ranges::any_of(detections,
                             [&](const Detection& each) { return each.rule == rule.id; });
}

/// `size` characters drawn from `alphabet`.
std::string drawn(std::mt19937_64& random, std::string_view alphabet, std::size_t size) {
  std::string text(size, ' ');
  for (char& c : text) {
    c = alphabet[random() % alphabet.size()];
  }
  return text;
}

std::string uuid(std::mt19937_64& random) {
  std::string text = drawn(random, kHexDigits, 36);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) {
    text[dash] = '-';
  }
  return text;
}

}  // namespace

TEST_CASE("every rule finds what it must and spares what it must not") {
  auto examples = read_rule_examples();
  for (const SecretRule& rule : secret_rules()) {
    INFO("rule " << rule.id);
    const auto known = examples.extract(std::string(rule.id));
    if (known.empty()) {
      FAIL_CHECK(rule.id << " has no examples in rule_examples.txt");
      continue;
    }
    CHECK_FALSE(known.mapped().finds.empty());
    CHECK_FALSE(known.mapped().spares.empty());
    for (const std::string& text : known.mapped().finds) {
      CHECK_MESSAGE(finds(rule, text), rule.id << " must find " << text);
    }
    for (const std::string& text : known.mapped().spares) {
      CHECK_MESSAGE(!finds(rule, text), rule.id << " must spare " << text);
    }
  }
  for (const auto& [id, of_no_rule] : examples) {
    FAIL_CHECK(id << " has examples and is no rule");
  }
}

TEST_CASE("the rows of the table are well formed") {
  std::set<std::string_view> ids;
  for (const SecretRule& rule : secret_rules()) {
    INFO("rule " << rule.id);
    CHECK(ids.insert(rule.id).second);
    CHECK(rule.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
          std::string_view::npos);
    CHECK_FALSE(rule.what.empty());
    CHECK_FALSE(rule.keywords.empty());
    const RE2 pattern(re2::StringPiece(rule.pattern.data(), rule.pattern.size()), RE2::Quiet);
    CHECK_MESSAGE(pattern.ok(), pattern.error());
    CHECK(pattern.NumberOfCapturingGroups() <= 1);
  }
}

TEST_CASE("no hash and no id is a token") {
  constexpr std::uint64_t kSeed = 20240607;
  constexpr int kRounds = 33'334;  // Six texts each: 200,004.
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    // An abbreviated commit, an MD5, a commit, a SHA-256, a UUID and a ULID.
    const std::string texts[] = {
        drawn(random, kHexDigits, 7),
        drawn(random, kHexDigits, 32),
        drawn(random, kHexDigits, 40),
        drawn(random, kHexDigits, 64),
        uuid(random),
        drawn(random, kCrockfordDigits, 26),
    };
    for (const std::string& text : texts) {
      Detections detections;
      find_tokens("see " + text + ", please", detections);
      REQUIRE_MESSAGE(detections.empty(), "seed " << kSeed << ": " << text << " is taken for a "
                                                  << detections.front().rule);
    }
  }
}

TEST_CASE("a walk over a text finds each word at each place, in order") {
  using Hit = std::pair<std::size_t, std::string>;
  static constexpr std::string_view kWords[] = {"abc", "bca",  "aab",   "abcab", "cab",
                                                "b-a", "baab", "ccccc", "a-b-c", "bb-"};
  KeywordIndex index;
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    index.add(kWords[i], static_cast<std::uint16_t>(i));
  }
  std::mt19937_64 random(7);
  for (std::size_t round = 0; round < 4000; ++round) {
    const std::string text = drawn(random, "abc-", round % 40);
    std::vector<Hit> wanted;
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const std::string_view word : kWords) {
        if (std::string_view(text).substr(at).starts_with(word)) {
          wanted.emplace_back(at, word);
        }
      }
    }
    std::vector<Hit> found;
    const auto use = [&](std::size_t at, std::string_view word, std::uint16_t /*value*/) {
      CHECK((found.empty() || found.back().first <= at));
      found.emplace_back(at, word);
    };
    index.find(text, use);
    std::ranges::sort(found);
    std::ranges::sort(wanted);
    CAPTURE(text);
    CHECK(found == wanted);
  }
}

TEST_CASE("a word told by its first three bytes is found with the fourth in any case") {
  KeywordIndex words;
  words.add("pas", 1, 's');
  for (const std::string_view text : {"pass", "xpass", "pasS", "xpasS", "xxpasSx"}) {
    std::size_t found = 0;
    words.find(text, [&](std::size_t, std::string_view, std::uint16_t) { ++found; });
    CAPTURE(text);
    CHECK(found == 1);
  }
}

}  // namespace bmad_mem::test::secret_rules_test
