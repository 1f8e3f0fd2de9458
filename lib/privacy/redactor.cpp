// redactor.cpp - finds secrets and personal data in a text, and replaces them until none is left.
#include "privacy/redactor.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "innocent.hpp"
#include "judged_values.hpp"
#include "replacement.hpp"
#include "rule_file.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

PersonalPolicy parse_policy(std::string_view text) {
  if (text == "redact") {
    return PersonalPolicy::kRedact;
  }
  return text == "mark" ? PersonalPolicy::kMark : PersonalPolicy::kKeep;
}

PersonalPolicies policies_of(const PersonalDataConfig& config) {
  return {parse_policy(config.email), parse_policy(config.phone), parse_policy(config.iban),
          parse_policy(config.card),  parse_policy(config.ip),    parse_policy(config.national_id)};
}

/// Whether `text` is a name or a value of a member as ours are: a short word of small letters.
bool is_plain_word(std::string_view text) {
  constexpr std::size_t kWordMax = 16;
  return text.size() < kWordMax && all_are(text, [](char c) { return is_lower(c) || c == '_'; });
}

/// Whether `text` is a UUID, or the name of a file or a result that is called so.
bool is_uuid_name(std::string_view text) {
  constexpr std::size_t kSize = kUuidLayout.size();
  return text.size() >= kSize && has_layout(text.substr(0, kSize), kUuidLayout) &&
         (text.size() == kSize || text.substr(kSize) == ".jsonl");
}

/// Whether `text` is an id or a time as ours are.
bool is_own_stamp(std::string_view text) {
  constexpr std::size_t kSizeMin = 16;
  constexpr std::size_t kTimeMin = 20;
  constexpr std::size_t kSizeMax = 30;
  if (text.size() < kSizeMin || text.size() > kSizeMax) {
    return false;
  }
  const bool is_time = text.size() >= kTimeMin && text[4] == '-' && text[7] == '-' &&
                       text[10] == 'T' && text.starts_with("20");
  return is_time ? all_are(text,
                           [](char c) {
                             return is_digit(c) || c == '-' || c == ':' || c == '.' || c == 'T' ||
                                    c == 'Z' || c == '+';
                           })
                 : is_own_id(text);
}

/// Appends what is assigned in `text` when `context` stands before it.
void find_in_context(std::string_view context, std::string_view text, Detections& out) {
  Detections inside;
  find_assigned(fmt::format("{}{}", context, text), inside);
  for (Detection each : inside) {
    if (each.begin >= context.size()) {
      assert(each.begin <= each.end);
      each.begin -= context.size();
      each.end -= context.size();
      out.push_back(each);
    }
  }
}

/// As much of a secret as a list may show.
std::string masked(std::string_view secret) {
  constexpr std::size_t kSizeMin = 12;
  constexpr std::size_t kShown = 2;
  const std::string_view shown = secret.substr(0, secret.size() < kSizeMin ? 0 : kShown);
  return fmt::format("{}...", all_are(shown, is_alnum) ? shown : std::string_view());
}

/// `rule`, which a user may have named "door code", as it can stand in an id.
std::string within_id(std::string_view rule) {
  constexpr std::size_t kSizeMax = 64;
  std::string text(rule.substr(0, kSizeMax));
  std::ranges::replace_if(text, [](char c) { return !is_word_byte(c) && c != '-'; }, '-');
  return text;
}

}  // namespace

struct Redactor::Impl {
  Placeholder placeholder;
  PersonalPolicies personal;
  std::vector<UserPattern> patterns;
  std::shared_ptr<const RuleSet> rules;
  std::string project;

  [[nodiscard]] std::string_view why_only_named(std::string_view secret) const {
    constexpr std::size_t kPathMax = 1024;
    if (const std::string_view why = why_common(secret); !why.empty()) {
      return why;
    }
    if (project.empty() || secret.size() > kPathMax || secret.contains('\0')) {
      return {};
    }
    std::error_code failed;
    return std::filesystem::exists(fmt::format("{}/{}", project, secret), failed)
               ? "a path of the project"
               : "";
  }

  /// Notes what of the secrets from `from` on in `found` goes wherever it stands, as it is and as
  /// it is read. Not what is found by its form in any case.
  void judge(std::string_view text, const Detections& found, std::size_t from,
             const RedactionScope& scope) const {
    constexpr std::size_t kFreshMax = 256;
    constexpr std::array<std::string_view, 5> kByForm = {"email", "ip", "card", "iban",
                                                         JudgedValues::kRule};
    const auto take = [&](std::string_view value) {
      if (scope.fresh->size() < kFreshMax && why_only_named(value).empty() &&
          !is_among(*scope.fresh, value) &&
          (scope.judged == nullptr || !scope.judged->knows(value))) {
        scope.fresh->emplace_back(value);
      }
    };
    if (scope.fresh == nullptr) {
      return;
    }
    assert(from <= found.size());
    const Detections kept = placeholder.find(text);
    for (; from < found.size(); ++from) {
      const Detection& each = found[from];
      if (each.action == DetectionAction::kNear || each.begin >= each.end ||
          each.end > text.size() || is_among(kByForm, each.rule) || overlaps_any(each, kept)) {
        continue;
      }
      const std::string_view value = text.substr(each.begin, each.end - each.begin);
      for (const std::string& read : read_forms(value)) {
        take(read);
      }
    }
  }

  /// The placeholders in `text`, but for those that somebody wrote around a value.
  [[nodiscard]] Detections placeholders_in(std::string_view text,
                                           const RedactionScope& scope) const {
    Detections all = placeholder.find(text);
    std::erase_if(all, [&](const Detection& each) {
      Detections inside;
      if (scope.judged != nullptr) {
        scope.judged->find(text.substr(each.begin, each.end - each.begin), inside);
      }
      return !inside.empty();
    });
    return all;
  }

  void find_all(std::string_view text, Detections& out, const RedactionScope& scope) const {
    const std::size_t from = out.size();
    if (!scope.only_judged) {
      find_keywords(text, out);
      find_assigned(text, out);
      for (const UserPattern& pattern : patterns) {
        find_user_pattern(pattern, text, out);
      }
      find_personal(text, personal, out);
    }
    if (scope.judged != nullptr) {
      scope.judged->find(text, out);
    }
    if (rules != nullptr) {
      if (!scope.only_judged) {
        rules->find(text, out);
      }
      rules->leave_allowed(text, out, from);
    }
    if (out.size() > from) {
      judge(text, out, from, scope);
    }
  }

  [[nodiscard]] Detections find(std::string_view text, RedactionScope scope) const {
    Detections all;
    const bool is_plain = patterns.empty() && rules == nullptr;
    scope.only_judged =
        scope.only_judged || (is_plain && (is_plain_word(text) || is_uuid_name(text)));
    if (scope.only_judged && scope.judged == nullptr) {
      return all;
    }
    find_all(text, all, scope);
    const auto find_again = [&](std::string_view read, Detections& out) {
      find_all(read, out, scope);
    };
    const std::size_t from = all.size();
    find_encoded(text, find_again, all);
    if (all.size() > from) {
      if (rules != nullptr) {
        rules->leave_allowed(text, all, from);
      }
      judge(text, all, from, scope);
    }
    find_disguised(text, find_again, all);
    if (all.empty()) {
      return all;
    }
    return merge_detections(text, std::move(all), placeholders_in(text, scope));
  }

  /// Appends `text` to `out` with its secrets replaced, and to `places` where; false when it has
  /// none.
  bool replace(std::string_view text, const Detections& detections, const RedactionScope& scope,
               RedactionTally& tally, std::string& out, Detections& places) const {
    std::size_t from = 0;
    for (const Detection& each : detections) {
      if (each.action == DetectionAction::kNear) {
        continue;
      }
      assert(from <= each.begin && each.begin < each.end && each.end <= text.size());
      ++tally.by_rule[std::string(each.rule)];
      out.append(text, from, each.begin - from);
      const std::size_t begin = out.size();
      const std::string_view secret = text.substr(each.begin, each.end - each.begin);
      out += placeholder.text(each.rule, secret, scope);
      if (tally.lists) {
        tally.taken.push_back({.rule = std::string(each.rule),
                               .masked = masked(secret),
                               .bytes = secret.size(),
                               .only_named = why_only_named(secret)});
      }
      places.push_back({.begin = begin, .end = out.size()});
      from = each.end;
    }
    out.append(text, from);
    return !places.empty();
  }

  /// What find() finds in the lines around `places`, which are ascending; in a short text, in all
  /// of it.
  [[nodiscard]] Detections find_around(std::string_view text, const Detections& places,
                                       RedactionScope scope) const {
    assert(std::ranges::is_sorted(places, {}, &Detection::begin));
    scope.fresh = nullptr;  // A rest beside a placeholder is no value.
    constexpr std::size_t kShort = std::size_t{16} << 10U;
    constexpr std::size_t kReach = std::size_t{2} << 10U;
    constexpr std::size_t kEdge = 64;  // What a cut may have made of the line.
    if (text.size() <= kShort) {
      return find(text, scope);
    }
    Detections all;
    for (std::size_t i = 0; i < places.size();) {
      const std::size_t first = places[i].begin;
      std::size_t begin = places[i].begin - std::min(places[i].begin, kReach);
      std::size_t end = 0;
      do {
        end = std::min(text.size(), places[i].end + kReach);
        ++i;
      } while (i < places.size() && places[i].begin < end + kReach);
      const std::size_t line = begin == 0 ? 0 : text.find('\n', begin);
      begin = line < first && begin > 0 ? line + 1 : begin;
      for (Detection each : find(text.substr(begin, end - begin), scope)) {
        const bool is_at_begin = begin > 0 && text[begin - 1] != '\n' && each.begin < kEdge;
        const bool is_at_end = end < text.size() && each.end + kEdge > end - begin;
        if (!is_at_begin && !is_at_end) {
          each.begin += begin;
          each.end += begin;
          all.push_back(each);
        }
      }
    }
    return all;
  }

  /// What is left over may look different beside a placeholder: so until nothing is found there.
  [[nodiscard]] std::optional<std::string> redact(std::string_view text, Detections detections,
                                                  const RedactionScope& scope,
                                                  RedactionTally& tally) const {
    constexpr int kRoundsMax = 8;
    const auto note_near = [&] {
      tally.comes_near = tally.comes_near || has_action(detections, DetectionAction::kNear);
    };
    std::optional<std::string> redacted;
    note_near();
    for (int round = 0; round < kRoundsMax; ++round) {
      std::string next;
      Detections places;
      if (!replace(redacted ? std::string_view(*redacted) : text, detections, scope, tally, next,
                   places)) {
        return redacted;
      }
      redacted = std::move(next);
      detections = find_around(*redacted, places, scope);
      note_near();
    }
    assert(redacted && "each round has replaced something");
    tally.comes_near = tally.comes_near || !detections.empty();
    return redacted;
  }

  /// What `run(scope)` returns, which adds to `tally`. It is called until it judges nothing anew:
  /// what is named at the end goes from the begin on.
  template <typename Run>
  auto settled(RedactionScope scope, RedactionTally& tally, const Run& run) const {
    constexpr int kRoundsMax = 4;
    const RedactionTally before = tally;
    std::optional<JudgedValues> judged;
    std::vector<std::string> fresh;
    std::vector<std::string>* const all = std::exchange(scope.fresh, &fresh);
    for (int round = 1;; ++round) {
      auto result = run(scope);
      if (fresh.empty() || round == kRoundsMax) {
        return result;
      }
      if (!judged) {
        judged = scope.judged == nullptr ? JudgedValues(scope.key) : *scope.judged;
        scope.judged = &*judged;
      }
      for (std::string& value : std::exchange(fresh, {})) {
        judged->add(judged->records_of(value));
        if (all != nullptr) {
          all->push_back(std::move(value));
        }
      }
      tally = before;
    }
  }
};

Result<Redactor> Redactor::make(const RedactionConfig& config, std::shared_ptr<const RuleSet> rules,
                                std::string project) {
  BMAD_TRY_ASSIGN(Placeholder placeholder, Placeholder::make(config.replacement, config.linkable));
  auto impl = std::make_shared<Impl>();
  impl->placeholder = std::move(placeholder);
  impl->personal = policies_of(config.personal);
  impl->rules = std::move(rules);
  impl->project = std::move(project);
  for (std::size_t i = 0; i < config.patterns.size(); ++i) {
    BMAD_TRY_ASSIGN(UserPattern pattern,
                    make_user_pattern(config.patterns[i], i, config.aggressive));
    impl->patterns.push_back(std::move(pattern));
  }
  return Redactor(std::move(impl));
}

Detections Redactor::find(std::string_view text, const JudgedValues* judged) const {
  RedactionTally tally;
  return impl_->settled({.judged = judged}, tally,
                        [&](const RedactionScope& scope) { return impl_->find(text, scope); });
}

std::string_view Redactor::why_only_named(std::string_view secret) const {
  return impl_->why_only_named(secret);
}

const std::shared_ptr<const RuleSet>& Redactor::rules() const { return impl_->rules; }

std::optional<std::string> Redactor::redact(std::string_view text, const RedactionScope& scope,
                                            RedactionTally& tally) const {
  return impl_->settled(scope, tally, [&](const RedactionScope& now) {
    return impl_->redact(text, impl_->find(text, now), now, tally);
  });
}

std::optional<std::string> Redactor::redact_json(JsonValue root, std::string_view json,
                                                 const RedactionScope& scope,
                                                 RedactionTally& tally) const {
  const auto redact_string = [&](const JsonString& string,
                                 const RedactionScope& now) -> std::optional<std::string> {
    if (impl_->patterns.empty() && impl_->rules == nullptr && is_own_stamp(string.text)) {
      return std::nullopt;
    }
    Detections detections = impl_->find(string.text, now);
    const std::size_t found = detections.size();
    if (!string.name.empty() && !now.only_judged) {
      if (const std::optional<ValueVerdict> verdict = judge_assignment(string.name, string.text)) {
        detections.push_back({.begin = 0,
                              .end = string.text.size(),
                              .rule = verdict->rule,
                              .action = verdict->action});
      }
    }
    if (!string.context.empty() && !now.only_judged) {
      find_in_context(string.context, string.text, detections);
    }
    if (impl_->rules != nullptr) {
      impl_->rules->leave_allowed(string.text, detections, found);
    }
    if (detections.size() > found) {
      impl_->judge(string.text, detections, found, now);
      detections = merge_detections(string.text, std::move(detections),
                                    impl_->placeholders_in(string.text, now));
    }
    if (detections.empty()) {
      return std::nullopt;
    }
    std::optional<std::string> redacted = impl_->redact(string.text, detections, now, tally);
    if (redacted && string.is_id) {
      return fmt::format("REDACTED:{}:{}", within_id(detections.front().rule),
                         keyed_hash(string.text, scope));
    }
    return redacted;
  };
  return impl_->settled(scope, tally, [&](const RedactionScope& now) {
    return replace_json_strings(
        root, json, [&](const JsonString& string) { return redact_string(string, now); });
  });
}

void count_placeholders(const RedactionConfig& config, std::string_view text,
                        std::map<std::string, std::uint64_t, std::less<>>& counts) {
  const Result<Placeholder> placeholder = Placeholder::make(config.replacement, false);
  if (!placeholder) {
    return;
  }
  for (const Detection& each : placeholder->find(text)) {
    ++counts[std::string(placeholder->rule_in(text.substr(each.begin, each.end - each.begin)))];
  }
}

}  // namespace bmad_mem
