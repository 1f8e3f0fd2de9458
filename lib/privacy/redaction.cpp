#include "privacy/redaction.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "model/entry_marks.hpp"
#include "replacement.hpp"
#include "rule_file.hpp"
#include "rule_set.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

Result<std::optional<RedactionKey>> load_key(FileSystem& files) {
  RedactionKey key;
  const Result<std::string> bytes = read_file(files, kRedactionKeyFile, key.size());
  if (!bytes && !is_not_found(bytes.error())) {
    return bytes.error();
  }
  if (!bytes || bytes->size() != key.size()) {
    return std::optional<RedactionKey>();
  }
  std::ranges::copy(*bytes, key.begin());
  return std::optional(key);
}

/// The same, made when there is none. The caller holds the root's lock.
Result<RedactionKey> made_key(const Store& store) {
  BMAD_TRY_ASSIGN(std::optional<RedactionKey> key, load_key(*store.files));
  if (!key) {
    key = random_hash_key();
    // It must not come into the repository: who has it can test guesses.
    BMAD_TRY(ensure_ignored(*store.files, fmt::format("/{}", kRedactionKeyFile)));
    BMAD_TRY(replace_file(*store.files, kRedactionKeyFile, std::string(key->begin(), key->end())));
  }
  return *key;
}

/// The key of the store, made when there is none.
Result<RedactionKey> kept_key(const Store& store) {
  BMAD_TRY_ASSIGN(std::optional<RedactionKey> key, load_key(*store.files));
  if (key) {
    return *key;
  }
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_root("redaction key"));
  return made_key(store);
}

}  // namespace

Result<std::string> hidden_id(const Store& store, std::string_view id, bool makes_key) {
  BMAD_TRY_ASSIGN(std::optional<RedactionKey> key, load_key(*store.files));
  if (!key && !makes_key) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = "there is no key",
                 .path = store.files->display_path(kRedactionKeyFile)};
  }
  if (!key) {
    BMAD_TRY_ASSIGN(key, made_key(store));
  }
  return std::string(kHiddenIdPrefix) + keyed_hash(id, *key);
}

std::vector<std::string> trusted_switches(const Store& store) {
  const PrivacyConfig& config = store.config.privacy;
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

Result<std::unique_ptr<StoreRedaction>> StoreRedaction::make(const Store& store, KeyUse key_use) {
  const PrivacyConfig& config = store.config.privacy;
  Result<std::shared_ptr<const RuleSet>> rules =
      RuleSet::load({.project = store.workspace.folder,
                     .files = config.rules_files,
                     .allowed = config.allow,
                     .is_foreign = store.origins->is_foreign(),
                     .is_trusted = [&] { return store.origins->trusts(store.config); }});
  Result<Redactor> redactor = rules ? Redactor::make(config.redaction, *std::move(rules))
                                    : Result<Redactor>(std::move(rules).error());
  if (!redactor) {
    Error error = std::move(redactor).error();
    error.path = store.files->display_path(kConfigFile);
    return error;
  }
  RedactionKey key;
  const bool is_kept = key_use == KeyUse::kKept || (key_use == KeyUse::kAsConfigured &&
                                                    store.config.privacy.redaction.linkable);
  if (is_kept) {
    BMAD_TRY_ASSIGN(key, kept_key(store));
  } else {
    key = random_hash_key();
  }
  return std::unique_ptr<StoreRedaction>(new StoreRedaction(std::move(*redactor), key));
}

Result<std::unique_ptr<StoreRedaction>> StoreRedaction::make(const Store& store, KeyUse key_use,
                                                             const std::string& hub_policy) {
  BMAD_TRY_ASSIGN(std::unique_ptr<StoreRedaction> made, make(store, key_use));
  if (!hub_policy.empty()) {
    BMAD_TRY_ASSIGN(
        std::shared_ptr<const RuleSet> rules,
        RuleSet::load({.project = {}, .files = {}, .allowed = {}, .policy = hub_policy}));
    if (!rules->problems().empty()) {  // A rule that is passed over would let secrets out.
      return rules->problems().front();
    }
    BMAD_TRY_ASSIGN(made->policy_,
                    Redactor::make(store.config.privacy.redaction, std::move(rules)));
  }
  return made;
}

Result<std::string> load_hub_policy(const Store& store) {
  Result<std::string> policy = read_file(*store.files, kHubPolicyFile, kRuleFileSizeMax);
  return !policy && is_not_found(policy.error()) ? std::string() : std::move(policy);
}

/// What of `root` stays when both sets of rules are through.
std::optional<std::string> StoreRedaction::without_secrets(JsonValue root, std::string_view json,
                                                           std::string_view session_id,
                                                           RedactionTally& tally) const {
  const RedactionScope scope{.key = key_, .session_id = session_id};
  std::optional<std::string> first =
      policy_ ? policy_->redact_json(root, json, scope, tally) : std::nullopt;
  if (!first) {
    return redactor_->redact_json(root, json, scope, tally);
  }
  thread_local JsonParser parser;
  const Result<JsonValue> rest = parser.parse(*first);
  std::optional<std::string> both =
      rest ? redactor_->redact_json(*rest, *first, scope, tally) : std::nullopt;
  return both ? both : first;
}

std::optional<std::string> StoreRedaction::redact_entry(JsonValue entry, std::string_view line,
                                                        std::string_view session_id,
                                                        RedactionCounts& counts) const {
  RedactionTally tally{.by_rule = std::move(counts)};
  std::optional<std::string> redacted = without_secrets(entry, line, session_id, tally);
  counts = std::move(tally.by_rule);
  if (!tally.comes_near) {
    return redacted;
  }
  return redacted ? with_mark(*redacted, kSensitiveField) : with_mark(entry, line, kSensitiveField);
}

std::string StoreRedaction::redact_object(const std::string& json, std::string_view session_id,
                                          RedactionCounts& counts) const {
  thread_local JsonParser parser;
  const Result<JsonValue> root = parser.parse(json);
  if (!root) {
    return json;
  }
  RedactionTally tally{.by_rule = std::move(counts)};
  std::optional<std::string> redacted = without_secrets(*root, json, session_id, tally);
  counts = std::move(tally.by_rule);
  return redacted.value_or(json);
}

std::string StoreRedaction::redact_text(std::string_view text, std::string_view session_id,
                                        RedactionCounts* counts) const {
  RedactionTally tally{.by_rule = counts == nullptr ? RedactionCounts() : std::move(*counts)};
  const RedactionScope scope{.key = key_, .session_id = session_id};
  std::optional<std::string> first = policy_ ? policy_->redact(text, scope, tally) : std::nullopt;
  std::string rest = std::move(first).value_or(std::string(text));
  std::optional<std::string> redacted = redactor_->redact(rest, scope, tally);
  if (counts != nullptr) {
    *counts = std::move(tally.by_rule);
  }
  return std::move(redacted).value_or(std::move(rest));
}

bool StoreRedaction::has_secret(std::string_view text) const {
  return std::ranges::any_of(redactor_->find(text), [](const Detection& each) {
    return each.action == DetectionAction::kSecret;
  });
}

}  // namespace bmad_mem
