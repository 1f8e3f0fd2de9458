// token_rules.cpp - finds the secrets of the table: tokens by keyword, assigned ones by name.
//
//   text ── 3 bytes at each place ──► might a keyword begin here? ── rarely ──► its rules' patterns
//
// Patterns are compiled when their keyword is first seen: few processes ever need more than three.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <re2/re2.h>

#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "innocent.hpp"
#include "keyword_index.hpp"
#include "privacy/secret_rule.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

/// A longer token goes on as far as its alphabet may. Bounds the time that a keyword can cost.
constexpr std::size_t kRuleTokenSizeMax = 4096;

/// Whether a token may begin at `at`: not amid a word, but "/hooks/…" may follow a host's name, and
/// "my_" a token. In a text that was escaped twice, "\n" may stand before it.
bool may_token_begin_at(std::string_view text, std::size_t at) {
  if (at > 1 && text[at - 1] == '+' && is_alnum(text[at - 2]) &&
      all_are(text.substr(at, 6), is_alnum)) {
    return false;  // Amid base64.
  }
  if (at == 0 || !is_word_byte(text[at - 1]) || !is_word_byte(text[at]) || text[at - 1] == '_') {
    return true;
  }
  constexpr std::string_view kEscapes = "nrt";
  return at >= 2 && text[at - 2] == '\\' && kEscapes.contains(text[at - 1]);
}

bool may_token_end_at(std::string_view text, std::size_t at) {
  assert(at > 0 && at <= text.size());
  return at == text.size() || !is_word_byte(text[at]) || !is_word_byte(text[at - 1]);
}

/// Whether `secret` says itself that it is none. Long ones that have "EXAMPLE" here and there in
/// place of some letters, as documents print them, may still be somebody's.
bool is_specimen(std::string_view secret) {
  constexpr std::size_t kShort = 64;
  return any_word("xxxxxx XXXXXX PLACEHOLDER placeholder",
                  [&](std::string_view word) { return secret.contains(word); }) ||
         (secret.size() <= kShort &&
          (secret.ends_with("EXAMPLE") || secret.contains("EXAMPLEKEY")));
}

/// Whether `secret` has the kinds of characters that the rule needs, and no word that rules it out.
bool can_be(const SecretRule& rule, std::string_view secret) {
  const auto lacks = [&](std::string_view kind) {
    return std::ranges::none_of(secret, kind == "lower"   ? is_lower
                                        : kind == "upper" ? is_upper
                                                          : is_digit);
  };
  return !any_word(rule.needs, lacks) &&
         !any_word(rule.stopwords, [&](std::string_view word) { return secret.contains(word); });
}

bool satisfies(RuleJudge judge, std::string_view secret) {
  if (judge == RuleJudge::kMixed) {
    return (is_scrambled(secret) ||
            (std::ranges::any_of(secret, is_digit) && randomness_bits(secret) >= kRandomBits)) &&
           !is_unfilled(secret) && !secret.contains("://");
  }
  if (judge != RuleJudge::kDrawn) {
    return judge == RuleJudge::kNone || !stands_for_password(secret);
  }
  return secret.starts_with('$') ||
         (looks_random(secret.substr(secret.find_last_of("$}") + 1)) && !is_stand_in(secret));
}

/// A rule and its pattern, which is compiled at the first use.
class Matcher {
 public:
  /// The rule must outlive the matcher.
  explicit Matcher(const SecretRule& rule) : rule_(rule) {}

  [[nodiscard]] const SecretRule& rule() const { return rule_; }

  /// The secret, if one begins at `begin` or up to `lead` bytes before it. Each place is tried by
  /// itself: a search from the first would read thousands of bytes in vain at every "-us1".
  std::optional<std::string_view> find_at(std::string_view text, std::size_t begin, bool is_glued) {
    assert(begin <= text.size());
    for (std::size_t at = begin - std::min(begin, rule_.lead); at <= begin; ++at) {
      if (!is_glued && !may_token_begin_at(text, at)) {
        continue;
      }
      if (const std::optional<std::string_view> match = match_at(text, at, begin)) {
        return match;
      }
    }
    return std::nullopt;
  }

  bool matches_all_of(std::string_view value) {
    std::array<re2::StringPiece, 2> groups;
    return pattern().Match({value.data(), value.size()}, 0, value.size(), RE2::ANCHOR_BOTH,
                           groups.data(), group_count()) &&
           accepted(secret_group(groups)).has_value();
  }

 private:
  /// The secret of the match that begins at `at` and ends behind `keyword_begin`.
  std::optional<std::string_view> match_at(std::string_view text, std::size_t at,
                                           std::size_t keyword_begin) {
    const std::string_view window =
        text.substr(0, std::min(text.size(), keyword_begin + kRuleTokenSizeMax));
    std::array<re2::StringPiece, 2> groups;
    if (!pattern().Match({window.data(), window.size()}, at, window.size(), RE2::ANCHOR_START,
                         groups.data(), group_count())) {
      return std::nullopt;
    }
    const std::size_t end = at + groups[0].size();
    const bool is_open = end == window.size() && end < text.size();
    if (end <= keyword_begin || (!is_open && !may_token_end_at(text, end))) {
      return std::nullopt;
    }
    const std::optional<std::string_view> secret = accepted(secret_group(groups));
    if (!secret || !is_open || secret->data() + secret->size() != window.data() + window.size()) {
      return secret;
    }
    const auto may_go_on = [](char c) {
      return is_alnum(c) || std::string_view("-_.+/=~").contains(c);
    };
    const auto secret_begin = static_cast<std::size_t>(secret->data() - text.data());
    return text.substr(secret_begin, run_end(text, end, may_go_on) - secret_begin);
  }

  /// The pattern, compiled when it is first asked for.
  const RE2& pattern() {
    std::call_once(once_, [this] {
      RE2::Options options(RE2::Quiet);
      options.set_encoding(RE2::Options::EncodingLatin1);  // Bytes: nothing in it is beyond ASCII.
      pattern_ = std::make_unique<const RE2>(
          re2::StringPiece(rule_.pattern.data(), rule_.pattern.size()), options);
      assert(pattern_->ok());  // The test of the table compiles each.
    });
    return *pattern_;
  }
  /// What is the secret of a match: its group, or all of it.
  [[nodiscard]] const re2::StringPiece& secret_group(
      const std::array<re2::StringPiece, 2>& groups) {
    return group_count() == 2 ? groups[1] : groups[0];
  }
  [[nodiscard]] int group_count() { return pattern().NumberOfCapturingGroups() > 0 ? 2 : 1; }

  [[nodiscard]] std::optional<std::string_view> accepted(re2::StringPiece piece) const {
    const std::string_view secret(piece.data(), piece.size());
    if (is_specimen(secret) || (rule_.entropy_min > 0 && !is_drawn(secret)) ||
        !can_be(rule_, secret) || !satisfies(rule_.judge, secret)) {
      return std::nullopt;
    }
    return secret;
  }

  /// "hf_requiredTypesForDisplayMetadata" is a name: words, and no digit.
  [[nodiscard]] bool is_drawn(std::string_view secret) const {
    return shannon_entropy(secret) >= rule_.entropy_min &&
           (std::ranges::any_of(secret, is_digit) || randomness_bits(secret) >= 0);
  }

  const SecretRule& rule_;
  std::once_flag once_;
  std::unique_ptr<const RE2> pattern_;
};

/// Of each rule, by its number.
std::deque<Matcher>& matchers() {
  static std::deque<Matcher> all(secret_rules().begin(), secret_rules().end());
  return all;
}

/// Calls `use(word, number)` for each keyword of the rules that go by a name, or of the others.
template <typename Use>
void for_each_keyword(bool by_name, const Use& use) {
  const std::span<const SecretRule> rules = secret_rules();
  assert(rules.size() <= UINT16_MAX && "a number of the index has 16 bits");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if ((rules[i].kind == RuleKind::kAssigned) == by_name) {
      for_each_word(rules[i].keywords,
                    [&](std::string_view word) { use(word, static_cast<std::uint16_t>(i)); });
    }
  }
}

/// The rules of assigned secrets, under the first parts of their keywords.
struct AssignedRules {
  struct Name {
    std::uint16_t rule;
    std::string_view second_part;  ///< What a '+' asks for besides; empty where there is none.
  };
  KeywordIndex keywords;
  std::vector<Name> names;

  AssignedRules() {
    for_each_keyword(/*by_name=*/true, [this](std::string_view word, std::uint16_t rule) {
      const std::size_t plus = std::min(word.find('+'), word.size());
      keywords.add(word.substr(0, plus), static_cast<std::uint16_t>(names.size()));
      names.push_back({rule, word.substr(std::min(plus + 1, word.size()))});
    });
  }
};

/// Lower case letters and digits of a name: "DATA_DOG-Key" as "datadogkey"; and where its words
/// begin.
struct Squeezed {
  std::string letters;
  std::string begins;  ///< For each letter '1', or '0'.

  explicit Squeezed(std::string_view name) {
    for (std::size_t i = 0; i < name.size(); ++i) {
      if (is_alnum(name[i])) {
        const char before = byte_before(name, i);
        letters += to_lower(name[i]);
        begins += !is_alnum(before) || (is_upper(name[i]) &&
                                        (is_lower(before) || is_lower(byte_at(name, i + 1))))
                      ? '1'
                      : '0';
      }
    }
  }

  /// Whether what is there begins a word, and ends with one or within it: "okta" is no word of
  /// "rookTable", nor "sumo" of "sumOfAll".
  [[nodiscard]] bool has_word(std::size_t at, std::size_t size) const {
    assert(size > 0 && at + size <= begins.size() && begins.size() == letters.size());
    const std::size_t end = at + size;
    return begins[at] == '1' && (end == begins.size() || begins[end] == '1' ||
                                 !begins.substr(at + 1, size - 1).contains('1'));
  }
};

}  // namespace

void TokenScan::operator()(std::size_t at, std::string_view word, std::uint16_t index) {
  assert(index < secret_rules().size());
  Matcher& matcher = matchers()[index];
  // What has a prefix of its own may be glued to a word: "abcghp_…".
  const bool is_glued = matcher.rule().lead == 0 && !may_token_begin_at(text_, at);
  if (at < long_end_ ||
      (is_glued && (word.size() < 4 || is_alnum(word.back()) || word.ends_with("_test_") ||
                    word.ends_with("_live_") || matcher.rule().kind != RuleKind::kToken))) {
    return;
  }
  if (const std::optional<std::string_view> secret = matcher.find_at(text_, at, is_glued)) {
    out_.push_back(detection_of(text_, *secret, matcher.rule().id));
    if (secret->size() >= kRuleTokenSizeMax) {
      long_end_ = out_.back().end;
    }
  }
}

void TokenScan::add_keywords(KeywordIndex& index) {
  for_each_keyword(/*by_name=*/false,
                   [&](std::string_view word, std::uint16_t rule) { index.add(word, rule); });
}

const SecretRule* find_assigned_rule(std::string_view name, std::optional<std::string_view> value) {
  static const AssignedRules kRules;
  const Squeezed squeezed(name);
  const SecretRule* found = nullptr;
  std::size_t found_size = 0;
  kRules.keywords.find(squeezed.letters,
                       [&](std::size_t at, std::string_view word, std::uint16_t index) {
                         assert(index < kRules.names.size());
                         const AssignedRules::Name& each = kRules.names[index];
                         // The longest keyword knows best: "azureopenai+key" before "azure+key".
                         const std::size_t size = word.size() + each.second_part.size();
                         if (size > found_size && squeezed.has_word(at, word.size()) &&
                             squeezed.letters.contains(each.second_part) &&
                             (!value || matchers()[each.rule].matches_all_of(*value))) {
                           found = &matchers()[each.rule].rule();
                           found_size = size;
                         }
                       });
  return found;
}

}  // namespace bmad_mem
