// redaction.cpp - makes the redactor of a store, and the scanner that programs use.
#include "privacy/redaction.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "judged_values.hpp"
#include "model/entry.hpp"
#include "privacy/secret_rule.hpp"
#include "replacement.hpp"
#include "rule_file.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

Result<std::optional<RedactionKey>> load_key(FileSystem& files) {
  RedactionKey key;
  BMAD_TRY_ASSIGN(const auto bytes, if_there(read_file(files, kRedactionKeyFile, key.size())));
  if (!bytes || bytes->size() != key.size()) {
    return std::optional<RedactionKey>();
  }
  std::ranges::copy(*bytes, key.begin());
  return std::optional(key);
}

/// The same, made when there is none and `makes_key`. The caller holds the root's lock.
Result<RedactionKey> made_key(const Store& store, bool makes_key = true) {
  BMAD_TRY_ASSIGN(std::optional<RedactionKey> key, load_key(*store.files));
  if (!key && !makes_key) {
    return path_error(ErrorCode::E_STORAGE_IO, store.files->display_path(kRedactionKeyFile),
                      "there is no key");
  }
  if (!key) {
    key = random_hash_key();
    // It must not come into the repository: who has it can test guesses.
    BMAD_TRY(ensure_ignored(*store.files, fmt::format("/{}", kRedactionKeyFile)));
    BMAD_TRY(replace_file(*store.files, kRedactionKeyFile, std::string(key->begin(), key->end())));
  }
  return *key;
}

/// The key of the store, made when there is none.
Result<RedactionKey> retained_key(const Store& store) {
  BMAD_TRY_ASSIGN(std::optional<RedactionKey> key, load_key(*store.files));
  if (key) {
    return *key;
  }
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_root("redaction key"));
  return made_key(store);
}

SecretRuleInfo info_of(const SecretRule& rule) {
  constexpr std::string_view kTiers[] = {"token", "assigned", "structure", "context", "personal"};
  assert(static_cast<std::size_t>(rule.kind) < std::size(kTiers));
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

std::vector<SecretPlace> places_of(const Redactor& redactor, std::string_view text,
                                   const Detections& found) {
  std::vector<SecretPlace> places;
  for (const Detection& each : found) {
    assert(each.begin < each.end && each.end <= text.size());
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

Result<std::string> hidden_id(const Store& store, std::string_view id, bool makes_key) {
  BMAD_TRY_ASSIGN(const RedactionKey key, made_key(store, makes_key));
  return std::string(kHiddenIdPrefix) + keyed_hash(id, key);
}

std::vector<std::string> trusted_switches(const Store& store) {
  const PrivacyConfig& config = store.written.config.privacy;
  std::vector<std::string> switches;
  if (!config.auto_redaction) {
    switches.emplace_back("memory_config.privacy.auto_redaction: false: secrets are stored");
  }
  for (const std::string& file : config.rules_files) {
    if (file.starts_with('/') || file.starts_with("~/") || ("/" + file + "/").contains("/../")) {
      switches.push_back(fmt::format("memory_config.privacy.rules_files: {} is read", file));
    }
  }
  for (const std::string& item : config.allow) {
    switches.push_back(fmt::format("memory_config.privacy.allow: {} is left as it is", item));
  }
  const Result<std::shared_ptr<const RuleSet>> rules = RuleSet::load(
      {.project = store.workspace.folder, .files = config.rules_files, .allowed = {}});
  for (std::string& each : rules && *rules ? (*rules)->switches() : std::vector<std::string>()) {
    switches.push_back(std::move(each));
  }
  return switches;
}

Result<std::unique_ptr<StoreRedaction>> StoreRedaction::make(const Store& store, KeyUse key_use,
                                                             const std::string& hub_policy) {
  const PrivacyConfig& config = store.config.privacy;
  Result<std::shared_ptr<const RuleSet>> rules =
      RuleSet::load({.project = store.workspace.folder,
                     .files = config.rules_files,
                     .allowed = config.allow,
                     .is_foreign = store.origins->is_foreign(),
                     .is_trusted = [&] { return store.origins->trusts(store.config); }});
  Result<Redactor> redactor =
      rules ? Redactor::make(config.redaction, *std::move(rules), store.workspace.folder)
            : Result<Redactor>(std::move(rules).error());
  if (!redactor) {
    redactor.error().path = store.files->display_path(kConfigFile);
    return redactor.error();
  }
  RedactionKey key;
  const bool is_kept =
      key_use == KeyUse::kKept || (key_use == KeyUse::kAsConfigured && config.redaction.linkable);
  if (is_kept) {
    BMAD_TRY_ASSIGN(key, retained_key(store));
  } else {
    key = random_hash_key();
  }
  std::unique_ptr<StoreRedaction> made(new StoreRedaction(
      std::move(*redactor), key, std::make_unique<JudgedMemory>(store, key_use != KeyUse::kNone)));
  if (!hub_policy.empty()) {
    BMAD_TRY_ASSIGN(
        std::shared_ptr<const RuleSet> policy,
        RuleSet::load({.project = {}, .files = {}, .allowed = {}, .policy = hub_policy}));
    if (!policy->problems().empty()) {  // A rule that is left out would let secrets out.
      return policy->problems().front();
    }
    BMAD_TRY_ASSIGN(made->policy_, Redactor::make(config.redaction, std::move(policy)));
  }
  return made;
}

Result<std::string> load_hub_policy(const Store& store) {
  return read_if_there(*store.files, kHubPolicyFile, kRuleFileSizeMax);
}

StoreRedaction::StoreRedaction(Redactor redactor, const RedactionKey& key,
                               std::unique_ptr<JudgedMemory> memory)
    : redactor_(std::make_shared<Redactor>(std::move(redactor))),
      key_(key),
      memory_(std::move(memory)) {
  assert(memory_ != nullptr);
}

StoreRedaction::~StoreRedaction() = default;

template <typename Redact>
bool StoreRedaction::with_both(std::string_view session_id, RedactionCounts* counts,
                               const Redact& redact, RedactPass pass) const {
  const std::shared_ptr<const JudgedValues> judged =
      memory_->of(session_id, /*looks=*/pass == RedactPass::kWhole);
  std::vector<std::string> fresh;
  const RedactionScope scope{.key = key_,
                             .session_id = session_id,
                             .judged = judged.get(),
                             .fresh = &fresh,
                             .only_judged = seeks_repeated_ || pass == RedactPass::kRepeated};
  RedactionTally tally{.by_rule = counts == nullptr ? RedactionCounts() : std::move(*counts),
                       .lists = lists_};
  if (policy_) {
    redact(*policy_, scope, tally);
  }
  redact(*redactor_, scope, tally);
  if (!fresh.empty()) {
    memory_->add(session_id, fresh);
  }
  if (lists_) {
    std::ranges::move(tally.taken, std::back_inserter(listed_));
  }
  if (counts != nullptr) {
    *counts = std::move(tally.by_rule);
  }
  return tally.comes_near;
}

std::optional<std::string> StoreRedaction::without_secrets(JsonValue root, std::string_view json,
                                                           std::string_view session_id,
                                                           RedactionCounts& counts,
                                                           bool& comes_near,
                                                           RedactPass pass) const {
  thread_local JsonParser parser;
  std::optional<std::string> clean;
  const auto redact = [&](const Redactor& rules, const RedactionScope& scope,
                          RedactionTally& tally) {
    const Result<JsonValue> now = clean ? parser.parse(*clean) : Result<JsonValue>(root);
    std::optional<std::string> other =
        now ? rules.redact_json(*now, clean ? std::string_view(*clean) : json, scope, tally)
            : std::nullopt;
    if (other) {
      clean = std::move(other);
    }
  };
  comes_near = with_both(session_id, &counts, redact, pass);
  return clean;
}

std::optional<std::string> StoreRedaction::redact_entry(JsonValue entry, std::string_view line,
                                                        std::string_view session_id,
                                                        RedactionCounts& counts,
                                                        RedactPass pass) const {
  bool comes_near = false;
  std::optional<std::string> redacted =
      without_secrets(entry, line, session_id, counts, comes_near, pass);
  if (!comes_near) {
    return redacted;
  }
  return redacted ? with_mark(*redacted, kSensitiveField) : with_mark(entry, line, kSensitiveField);
}

std::string StoreRedaction::redact_object(const std::string& json, std::string_view session_id,
                                          RedactionCounts& counts) const {
  thread_local JsonParser parser;
  bool comes_near = false;
  const Result<JsonValue> root = parser.parse(json);
  return root ? without_secrets(*root, json, session_id, counts, comes_near).value_or(json) : json;
}

std::string StoreRedaction::redact_text(std::string_view text, std::string_view session_id,
                                        RedactionCounts* counts) const {
  std::string rest(text);
  with_both(session_id, counts,
            [&](const Redactor& rules, const RedactionScope& scope, RedactionTally& tally) {
              if (std::optional<std::string> other = rules.redact(rest, scope, tally)) {
                rest = *std::move(other);
              }
            });
  return rest;
}

SecretScanner StoreRedaction::scanner() const { return SecretScanner(redactor_, memory_->of({})); }

std::uint64_t StoreRedaction::judged_count() const { return memory_->count(); }

void StoreRedaction::judge_for_all() { memory_->hold_for_all(); }

bool StoreRedaction::has_secret(std::string_view text) const {
  return has_action(redactor_->find(text, memory_->of({}).get()), DetectionAction::kSecret);
}

SecretScanner::SecretScanner() {
  static const auto kDefault = std::make_shared<const Redactor>(Redactor::make({}).value());
  redactor_ = kDefault;
}
SecretScanner::SecretScanner(std::shared_ptr<const Redactor> redactor,
                             std::shared_ptr<const JudgedValues> judged)
    : redactor_(std::move(redactor)), judged_(std::move(judged)) {
  assert(redactor_ != nullptr);
}

std::vector<SecretPlace> SecretScanner::find(std::string_view text) const {
  return places_of(*redactor_, text, redactor_->find(text, judged_.get()));
}

std::vector<SecretPlace> SecretScanner::find_in_file(std::string_view text,
                                                     std::string_view path) const {
  Detections found = redactor_->find(text, judged_.get());
  if (redactor_->rules() != nullptr) {
    redactor_->rules()->leave_allowed(text, found, 0, path);
  }
  leave_marked(text, found);
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
    return path_error(ErrorCode::E_STORAGE_IO, path, "is no regular file");
  }
  BMAD_TRY_ASSIGN(const std::shared_ptr<const RuleSet> rules, std::move(loaded));
  RulesTrial trial{.rules = rules->try_rules(text), .warnings = rules->problems()};
  std::ranges::copy(rules->notes(), std::back_inserter(trial.warnings));
  return trial;
}

std::string allow_item(std::string_view text) { return "text=" + content_digest(text); }

std::vector<SecretRuleInfo> secret_rule_list() {
  std::vector<SecretRuleInfo> list = mapped(secret_rules(), info_of);
  std::ranges::transform(rules_without_pattern(), std::back_inserter(list), info_of);
  return list;
}

}  // namespace bmad_mem
