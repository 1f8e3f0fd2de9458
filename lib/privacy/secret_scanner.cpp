// secret_scanner.cpp - the redactor as others see it.
#include "bmad_mem/privacy.hpp"
#include "privacy/redactor.hpp"
#include "privacy/secret_rule.hpp"

namespace bmad_mem {
namespace {

constexpr SecretRuleInfo kOtherRules[] = {
    {.id = "private-key", .what = "PEM, SSH, PGP or PuTTY private key", .tier = "structure"},
    {.id = "jwt", .what = "JSON web token", .tier = "structure"},
    {.id = "url-credentials", .what = "password in an address", .tier = "structure"},
    {.id = "signed-url", .what = "signature of an address", .tier = "structure"},
    {.id = "authorization", .what = "credentials of an HTTP header", .tier = "structure"},
    {.id = "cookie", .what = "cookie", .tier = "structure"},
    {.id = "password-hash", .what = "hash of a password", .tier = "structure"},
    {.id = "netrc", .what = "password of .netrc", .tier = "structure"},
    {.id = "pgpass", .what = "password of .pgpass", .tier = "structure"},
    {.id = "docker-auth", .what = "credentials of a registry in config.json", .tier = "structure"},
    {.id = "pypirc", .what = "password of .pypirc", .tier = "structure"},
    {.id = "npmrc", .what = "token of .npmrc", .tier = "structure"},
    {.id = "password", .what = "password by its name", .tier = "context"},
    {.id = "api-key", .what = "API key by its name", .tier = "context"},
    {.id = "token", .what = "token by its name", .tier = "context"},
    {.id = "secret", .what = "secret by its name", .tier = "context"},
    {.id = "credential", .what = "credential by its name", .tier = "context"},
    {.id = "connection-string", .what = "connection string with a password", .tier = "context"},
    {.id = "generic-secret", .what = "random value by its name", .tier = "context"},
    {.id = "email", .what = "e-mail address", .tier = "personal"},
    {.id = "phone", .what = "telephone number", .tier = "personal"},
    {.id = "iban", .what = "bank account (IBAN)", .tier = "personal"},
    {.id = "card", .what = "number of a payment card", .tier = "personal"},
    {.id = "ip", .what = "public IP address", .tier = "personal"},
    {.id = "national-id", .what = "number of social security, tax or identity", .tier = "personal"},
};

std::string_view what_of(std::string_view rule) {
  for (const SecretRule& each : secret_rules()) {
    if (each.id == rule) {
      return each.what;
    }
  }
  for (const SecretRuleInfo& each : kOtherRules) {
    if (each.id == rule) {
      return each.what;
    }
  }
  return "pattern of config.json";
}

std::shared_ptr<const Redactor> default_redactor() {
  static const std::shared_ptr<const Redactor> kRedactor =
      std::make_shared<Redactor>(std::move(Redactor::make({}).value()));
  return kRedactor;
}

}  // namespace

SecretScanner::SecretScanner() : redactor_(default_redactor()) {}
SecretScanner::SecretScanner(std::shared_ptr<const Redactor> redactor)
    : redactor_(std::move(redactor)) {}

std::vector<SecretPlace> SecretScanner::find(std::string_view text) const {
  std::vector<SecretPlace> places;
  for (const Detection& each : redactor_->find(text)) {
    places.push_back({.begin = each.begin,
                      .end = each.end,
                      .rule = std::string(each.rule),
                      .what = std::string(what_of(each.rule)),
                      .is_certain = each.certainty == Certainty::kSecret});
  }
  return places;
}

std::string SecretScanner::redact(std::string_view text) const {
  RedactionTally tally;
  const RedactionScope scope{.key = random_redaction_key()};
  return redactor_->redact(text, scope, tally).value_or(std::string(text));
}

std::vector<SecretRuleInfo> secret_rule_list() {
  std::vector<SecretRuleInfo> list;
  for (const SecretRule& each : secret_rules()) {
    list.push_back({.id = each.id,
                    .what = each.what,
                    .tier = each.kind == RuleKind::kToken ? "token" : "assigned",
                    .keywords = each.keywords,
                    .pattern = each.pattern});
  }
  list.insert(list.end(), std::begin(kOtherRules), std::end(kOtherRules));
  return list;
}

}  // namespace bmad_mem
