// secret_rules_test.cpp - every row of the table of secrets, by its own examples.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <re2/re2.h>

#include "privacy/secret_rule.hpp"
#include "privacy/token_rules.hpp"

namespace bmad_mem::test {
namespace {

/// The lines of an example, without the dots that hide them from other people's scanners.
std::vector<std::string> examples(std::string_view lines) {
  constexpr std::string_view kDot = "\u00b7";
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    std::string line(lines.substr(begin, end - begin));
    for (std::size_t dot = 0; (dot = line.find(kDot)) != std::string::npos;) {
      line.erase(dot, kDot.size());
    }
    all.push_back(std::move(line));
    begin = end + 1;
  }
  return all;
}

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

}  // namespace

TEST_CASE("every rule finds what it must and spares what it must not") {
  for (const SecretRule& rule : secret_rules()) {
    INFO("rule " << rule.id);
    CHECK_FALSE(examples(rule.finds).empty());
    CHECK_FALSE(examples(rule.spares).empty());
    for (const std::string& text : examples(rule.finds)) {
      CHECK_MESSAGE(finds(rule, text), rule.id << " must find " << text);
    }
    for (const std::string& text : examples(rule.spares)) {
      CHECK_MESSAGE(!finds(rule, text), rule.id << " must spare " << text);
    }
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

}  // namespace bmad_mem::test
