#include "rule_set.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "allow_list.hpp"
#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "keyword_index.hpp"
#include "rule_loader.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kMark = "gitleaks:allow";

bool is_marked(const FoundText& found) { return found.lines().contains(kMark); }

Allows made(std::vector<AllowSpec>& specs) {
  Allows allows;
  for (AllowSpec& each : specs) {
    allows.emplace_back(std::move(each));
  }
  return allows;
}

struct Rule {
  explicit Rule(LoadedRule from)
      : spec(std::move(from.spec)),
        origin(std::move(from.origin)),
        pattern(spec.regex),
        allows(made(spec.allows)),
        keywords(fmt::format("{}", fmt::join(spec.keywords, " "))) {}

  /// What stands in the placeholder. Also tells its findings from those of others: by its place.
  [[nodiscard]] const std::string& shown_id() const {
    return spec.replace.empty() ? spec.id : spec.replace;
  }

  RuleSpec spec;
  std::string origin;
  LazyPattern pattern;
  Allows allows;
  std::string keywords;
};

/// What a file says of a rule that is compiled in.
struct Change {
  std::optional<double> entropy;
  Allows allows;
};

/// What of a match is the secret: its group, or the first that is not empty, or all of it.
std::string_view secret_of(std::span<const re2::StringPiece> groups, int wanted) {
  const auto view = [](const re2::StringPiece& piece) {
    return std::string_view(piece.data(), piece.size());
  };
  const auto index = static_cast<std::size_t>(wanted);
  if (wanted > 0) {
    return index < groups.size() ? view(groups[index]) : std::string_view();
  }
  for (const re2::StringPiece& group : groups.subspan(1)) {
    if (!group.empty()) {
      return view(group);
    }
  }
  return view(groups.front());
}

/// Calls `use(match, secret)` for each match of the rule in `text` that is one by its entropy.
template <typename Use>
void for_each_match(const Rule& rule, std::string_view text, const Use& use) {
  constexpr int kGroupsMax = 100;
  const RE2& pattern = rule.pattern.get();
  if (!pattern.ok()) {
    return;
  }
  std::array<re2::StringPiece, kGroupsMax> groups;
  const int count = std::min(pattern.NumberOfCapturingGroups() + 1, kGroupsMax);
  for (std::size_t at = 0;
       at <= text.size() && pattern.Match({text.data(), text.size()}, at, text.size(),
                                          RE2::UNANCHORED, groups.data(), count);) {
    const std::string_view match(groups[0].data(), groups[0].size());
    const auto end = static_cast<std::size_t>(match.data() - text.data()) + match.size();
    at = std::max(end, at + 1);
    const std::string_view secret =
        secret_of(std::span(groups).first(static_cast<std::size_t>(count)), rule.spec.secret_group);
    if (!secret.empty() && (!rule.spec.entropy || *rule.spec.entropy <= 0 ||
                            shannon_entropy(secret) > *rule.spec.entropy)) {
      use(match, secret);
    }
  }
}

}  // namespace

struct RuleSet::Impl {
  explicit Impl(LoadedRules loaded)
      : problems(std::move(loaded.problems)),
        notes(std::move(loaded.notes)),
        disabled(std::move(loaded.disabled)),
        allows(made(loaded.allows)),
        allowed(std::move(loaded.allowed)) {
    for (auto& [id, change] : loaded.changes) {
      Change& own = changes[id];
      own.entropy = change.entropy;
      own.allows = made(change.allows);
    }
    std::map<std::string_view, std::vector<std::uint16_t>> words;
    for (LoadedRule& each : loaded.rules) {
      const auto index = static_cast<std::uint16_t>(rules.size());
      const Rule& rule = rules.emplace_back(std::move(each));
      if (rule.spec.keywords.empty()) {
        always.push_back(index);
      }
      for (const std::string& word : rule.spec.keywords) {
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

  /// The rules that may find something in `text`, ascending.
  [[nodiscard]] std::vector<std::uint16_t> candidates(std::string_view text) const {
    std::vector<std::uint16_t> found = always;
    if (rules_of_word.empty() && short_words.empty()) {
      return found;
    }
    const std::string lower = lower_ascii(text);
    std::vector<bool> seen(rules_of_word.size());
    keywords.find(lower,
                  [&](std::size_t /*at*/, std::string_view /*word*/, std::uint16_t word_index) {
                    if (!seen[word_index]) {
                      seen[word_index] = true;
                      const auto& more = rules_of_word[word_index];
                      found.insert(found.end(), more.begin(), more.end());
                    }
                  });
    for (const auto& [word, index] : short_words) {
      if (lower.contains(word)) {
        found.push_back(index);
      }
    }
    std::ranges::sort(found);
    const auto rest = std::ranges::unique(found);
    found.erase(rest.begin(), rest.end());
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
    std::vector<std::string> all;
    for (const auto& [file, ids] : by_file) {
      all.push_back(fmt::format("{} disables or replaces {}", file, ids));
    }
    return all;
  }

  /// Whether the detection is that of a rule that a file switched off or replaced. A rule of a file
  /// may have the same name.
  [[nodiscard]] bool is_disabled(const Detection& each) const {
    return disabled.contains(each.rule) && std::ranges::none_of(rules, [&](const Rule& rule) {
             return rule.shown_id().data() == each.rule.data();
           });
  }

  /// Whether an allow list of the file's own rule holds, now that the path is known.
  [[nodiscard]] bool allows_by_path(const FoundText& found, std::string_view shown_id) const {
    return !found.path.empty() && std::ranges::any_of(rules, [&](const Rule& rule) {
      return rule.shown_id().data() == shown_id.data() && any_holds(rule.allows, found);
    });
  }

  std::vector<Error> problems;
  std::vector<Error> notes;
  std::map<std::string, std::string, std::less<>> disabled;
  std::map<std::string, Change, std::less<>> changes;
  Allows allows;
  std::vector<AllowedText> allowed;

  std::deque<Rule> rules;
  KeywordIndex keywords;
  std::vector<std::vector<std::uint16_t>> rules_of_word;
  std::vector<std::pair<std::string_view, std::uint16_t>> short_words;
  std::vector<std::uint16_t> always;
};

RuleSet::RuleSet(RuleSources sources) : sources_(std::move(sources)) {}
RuleSet::RuleSet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RuleSet::~RuleSet() = default;

const RuleSet::Impl& RuleSet::impl() const {
  std::call_once(loaded_, [this] {
    if (impl_ == nullptr) {
      Result<LoadedRules> loaded = load_rules(sources_);
      assert(loaded);  // load() has read what it could refuse.
      impl_ = std::make_unique<const Impl>(loaded ? *std::move(loaded) : LoadedRules());
    }
  });
  return *impl_;
}

Result<std::shared_ptr<const RuleSet>> RuleSet::load(const RuleSources& sources) {
  BMAD_TRY_ASSIGN(const bool has_any, has_rules(sources));
  if (!has_any) {
    return std::shared_ptr<const RuleSet>();
  }
  RuleSources kept = sources;
  const bool trusted = !sources.is_trusted || sources.is_trusted();
  kept.is_trusted = [trusted] { return trusted; };  // What it asks may be gone by then.
  return std::shared_ptr<const RuleSet>(new RuleSet(std::move(kept)));
}

Result<std::shared_ptr<const RuleSet>> RuleSet::load_one(const std::string& path) {
  BMAD_TRY_ASSIGN(LoadedRules loaded, load_rules_file(path));
  auto impl = std::make_unique<Impl>(std::move(loaded));
  for (const Rule& rule : impl->rules) {
    if (!rule.pattern.get().ok()) {
      return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                   .message = fmt::format("the regex of '{}' doesn't compile: {}", rule.spec.id,
                                          rule.pattern.get().error()),
                   .path = path,
                   .line = rule.spec.line};
    }
  }
  return std::shared_ptr<const RuleSet>(new RuleSet(std::move(impl)));
}

void RuleSet::find(std::string_view text, Detections& out) const {
  for (const std::uint16_t index : impl().candidates(text)) {
    const Rule& rule = impl().rules[index];
    for_each_match(rule, text, [&](std::string_view match, std::string_view secret) {
      const FoundText found{.text = text, .match = match, .secret = secret};
      if (any_holds(rule.allows, found) || impl().is_allowed(found, rule.spec.id)) {
        return;
      }
      const auto begin = static_cast<std::size_t>(secret.data() - text.data());
      out.push_back({.begin = begin, .end = begin + secret.size(), .rule = rule.shown_id()});
    });
  }
}

void RuleSet::leave_allowed(std::string_view text, Detections& found, std::size_t from,
                            const TextOrigin& origin) const {
  const auto is_left = [&](const Detection& each) {
    const std::string_view secret = text.substr(each.begin, each.end - each.begin);
    const FoundText finding{.text = text, .match = secret, .secret = secret, .path = origin.path};
    return impl().is_disabled(each) || impl().is_allowed(finding, each.rule) ||
           impl().allows_by_path(finding, each.rule) ||
           (origin.honours_marks && is_marked(finding));
  };
  const auto begin = found.begin() + static_cast<std::ptrdiff_t>(from);
  found.erase(std::remove_if(begin, found.end(), is_left), found.end());
}

void leave_allowed(const RuleSet* rules, std::string_view text, Detections& found,
                   const TextOrigin& origin) {
  if (rules != nullptr) {
    rules->leave_allowed(text, found, 0, origin);
  } else if (origin.honours_marks) {
    std::erase_if(found, [&](const Detection& each) {
      const std::string_view secret = text.substr(each.begin, each.end - each.begin);
      return is_marked({.text = text, .match = secret, .secret = secret});
    });
  }
}

const std::vector<Error>& RuleSet::problems() const { return impl().problems; }
const std::vector<Error>& RuleSet::notes() const { return impl().notes; }

std::vector<SecretRuleInfo> RuleSet::rules() const {
  std::vector<SecretRuleInfo> list;
  for (const Rule& rule : impl().rules) {
    list.push_back({.id = rule.spec.id,
                    .what = rule.spec.description,
                    .tier = "file",
                    .keywords = rule.keywords,
                    .pattern = rule.pattern.text(),
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
  const auto has_keyword = [](const Rule& rule, std::string_view in) {
    const std::string lower = lower_ascii(in);
    return rule.spec.keywords.empty() ||
           std::ranges::any_of(rule.spec.keywords,
                               [&](const std::string& word) { return lower.contains(word); });
  };
  const auto find_in = [&](const Rule& rule, std::string_view in, RuleTrial& trial) {
    std::uint64_t count = 0;
    if (!has_keyword(rule, in)) {
      return count;
    }
    for_each_match(rule, in, [&](std::string_view match, std::string_view secret) {
      const FoundText found{.text = in, .match = match, .secret = secret};
      if (any_holds(rule.allows, found) || impl().is_allowed(found, rule.spec.id)) {
        ++trial.allowed;
        return;
      }
      ++count;
      const auto begin = static_cast<std::uint64_t>(secret.data() - in.data());
      trial.places.push_back({.begin = begin,
                              .end = begin + secret.size(),
                              .rule = rule.spec.id,
                              .what = rule.spec.description});
    });
    return count;
  };
  std::vector<RuleTrial> trials;
  for (const Rule& rule : impl().rules) {
    RuleTrial trial{.rule = rule.spec.id, .line = rule.spec.line};
    RuleTrial scratch;
    for (const std::string& example : rule.spec.examples) {
      if (find_in(rule, example, scratch) == 0) {
        trial.failures.push_back(fmt::format("finds nothing in the example \"{}\"", example));
      }
    }
    for (const std::string& innocent : rule.spec.innocent) {
      if (find_in(rule, innocent, scratch) != 0) {
        trial.failures.push_back(fmt::format("finds something in \"{}\"", innocent));
      }
    }
    trial.examples = rule.spec.examples.size() + rule.spec.innocent.size();
    find_in(rule, text, trial);
    trials.push_back(std::move(trial));
  }
  return trials;
}

}  // namespace bmad_mem
