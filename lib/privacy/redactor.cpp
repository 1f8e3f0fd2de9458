#include "privacy/redactor.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "replacement.hpp"

namespace bmad_mem {

namespace {

PersonalPolicy parse_policy(std::string_view text) {
  if (text == "redact") {
    return PersonalPolicy::kRedact;
  }
  return text == "mark" ? PersonalPolicy::kMark : PersonalPolicy::kKeep;
}

PersonalPolicies policies_of(const PersonalDataConfig& config) {
  PersonalPolicies policies{};
  const auto set = [&](PersonalKind kind, const std::string& text) {
    policies[static_cast<std::size_t>(kind)] = parse_policy(text);
  };
  set(PersonalKind::kEmail, config.email);
  set(PersonalKind::kPhone, config.phone);
  set(PersonalKind::kIban, config.iban);
  set(PersonalKind::kCard, config.card);
  set(PersonalKind::kIp, config.ip);
  set(PersonalKind::kNationalId, config.national_id);
  return policies;
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

  void find_all(std::string_view text, Detections& out) const {
    find_tokens(text, out);
    find_structures(text, out);
    find_assigned(text, out);
    for (const UserPattern& pattern : patterns) {
      find_user_pattern(pattern, text, out);
    }
    find_personal(text, personal, out);
  }

  [[nodiscard]] Detections find(std::string_view text) const {
    Detections all;
    find_all(text, all);
    find_encoded(
        text, [this](std::string_view decoded, Detections& out) { find_all(decoded, out); }, all);
    if (all.empty()) {
      return all;
    }
    return merge_detections(text, std::move(all), placeholder.find(text));
  }

  /// Appends `text` to `out` with its secrets replaced; false when it has none.
  bool replace(std::string_view text, const Detections& detections, const RedactionScope& scope,
               RedactionTally& tally, std::string& out) const {
    std::size_t from = 0;
    bool any = false;
    for (const Detection& each : detections) {
      if (each.certainty == Certainty::kNear) {
        continue;
      }
      any = true;
      ++tally.by_rule[std::string(each.rule)];
      out.append(text, from, each.begin - from);
      out += placeholder.text(each.rule, text.substr(each.begin, each.end - each.begin), scope);
      from = each.end;
    }
    out.append(text, from);
    return any;
  }

  /// What is left over may look different beside a placeholder: so until nothing is found.
  [[nodiscard]] std::optional<std::string> redact(std::string_view text, Detections detections,
                                                  const RedactionScope& scope,
                                                  RedactionTally& tally) const {
    constexpr int kRoundsMax = 8;
    std::optional<std::string> redacted;
    for (int round = 0; round < kRoundsMax; ++round) {
      std::string next;
      if (!replace(redacted ? std::string_view(*redacted) : text, detections, scope, tally, next)) {
        break;
      }
      redacted = std::move(next);
      detections = find(*redacted);
    }
    tally.comes_near = tally.comes_near || !detections.empty();
    return redacted;
  }
};

Redactor::Redactor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Redactor::Redactor(Redactor&&) noexcept = default;
Redactor& Redactor::operator=(Redactor&&) noexcept = default;
Redactor::~Redactor() = default;

Result<Redactor> Redactor::make(const RedactionConfig& config) {
  BMAD_TRY_ASSIGN(Placeholder placeholder, Placeholder::make(config.replacement, config.linkable));
  auto impl = std::make_unique<Impl>();
  impl->placeholder = std::move(placeholder);
  impl->personal = policies_of(config.personal);
  for (std::size_t i = 0; i < config.patterns.size(); ++i) {
    BMAD_TRY_ASSIGN(UserPattern pattern,
                    make_user_pattern(config.patterns[i], i, config.aggressive));
    impl->patterns.push_back(std::move(pattern));
  }
  return Redactor(std::move(impl));
}

Detections Redactor::find(std::string_view text) const { return impl_->find(text); }

std::optional<std::string> Redactor::redact(std::string_view text, const RedactionScope& scope,
                                            RedactionTally& tally) const {
  return impl_->redact(text, impl_->find(text), scope, tally);
}

std::optional<std::string> Redactor::redact_json(JsonValue root, std::string_view json,
                                                 const RedactionScope& scope,
                                                 RedactionTally& tally) const {
  const auto redact_string = [&](const JsonString& string) -> std::optional<std::string> {
    Detections detections = impl_->find(string.text);
    if (!string.name.empty()) {
      if (const std::optional<ValueVerdict> verdict = judge_assignment(string.name, string.text)) {
        detections.push_back({.begin = 0,
                              .end = string.text.size(),
                              .rule = verdict->rule,
                              .certainty = verdict->certainty});
        detections = merge_detections(string.text, std::move(detections),
                                      impl_->placeholder.find(string.text));
      }
    }
    if (detections.empty()) {
      return std::nullopt;
    }
    std::optional<std::string> redacted = impl_->redact(string.text, detections, scope, tally);
    if (redacted && string.is_id) {
      return fmt::format("REDACTED:{}:{}", within_id(detections.front().rule),
                         keyed_hash(string.text, scope));
    }
    return redacted;
  };
  return replace_json_strings(root, json, redact_string);
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
