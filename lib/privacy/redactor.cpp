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
#include "innocent.hpp"
#include "json_strings.hpp"
#include "placeholder.hpp"
#include "privacy/personal.hpp"

namespace bmad_mem {

struct UserPattern {
  std::string type;
  std::unique_ptr<RE2> regex;
  bool needs_keyword = false;
};

namespace {

/// The pattern that the specification gives for API keys. It takes out every long word, so that
/// it only applies next to a word that speaks of secrets.
constexpr std::string_view kLongWords = R"(\b[A-Za-z0-9]{32,}\b)";

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

/// Whether a word that speaks of secrets stands on the line before `at`, not far away.
bool is_near_keyword(std::string_view text, std::size_t at) {
  constexpr std::size_t kLook = 64;
  const std::size_t begin = at - std::min(at, kLook);
  std::string before = lower_ascii(text.substr(begin, at - begin));
  before.erase(0, before.rfind('\n') + 1);  // npos + 1 is 0.
  constexpr std::string_view kWords[] = {"key",  "token", "secret",     "password", "passwd",
                                         "auth", "cred",  "passphrase", "bearer"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return before.contains(word); });
}

/// `rule`, which a user may have named "door code", as it can stand in an id.
std::string within_id(std::string_view rule) {
  constexpr std::size_t kSizeMax = 64;
  std::string text(rule.substr(0, kSizeMax));
  std::ranges::replace_if(text, [](char c) { return !is_word_byte(c) && c != '-'; }, '-');
  return text;
}

Result<UserPattern> make_user_pattern(const RedactionPattern& pattern, std::size_t index,
                                      bool aggressive) {
  RE2::Options options(RE2::Quiet);
  UserPattern made{.type = pattern.type,
                   .regex = std::make_unique<RE2>(pattern.regex, options),
                   .needs_keyword = !aggressive && pattern.regex == kLongWords};
  if (!made.regex->ok()) {
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = fmt::format("the pattern \"{}\" doesn't compile: {}; see "
                                        "https://github.com/google/re2/wiki/Syntax",
                                        pattern.type, made.regex->error()),
                 .field = fmt::format("memory_config.privacy.redaction.patterns[{}].regex", index)};
  }
  return made;
}

void find_user_pattern(const UserPattern& pattern, std::string_view text, Detections& out) {
  const int group_count = pattern.regex->NumberOfCapturingGroups() > 0 ? 2 : 1;
  std::array<re2::StringPiece, 2> groups;
  for (std::size_t at = 0;
       at <= text.size() && pattern.regex->Match({text.data(), text.size()}, at, text.size(),
                                                 RE2::UNANCHORED, groups.data(), group_count);) {
    const auto match_end =
        static_cast<std::size_t>(groups[0].data() - text.data()) + groups[0].size();
    const re2::StringPiece secret = groups[static_cast<std::size_t>(group_count) - 1];
    at = std::max(match_end, at + 1);
    if (secret.data() == nullptr || secret.empty()) {
      continue;
    }
    const auto begin = static_cast<std::size_t>(secret.data() - text.data());
    const std::string_view found(secret.data(), secret.size());
    if (pattern.needs_keyword && (!is_near_keyword(text, begin) || is_public_shape(found))) {
      continue;
    }
    out.push_back({.begin = begin, .end = begin + secret.size(), .rule = pattern.type});
  }
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

std::optional<std::string> Redactor::redact_json(std::string_view json, const RedactionScope& scope,
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
  return replace_json_strings(json, redact_string);
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
