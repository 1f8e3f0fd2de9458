// rule_set.cpp - finds what the rules of files match, and drops what is disabled or allowed.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "allow_list.hpp"
#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "innocent.hpp"
#include "keyword_index.hpp"
#include "privacy_words.hpp"
#include "rule_file.hpp"

namespace bmad_mem {
namespace {

/// Whether it can't be a word or a sentence: without "never" a rule of the user says the opposite.
bool is_value(std::string_view text) {
  return std::ranges::any_of(text, is_digit) && std::ranges::none_of(text, is_space);
}

/// What of a match is the secret: its group, or the first that is not empty, or all of it.
std::string_view secret_of(std::span<const std::string_view> groups, int wanted) {
  assert(!groups.empty() && wanted >= 0);
  const auto index = static_cast<std::size_t>(wanted);
  if (wanted > 0) {
    return index < groups.size() ? groups[index] : std::string_view();
  }
  const auto first = std::ranges::find_if_not(groups.subspan(1), &std::string_view::empty);
  return first == groups.end() ? groups.front() : *first;
}

bool has_keyword(const RuleSpec& rule, std::string_view text) {
  const std::string lower = lower_ascii(text);
  return rule.keywords.empty() || std::ranges::any_of(rule.keywords, [&](const std::string& word) {
           return lower.contains(word);
         });
}

/// The pattern that the specification gives for API keys. It takes out every long word, so that
/// it only applies next to a word that speaks of secrets.
constexpr std::string_view kLongWords = R"(\b[A-Za-z0-9]{32,}\b)";

/// Whether a word that speaks of secrets stands on the line before `at`, not far away.
bool is_near_keyword(std::string_view text, std::size_t at) {
  constexpr std::size_t kLook = 64;
  assert(at <= text.size());
  const std::size_t begin = at - std::min(at, kLook);
  std::string before = lower_ascii(text.substr(begin, at - begin));
  before.erase(0, before.rfind('\n') + 1);  // npos + 1 is 0.
  return kKeywordsNear.any([&](std::string_view word) { return before.contains(word); });
}

}  // namespace

struct RuleSet::Impl : LoadedRules {
  explicit Impl(LoadedRules loaded) : LoadedRules(std::move(loaded)) {
    assert(rules.size() <= kRulesMax && "an index of 16 bits names each");
    leave_out_broad();
    std::map<std::string_view, std::vector<std::uint16_t>> words;
    for (RuleSpec& rule : rules) {
      const auto index = static_cast<std::uint16_t>(&rule - rules.data());
      rule.keyword_text = fmt::format("{}", fmt::join(rule.keywords, " "));
      if (rule.keywords.empty()) {
        always.push_back(index);
      }
      for (const std::string& word : rule.keywords) {
        if (word.size() < KeywordIndex::kWordSizeMin) {
          short_words.emplace_back(word, index);
        } else {
          words[word].push_back(index);
        }
      }
    }
    for (auto& [word, indexes] : words) {
      keywords.add(word, static_cast<std::uint16_t>(rules_of_word.size()));
      rules_of_word.push_back(std::move(indexes));
    }
  }

  void leave_out_broad() {
    std::erase_if(rules, [&](const RuleSpec& rule) {
      const bool is_broad = takes_most([&](std::string_view text, Detections& out) {
        if (has_keyword(rule, text)) {
          find(rule, text, out);
        }
      });
      if (is_broad) {
        problems.push_back(
            {.code = ErrorCode::E_SCHEMA_INVALID,
             .message = fmt::format("the rule '{}' is not used: it {}", rule.id, kTakesMost),
             .path = rule.origin,
             .line = rule.line});
      }
      return is_broad;
    });
  }

  void find(const RuleSpec& rule, std::string_view text, Detections& out) const {
    for_each_finding(rule, text, [&](const FoundText& found, bool is_allowed) {
      if (!is_allowed) {
        out.push_back(detection_of(text, found.secret, rule.shown_id()));
      }
    });
  }

  /// Calls `use(found, is_allowed)` for each match of the rule in `text` that is one by its
  /// entropy.
  template <typename Use>
  void for_each_finding(const RuleSpec& rule, std::string_view text, const Use& use) const {
    rule.regex.for_each_match(text, [&](std::span<const std::string_view> groups) {
      const FoundText found{
          .text = text, .match = groups.front(), .secret = secret_of(groups, rule.secret_group)};
      if (!found.secret.empty() && (!rule.is_strange || is_value(found.secret)) &&
          (!rule.entropy || *rule.entropy <= 0 || shannon_entropy(found.secret) > *rule.entropy)) {
        use(found, any_holds(rule.allows, found) || is_allowed(found, rule.id));
      }
    });
  }

  /// The rules that may find something in `text`, ascending.
  [[nodiscard]] std::set<std::uint16_t> candidates(std::string_view text) const {
    std::set<std::uint16_t> found(always.begin(), always.end());
    if (rules_of_word.empty() && short_words.empty()) {
      return found;
    }
    const std::string lower = lower_ascii(text);
    std::vector<bool> seen(rules_of_word.size());
    keywords.find(lower,
                  [&](std::size_t /*at*/, std::string_view /*word*/, std::uint16_t word_index) {
                    assert(word_index < seen.size());
                    if (!seen[word_index]) {
                      seen[word_index] = true;
                      const auto& more = rules_of_word[word_index];
                      found.insert(more.begin(), more.end());
                    }
                  });
    for (const auto& [word, index] : short_words) {
      if (lower.contains(word)) {
        found.insert(index);
      }
    }
    return found;
  }

  [[nodiscard]] bool is_allowed(const FoundText& found, std::string_view rule) const {
    if (any_holds(allows, found)) {
      return true;
    }
    if (const auto change = changes.find(rule); change != changes.end()) {
      const std::optional<double>& entropy = change->second.entropy;
      if ((entropy && shannon_entropy(found.secret) <= *entropy) ||
          any_holds(change->second.allows, found)) {
        return true;
      }
    }
    return std::ranges::any_of(allowed,
                               [&](const AllowedText& item) { return item.holds(rule, found); });
  }

  [[nodiscard]] std::vector<std::string> disabled_by_file() const {
    std::map<std::string_view, std::string> by_file;
    for (const auto& [id, file] : disabled) {
      std::string& ids = by_file[file];
      ids += (ids.empty() ? "" : ", ") + id;
    }
    return mapped(by_file, [](const auto& each) {
      return fmt::format("{} disables or replaces {}", each.first, each.second);
    });
  }

  /// Whether the detection is that of a rule that a file switched off or replaced. A rule of a file
  /// may have the same name.
  [[nodiscard]] bool is_disabled(const Detection& each) const {
    return disabled.contains(each.rule) && std::ranges::none_of(rules, [&](const RuleSpec& rule) {
             return rule.shown_id().data() == each.rule.data();
           });
  }

  /// Whether an allow list of the file's own rule holds, now that the path is known.
  [[nodiscard]] bool allows_by_path(const FoundText& found, std::string_view shown_id) const {
    return !found.path.empty() && std::ranges::any_of(rules, [&](const RuleSpec& rule) {
      return rule.shown_id().data() == shown_id.data() && any_holds(rule.allows, found);
    });
  }

  KeywordIndex keywords;
  std::vector<std::vector<std::uint16_t>> rules_of_word;
  std::vector<std::pair<std::string_view, std::uint16_t>> short_words;
  std::vector<std::uint16_t> always;
};

RuleSet::RuleSet(RuleSources sources, std::vector<AllowedText> allowed)
    : sources_(std::move(sources)), allowed_(std::move(allowed)) {}
RuleSet::RuleSet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RuleSet::~RuleSet() = default;

const RuleSet::Impl& RuleSet::impl() const {
  std::call_once(loaded_, [this] {
    if (impl_ == nullptr) {
      impl_ = std::make_unique<const Impl>(load_rules(sources_, allowed_));
    }
  });
  assert(impl_ != nullptr);
  return *impl_;
}

Result<std::shared_ptr<const RuleSet>> RuleSet::load(const RuleSources& sources) {
  std::vector<AllowedText> allowed;
  for (std::size_t i = 0; i < sources.allowed.size(); ++i) {
    BMAD_TRY_ASSIGN(allowed.emplace_back(), parse_allowed(sources.allowed[i], i));
  }
  if (!has_rules(sources)) {
    return std::shared_ptr<const RuleSet>();
  }
  RuleSources kept = sources;
  const bool trusted = !sources.is_trusted || sources.is_trusted();
  kept.is_trusted = [trusted] { return trusted; };  // What it asks may be gone by then.
  return std::shared_ptr<const RuleSet>(new RuleSet(std::move(kept), std::move(allowed)));
}

Result<std::shared_ptr<const RuleSet>> RuleSet::load_one(const std::string& path) {
  BMAD_TRY_ASSIGN(LoadedRules loaded, load_rules_file(path));
  auto impl = std::make_unique<Impl>(std::move(loaded));
  for (const RuleSpec& rule : impl->rules) {
    if (!rule.regex.get().ok()) {
      return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                   .message = fmt::format("the regex of '{}' doesn't compile: {}", rule.id,
                                          rule.regex.get().error()),
                   .path = path,
                   .line = rule.line};
    }
  }
  return std::shared_ptr<const RuleSet>(new RuleSet(std::move(impl)));
}

void RuleSet::find(std::string_view text, Detections& out) const {
  for (const std::uint16_t index : impl().candidates(text)) {
    impl().find(impl().rules[index], text, out);
  }
}

void RuleSet::leave_allowed(std::string_view text, Detections& found, std::size_t from,
                            std::string_view path) const {
  const auto is_left = [&](const Detection& each) {
    const std::string_view secret = text.substr(each.begin, each.end - each.begin);
    const FoundText finding{.text = text, .match = secret, .secret = secret, .path = path};
    return impl().is_disabled(each) || impl().is_allowed(finding, each.rule) ||
           impl().allows_by_path(finding, each.rule);
  };
  assert(from <= found.size());
  const auto begin = found.begin() + static_cast<std::ptrdiff_t>(from);
  found.erase(std::remove_if(begin, found.end(), is_left), found.end());
}

void leave_marked(std::string_view text, Detections& found) {
  std::erase_if(found, [&](const Detection& each) {
    const std::string_view secret = text.substr(each.begin, each.end - each.begin);
    const FoundText finding{.text = text, .match = secret, .secret = secret};
    return finding.lines().contains("gitleaks:allow");
  });
}

const std::vector<Error>& RuleSet::problems() const { return impl().problems; }
const std::vector<Error>& RuleSet::notes() const { return impl().notes; }

std::vector<SecretRuleInfo> RuleSet::rules() const {
  std::vector<SecretRuleInfo> list;
  for (const RuleSpec& rule : impl().rules) {
    list.push_back({.id = rule.id,
                    .what = rule.description,
                    .tier = "file",
                    .keywords = rule.keyword_text,
                    .pattern = rule.regex.text(),
                    .origin = rule.origin});
  }
  return list;
}

std::string_view RuleSet::disabled_by(std::string_view rule) const {
  const auto found = impl().disabled.find(rule);
  return found == impl().disabled.end() ? std::string_view() : found->second;
}

std::vector<std::string> RuleSet::exceptions() const {
  std::vector<std::string> all = impl().disabled_by_file();
  if (!impl().allows.empty() || !impl().changes.empty()) {
    all.push_back(fmt::format("files of rules narrow {} by allow lists or entropy",
                              impl().allows.empty() ? "some rules" : "all rules"));
  }
  if (!impl().allowed.empty()) {
    all.push_back(fmt::format("privacy.allow has {} {}; `bmad-mem redact --allowed` lists them",
                              impl().allowed.size(),
                              impl().allowed.size() == 1 ? "item" : "items"));
  }
  std::ranges::transform(impl().notes, std::back_inserter(all), &Error::to_string);
  return all;
}

std::vector<std::string> RuleSet::switches() const {
  std::vector<std::string> all = impl().disabled_by_file();
  for (const Allow& allow : impl().allows) {
    all.push_back(fmt::format("an allow list leaves what any rule finds: {}", allow.terms()));
  }
  for (const auto& [id, change] : impl().changes) {
    if (change.entropy) {
      all.push_back(fmt::format("{} leaves what has an entropy up to {}", id, *change.entropy));
    }
    for (const Allow& allow : change.allows) {
      all.push_back(fmt::format("an allow list leaves what {} finds: {}", id, allow.terms()));
    }
  }
  return all;
}

std::vector<RuleTrial> RuleSet::try_rules(std::string_view text) const {
  const auto find_in = [&](const RuleSpec& rule, std::string_view in, RuleTrial& trial) {
    const std::size_t before = trial.places.size();
    if (has_keyword(rule, in)) {
      impl().for_each_finding(rule, in, [&](const FoundText& found, bool is_allowed) {
        if (is_allowed) {
          ++trial.allowed;
          return;
        }
        const Detection each = detection_of(in, found.secret, rule.id);
        trial.places.push_back(
            {.begin = each.begin, .end = each.end, .rule = rule.id, .what = rule.description});
      });
    }
    return trial.places.size() - before;
  };
  std::vector<RuleTrial> trials;
  for (const RuleSpec& rule : impl().rules) {
    RuleTrial trial{.rule = rule.id, .line = rule.line};
    RuleTrial scratch;
    for (const std::string& example : rule.examples) {
      if (find_in(rule, example, scratch) == 0) {
        trial.failures.push_back(fmt::format("finds nothing in the example \"{}\"", example));
      }
    }
    for (const std::string& innocent : rule.innocent) {
      if (find_in(rule, innocent, scratch) != 0) {
        trial.failures.push_back(fmt::format("finds something in \"{}\"", innocent));
      }
    }
    trial.examples = rule.examples.size() + rule.innocent.size();
    find_in(rule, text, trial);
    trials.push_back(std::move(trial));
  }
  return trials;
}

bool takes_most(const FindSecrets& find) {
  constexpr std::array<std::string_view, 3> kOrdinary = {
      "We moved the weekly review to the small room, since the large one is taken until noon.",
      "Мы перенесли еженедельный обзор в малый зал, потому что большой занят до полудня.",
      "我们把每周的会议改到小会议室，因为大的那间到中午为止都有人使用。"};
  return std::ranges::any_of(kOrdinary, [&](std::string_view text) {
    Detections found;
    find(text, found);
    const std::uint64_t taken =
        sum_of(found, [](const Detection& each) { return each.end - each.begin; });
    return 2 * taken > text.size();
  });
}

Result<UserPattern> make_user_pattern(const RedactionPattern& pattern, std::size_t index,
                                      bool aggressive) {
  UserPattern made{.type = pattern.type,
                   .regex = LazyPattern(pattern.regex),
                   .needs_keyword = !aggressive && pattern.regex == kLongWords};
  std::string problem = made.regex.get().error();
  if (!problem.empty()) {
    problem =
        fmt::format("doesn't compile: {}; see https://github.com/google/re2/wiki/Syntax", problem);
  } else if (takes_most([&](auto text, auto& out) { find_user_pattern(made, text, out); })) {
    problem = kTakesMost;
  } else {
    return made;
  }
  return Error{.code = ErrorCode::E_SCHEMA_INVALID,
               .message = fmt::format("the pattern \"{}\" {}", pattern.type, problem),
               .field = fmt::format("memory_config.privacy.redaction.patterns[{}].regex", index)};
}

void find_user_pattern(const UserPattern& pattern, std::string_view text, Detections& out) {
  pattern.regex.for_each_match(text, [&](std::span<const std::string_view> groups) {
    assert(!groups.empty() && "the first one is the match");
    const std::string_view found = groups[groups.size() > 1 ? 1 : 0];
    if (found.empty()) {
      return;
    }
    const Detection each = detection_of(text, found, pattern.type);
    if (!pattern.needs_keyword || (is_near_keyword(text, each.begin) && !is_public_shape(found))) {
      out.push_back(each);
    }
  });
}

}  // namespace bmad_mem
