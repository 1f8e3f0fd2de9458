#include "token_rules.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <re2/re2.h>

#include "keyword_index.hpp"

namespace bmad_mem {
namespace {

/// No token is longer. Bounds the time that a keyword can cost.
constexpr std::size_t kTokenSizeMax = 4096;

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/// Whether a token may begin at `at`: not amid a word, but "/hooks/…" may follow a host's name.
/// In a text that was escaped twice, "\n" may stand before it.
bool may_begin_at(std::string_view text, std::size_t at) {
  if (at == 0 || !is_word(text[at - 1]) || !is_word(text[at])) {
    return true;
  }
  constexpr std::string_view kEscapes = "nrt";
  return at >= 2 && text[at - 2] == '\\' && kEscapes.contains(text[at - 1]);
}

bool may_end_at(std::string_view text, std::size_t at) {
  return at == text.size() || !is_word(text[at]) || !is_word(text[at - 1]);
}

/// Whether `secret` says itself that it is none.
bool is_specimen(std::string_view secret) {
  for (const std::string_view word :
       {"EXAMPLE", "Example", "example", "xxxxxx", "XXXXXX", "PLACEHOLDER", "placeholder"}) {
    if (secret.contains(word)) {
      return true;
    }
  }
  return false;
}

/// A rule and its pattern, which is compiled at the first use.
class Matcher {
 public:
  explicit Matcher(const SecretRule& rule) : rule_(&rule) {}

  [[nodiscard]] const SecretRule& rule() const { return *rule_; }

  /// The secret, if one begins at `begin` or up to `lead` bytes before it. Each place is tried by
  /// itself: a search from the first would read thousands of bytes in vain at every "-us1".
  std::optional<std::string_view> find_at(std::string_view text, std::size_t begin) {
    for (std::size_t at = begin - std::min(begin, rule_->lead); at <= begin; ++at) {
      if (!may_begin_at(text, at)) {
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
           accepted(groups[group_count() - 1]).has_value();
  }

 private:
  /// The secret of the match that begins at `at` and ends behind `keyword_begin`.
  std::optional<std::string_view> match_at(std::string_view text, std::size_t at,
                                           std::size_t keyword_begin) {
    const std::string_view window =
        text.substr(0, std::min(text.size(), keyword_begin + kTokenSizeMax));
    std::array<re2::StringPiece, 2> groups;
    if (!pattern().Match({window.data(), window.size()}, at, window.size(), RE2::ANCHOR_START,
                         groups.data(), group_count())) {
      return std::nullopt;
    }
    const std::size_t end = at + groups[0].size();
    if (end <= keyword_begin || !may_end_at(text, end)) {
      return std::nullopt;
    }
    return accepted(groups[group_count() - 1]);
  }

  const RE2& pattern() {
    std::call_once(*once_, [this] {
      RE2::Options options(RE2::Quiet);
      options.set_encoding(RE2::Options::EncodingLatin1);  // Bytes: nothing in it is beyond ASCII.
      pattern_ = std::make_unique<RE2>(
          re2::StringPiece(rule_->pattern.data(), rule_->pattern.size()), options);
      assert(pattern_->ok());  // The test of the table compiles each.
      group_count_ = pattern_->NumberOfCapturingGroups() > 0 ? 2 : 1;
    });
    return *pattern_;
  }
  [[nodiscard]] int group_count() { return pattern(), group_count_; }

  [[nodiscard]] std::optional<std::string_view> accepted(re2::StringPiece piece) const {
    const std::string_view secret(piece.data(), piece.size());
    if (is_specimen(secret) ||
        (rule_->entropy_min > 0 && shannon_entropy(secret) < rule_->entropy_min) ||
        (rule_->can_be != nullptr && !rule_->can_be(secret))) {
      return std::nullopt;
    }
    return secret;
  }

  const SecretRule* rule_;
  std::unique_ptr<std::once_flag> once_ = std::make_unique<std::once_flag>();
  std::unique_ptr<RE2> pattern_;
  int group_count_ = 1;
};

template <typename Use>
void for_each_word(std::string_view words, const Use& use) {
  for (std::size_t at = 0; (at = words.find_first_not_of(' ', at)) != std::string_view::npos;) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    use(words.substr(at, end - at));
    at = end;
  }
}

struct RuleSet {
  std::vector<Matcher> matchers;
  KeywordIndex tokens;
  /// Under the first part of the keyword; `second_parts` has what a '+' asks for besides.
  KeywordIndex names;
  struct Name {
    std::size_t matcher;
    std::string_view second_part;
  };
  std::vector<Name> name_values;
};

RuleSet make_rule_set() {
  RuleSet set;
  for (const SecretRule& rule : secret_rules()) {
    const std::size_t index = set.matchers.size();
    set.matchers.emplace_back(rule);
    for_each_word(rule.keywords, [&](std::string_view word) {
      if (rule.kind == RuleKind::kToken) {
        set.tokens.add(word, static_cast<std::uint16_t>(index));
        return;
      }
      const std::size_t plus = std::min(word.find('+'), word.size());
      set.names.add(word.substr(0, plus), static_cast<std::uint16_t>(set.name_values.size()));
      set.name_values.push_back(
          {.matcher = index, .second_part = word.substr(std::min(plus + 1, word.size()))});
    });
  }
  return set;
}

RuleSet& rule_set() {
  static RuleSet set = make_rule_set();
  return set;
}

/// Lower case letters and digits of `name`: "DATA_DOG-Key" as "datadogkey".
std::string squeezed(std::string_view name) {
  std::string letters;
  letters.reserve(name.size());
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      letters += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      letters += c;
    }
  }
  return letters;
}

}  // namespace

void find_tokens(std::string_view text, Detections& out) {
  RuleSet& set = rule_set();
  set.tokens.find(text, [&](std::size_t at, std::string_view /*word*/, std::uint16_t index) {
    Matcher& matcher = set.matchers[index];
    if (matcher.rule().lead == 0 && !may_begin_at(text, at)) {
      return;
    }
    if (const std::optional<std::string_view> secret = matcher.find_at(text, at)) {
      const auto begin = static_cast<std::size_t>(secret->data() - text.data());
      out.push_back({.begin = begin, .end = begin + secret->size(), .rule = matcher.rule().id});
    }
  });
}

const SecretRule* find_assigned_rule(std::string_view name, std::string_view value) {
  RuleSet& set = rule_set();
  const std::string letters = squeezed(name);
  const SecretRule* found = nullptr;
  std::size_t found_size = 0;
  set.names.find(letters, [&](std::size_t /*at*/, std::string_view word, std::uint16_t index) {
    const RuleSet::Name& each = set.name_values[index];
    // The longest keyword knows best: "azureopenai+key" before "azure+key".
    const std::size_t size = word.size() + each.second_part.size();
    if (size > found_size && letters.contains(each.second_part) &&
        set.matchers[each.matcher].matches_all_of(value)) {
      found = &set.matchers[each.matcher].rule();
      found_size = size;
    }
  });
  return found;
}

}  // namespace bmad_mem
