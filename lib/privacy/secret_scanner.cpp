// secret_scanner.cpp - the redactor as others see it.
#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "base/hash.hpp"
#include "bmad_mem/privacy.hpp"
#include "privacy/redactor.hpp"
#include "privacy/secret_rule.hpp"
#include "rule_set.hpp"

namespace bmad_mem {
namespace {

SecretRuleInfo info_of(const SecretRule& rule) {
  constexpr std::string_view kTiers[] = {"token", "assigned", "structure", "context", "personal"};
  return {.id = rule.id,
          .what = rule.what,
          .tier = kTiers[static_cast<std::size_t>(rule.kind)],
          .keywords = rule.keywords,
          .pattern = rule.pattern,
          .origin = rule.pattern.empty() ? std::string_view() : rule.origin};
}

std::string_view what_of(const RuleSet* rules, std::string_view rule) {
  for (const std::span<const SecretRule> table : {secret_rules(), rules_without_pattern()}) {
    if (const auto known = std::ranges::find(table, rule, &SecretRule::id); known != table.end()) {
      return known->what;
    }
  }
  if (rules != nullptr) {
    for (const SecretRuleInfo& each : rules->rules()) {
      if (each.id == rule) {
        return each.what.empty() ? each.origin : each.what;
      }
    }
  }
  return "pattern of config.json";
}

std::shared_ptr<const Redactor> default_redactor() {
  static const std::shared_ptr<const Redactor> kRedactor =
      std::make_shared<Redactor>(std::move(Redactor::make({}).value()));
  return kRedactor;
}

std::vector<SecretPlace> places_of(const Redactor& redactor, std::string_view text,
                                   const Detections& found) {
  std::vector<SecretPlace> places;
  for (const Detection& each : found) {
    places.push_back(
        {.begin = each.begin,
         .end = each.end,
         .rule = std::string(each.rule),
         .what = std::string(what_of(redactor.rules().get(), each.rule)),
         .is_certain = each.action == DetectionAction::kSecret,
         .only_named = redactor.why_only_named(text.substr(each.begin, each.end - each.begin))});
  }
  return places;
}

}  // namespace

SecretScanner::SecretScanner() : redactor_(default_redactor()) {}
SecretScanner::SecretScanner(std::shared_ptr<const Redactor> redactor,
                             std::shared_ptr<const JudgedValues> judged)
    : redactor_(std::move(redactor)), judged_(std::move(judged)) {}

std::vector<SecretPlace> SecretScanner::find(std::string_view text) const {
  return places_of(*redactor_, text, redactor_->find(text, judged_.get()));
}

std::vector<SecretPlace> SecretScanner::find_in_file(std::string_view text,
                                                     std::string_view path) const {
  Detections found = redactor_->find(text, judged_.get());
  leave_allowed(redactor_->rules().get(), text, found, {.path = path, .honours_marks = true});
  return places_of(*redactor_, text, found);
}

std::string SecretScanner::redact(std::string_view text) const {
  RedactionTally tally;
  const RedactionScope scope{.key = random_hash_key(), .session_id = {}, .judged = judged_.get()};
  return redactor_->redact(text, scope, tally).value_or(std::string(text));
}

std::vector<SecretRuleInfo> SecretScanner::rules() const {
  std::vector<SecretRuleInfo> list = secret_rule_list();
  if (const RuleSet* const own = redactor_->rules().get()) {
    for (SecretRuleInfo& each : list) {
      each.disabled_by = own->disabled_by(each.id);
    }
    std::ranges::copy(own->rules(), std::back_inserter(list));
  }
  return list;
}

std::vector<std::string> SecretScanner::exceptions() const {
  return redactor_->rules() == nullptr ? std::vector<std::string>()
                                       : redactor_->rules()->exceptions();
}

const std::vector<Error>& SecretScanner::problems() const {
  static const std::vector<Error> kNone;
  return redactor_->rules() == nullptr ? kNone : redactor_->rules()->problems();
}

Result<RulesTrial> try_rules_file(const std::string& path, std::string_view text) {
  Result<std::shared_ptr<const RuleSet>> loaded = RuleSet::load_one(path);
  if (!loaded && loaded.error().code == ErrorCode::E_STORAGE_CORRUPT) {  // It is of no memory.
    return Error{.code = ErrorCode::E_STORAGE_IO, .message = "is no regular file", .path = path};
  }
  BMAD_TRY_ASSIGN(const std::shared_ptr<const RuleSet> rules, std::move(loaded));
  RulesTrial trial{.rules = rules->try_rules(text), .warnings = rules->problems()};
  std::ranges::copy(rules->notes(), std::back_inserter(trial.warnings));
  return trial;
}

std::string allow_item(std::string_view text) { return "text=" + content_digest(text); }

std::vector<SecretRuleInfo> secret_rule_list() {
  std::vector<SecretRuleInfo> list;
  std::ranges::transform(secret_rules(), std::back_inserter(list), info_of);
  std::ranges::transform(rules_without_pattern(), std::back_inserter(list), info_of);
  return list;
}

}  // namespace bmad_mem
